"""podman and docker: the agent sees an image or a root folder, read-only, and its own folders.

podman is started with the same walls, rooms and gate as bubblewrap. docker's containers belong to its daemon: their
processes are held to the limits that docker itself enforces, and ended through it.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from orvl.errors import NotStarted
from orvl.sandbox import AGENT, Backend
from orvl.sandbox.bubblewrap import HOME, RUNTIME, SHARED_MEMORY, TMP, WORKSPACE, make_place
from orvl.sandbox.config import ETC, HOST_WIDE
from orvl.sandbox.guard_client import GuardClient, Spawn, installed
from orvl.sandbox.programs import search_path
from orvl.sandbox.seccomp import container_profile
from orvl.sandbox.version import MOST_PRINTED, printed_version, run_bounded
from orvl.sandbox.workdir import View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.sandbox import Job, ResourceLimits
    from orvl.sandbox.config import SandboxConfig
    from orvl.sandbox.version import NoVersion
    from orvl.sandbox.workdir import RunFolders
    from orvl.types import Agent

OWNER = "orvl.owner"
BEGIN = 'read -r _; stdin=$1; shift; "$@" <"$stdin"'
STDIN = "/.stdin"
SECONDS = 60
NEEDED_BY_CLIENT = ("HOME", "PATH", "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
NOBODYS = 2_000_000_000
SHOWN = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "srv")


@dataclass(frozen=True)
class Source:
    """What containers are made from: an image's name, or a root folder; `work` is a folder of orvl's own."""

    engine: str
    image: str
    work: Path

    @property
    def folder(self) -> Path | None:
        """The root folder, if it is one."""
        path = Path(self.image).expanduser()
        return path.resolve() if self.engine == "podman" and path.is_dir() else None

    def words(self, command: Sequence[str]) -> list[str]:
        """The arguments that name the source and the command in it."""
        if self.folder is None:
            return ["--entrypoint", command[0], self.image, *command[1:]]
        root = skeleton(self.folder, self.work)
        mounts = []
        for path in (*(self.folder / name for name in SHOWN), *(self.folder / "var").glob("*")):
            if path.is_dir() and not path.is_symlink() and path.name != "tmp" and _is_filled(path):
                mounts += _mount(path, Path("/", path.relative_to(self.folder)), "readonly")
        return [*mounts, "--rootfs", f"{root}:O", *command]


def skeleton(folder: Path, work: Path) -> Path:
    """A root of this user's own for a root folder of anybody's: its links, a copy of its /etc, and places for mounts.

    So nothing is ever written into the root folder, and an ordinary user can use one that belongs to root.
    """
    root = work / "root"
    if root.is_dir():
        return root
    half = Path(tempfile.mkdtemp(dir=work))
    for name in SHOWN:
        if (folder / name).is_symlink():
            (half / name).symlink_to(os.readlink(folder / name))
    with suppress(shutil.Error):
        shutil.copytree(folder / "etc", half / "etc", symlinks=True, copy_function=_copy_if_allowed)
    (half / "etc").mkdir(exist_ok=True)
    for name, text in ETC.items():
        (half / "etc" / name).unlink(missing_ok=True)
        (half / "etc" / name).write_text(text, encoding="ascii")
    half.chmod(0o755)
    with suppress(OSError):
        half.rename(root)
    return root


def _is_filled(folder: Path) -> bool:
    try:
        return next(folder.iterdir(), None) is not None
    except OSError:
        return False


def _copy_if_allowed(source: str, target: str) -> None:
    """What only root may read, as the passwords of a root folder, is not needed."""
    with suppress(PermissionError):
        shutil.copy(source, target)


class Container(GuardClient):
    """A container for each process; `name` is the program that makes it."""

    has_own_programs = True

    def __init__(self, engine: str, config: SandboxConfig, lock_fd: int | None = None) -> None:
        super().__init__(lock_fd)
        self.name = engine
        self._config = config
        self._source = Source(engine, config.image or "", config.etc.parent)

    def view(self, folders: RunFolders) -> View:
        return View(folders.inside or WORKSPACE, HOME, TMP, None)

    async def prepare(self, job: Job) -> None:
        """Looks the program up in the image first: a container that cannot begin tells little."""
        name = job.argv[0]
        if job.ports and self.name == "docker":
            raise NotStarted("docker has no way to the gateway and to registries; use --sandbox podman", missing=True)
        if "/" not in name or name.startswith("/"):
            await asyncio.to_thread(self._look_up, name)
        await asyncio.to_thread(self._lay_out, job)

    def _lay_out(self, job: Job) -> None:
        """Places for what is shown in the run's own folders; and root's folders are given to whom they are for."""
        job.folders.mend()
        job.folders.make_shown(job.folders.inside or WORKSPACE)
        for path in (*self._config.paths, *job.readable):
            make_place(path, job.folders)
        for name in job.read_only:
            job.folders.make_place(job.folders.workspace, PurePath(name), folder=True)
        if os.geteuid() == 0 and self.name == "podman":
            _give_away(job.folders, job.user)

    def _look_up(self, name: str) -> str:
        found = looked_up(self._source, name)
        if found is None:
            raise NotStarted(f"'{name}' is not installed in {self._source.image}", missing=True)
        return found

    def spawn(self, job: Job) -> Spawn:
        named = f"orvl-{secrets.token_hex(8)}"
        pid_file = job.output.with_suffix(".pid")
        name = job.argv[0]
        program = name if "/" in name else self._look_up(name)
        workspace = job.folders.inside or WORKSPACE
        words = [*walls(self._source, job.limits, job.user, workspace), "--rm", "--interactive", "--name", named]
        words += ["--label", f"{OWNER}={self._config.etc.parent}", *self._rooms(job), *_environment(job.env)]
        if self.name == "podman":
            words += ["--pidfile", str(pid_file)]
            command = ["/bin/sh", "-c", BEGIN, "sh", STDIN if job.stdin else "/dev/null", program, *job.argv[1:]]
        else:
            command = [program, *job.argv[1:]]
        argv = [*client(self.name), "run", *words, *self._source.words(command)]
        gate = {"pid_file": str(pid_file)} if self.name == "podman" else None
        clean = [*client(self.name), "rm", "--force", *(["--time", "0"] if self.name == "podman" else []), named]
        return Spawn(_program(self.name), argv, _client_environment() | _by_name(job.env), gate, clean)

    def _rooms(self, job: Job) -> list[str]:
        folders = job.folders
        workspace = folders.inside or WORKSPACE
        bound = {HOME: folders.home, TMP: folders.tmp, **folders.make_shown(workspace)}
        words = [word for inside, outside in bound.items() for word in _mount(outside, inside)]
        for name in ("passwd", "group", "hosts", "resolv.conf"):
            words += _mount(self._config.etc / name, Path("/etc", name), "readonly")
        for path in sorted({*self._config.paths, *job.readable}):
            words += _mount(path, path, "readonly")
        for name, source in job.read_only.items():
            words += _mount(source, workspace / name, "readonly")
        for name, source in job.at.items():
            words += _mount(source, Path(name), "readonly")
        if job.stdin and self.name == "podman":
            words += _mount(job.stdin, Path(STDIN), "readonly")
        return words


def _mount(source: Path, target: Path, *more: str) -> list[str]:
    """A bind mount; the long form, because a path may hold a colon."""
    return ["--mount", ",".join((f"type=bind,source={source},target={target}", *more))]


def walls(source: Source, limits: ResourceLimits | None, user: str = AGENT, workspace: Path = WORKSPACE) -> list[str]:
    """No network, no capabilities, no way to new ones, a read-only root, and the kernel's limits."""
    words = ["--network", "none", "--read-only", "--cap-drop", "all", "--hostname", "sandbox"]
    words += ["--security-opt", "no-new-privileges", "--security-opt", f"seccomp={seccomp(source.work)}"]
    words += ["--user", f"{user}:{user}", "--workdir", str(workspace) if limits else "/"]
    words += ["--shm-size", str(SHARED_MEMORY), "--tmpfs", f"/run:size={RUNTIME},mode=755", "--ulimit", "core=0:0"]
    if source.engine == "podman":
        words += ["--log-driver", "none", "--http-proxy=false", "--read-only-tmpfs=false", *_user_namespace(user)]
        words += ["--security-opt", "label=disable"]
        words += ["--security-opt", "mask=" + ":".join(f"/proc/{name}" for name in HOST_WIDE)]
    kernel = {"nofile": limits.open_files, "nproc": limits.processes, "fsize": limits.file_size} if limits else {}
    for name, value in (kernel or {"nofile": 1024, "nproc": 1024}).items():
        words += ["--ulimit", f"{name}={value}:{value}"]
    if source.engine == "docker" and limits:
        words += ["--memory", str(limits.memory), "--pids-limit", str(limits.processes), "--log-driver", "none"]
    return words


def _user_namespace(user: str) -> list[str]:
    """The agent is an ordinary user inside; outside it is this user, or for root somebody who owns nothing else."""
    if os.geteuid():
        return ["--userns", f"keep-id:uid={user},gid={user}"]
    return ["--uidmap", f"0:{NOBODYS}:65536", "--gidmap", f"0:{NOBODYS}:65536"]


def _give_away(folders: RunFolders, user: str) -> None:
    """Root's containers run as somebody else, to whom a run's folders then belong."""
    owner = str(NOBODYS + int(user))
    rooms = [str(room) for room in (folders.workspace, folders.home, folders.tmp)]
    subprocess.run(["chown", "-R", "-h", f"{owner}:{owner}", "--", *rooms], check=False, capture_output=True)


def _environment(env: Mapping[str, str]) -> list[str]:
    words = []
    for name, value in env.items():
        words += ["--env", f"{name}={value}" if name in NEEDED_BY_CLIENT else name]
    return words


def _by_name(env: Mapping[str, str]) -> dict[str, str]:
    """What the client takes from its own environment, so that no value stands in a command line."""
    return {name: value for name, value in env.items() if name not in NEEDED_BY_CLIENT}


def _client_environment() -> dict[str, str]:
    also = ("DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF")
    return {name: os.environ[name] for name in (*NEEDED_BY_CLIENT, *also) if name in os.environ}


def seccomp(folder: Path) -> Path:
    """The list of refused system calls, as a file."""
    profile = folder / "seccomp.json"
    if not profile.exists():
        profile.write_text(json.dumps(container_profile()))
    return profile


@lru_cache(maxsize=256)
def looked_up(source: Source, name: str) -> str | None:
    """Where a program lies in an image; None if it is not there."""
    done = once(source, ["/bin/sh", "-c", 'command -v "$1"', "sh", name])
    return done.stdout.decode("utf-8", "replace").strip() or None


def once(source: Source, command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """Runs a command in a container of its own, outside any run."""
    program, *words = [_program(source.engine), *client(source.engine)[1:]]
    named = f"orvl-{secrets.token_hex(8)}"
    ran = [program, *words, "run", "--rm", "--name", named, *walls(source, None), *source.words(command)]
    done = None
    try:
        done = run_bounded(ran, env=_client_environment())
        return done
    finally:
        if done is None or len(done.stdout) + len(done.stderr) >= MOST_PRINTED:
            # The client was killed, and its container goes on.
            gone = [program, *words, "rm", "--force", named]
            subprocess.run(gone, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)


@lru_cache(maxsize=2)
def client(engine: str) -> tuple[str, ...]:
    """The client, with the runtime that works where control groups are of the old kind."""
    if engine == "docker":
        return (engine,)
    old = not os.path.exists("/sys/fs/cgroup/cgroup.controllers") and shutil.which("runc")
    return (engine, "--log-level=fatal", *(("--runtime", "runc") if old else ()))


def _program(engine: str) -> str:
    return installed(engine, search_path())


# -- whether it works here


@dataclass(frozen=True)
class ContainerBackend(Backend):
    """podman or docker; their programs come from an image."""

    engine: str
    has_own_programs = True

    def problem(self, image: str | None) -> str | None:
        return engine_problem(self.engine) or _image_problem(self.engine, image)

    def problem_without_image(self) -> str | None:
        return engine_problem(self.engine)

    def open(self, config: SandboxConfig, lock_fd: int | None) -> Container:
        return Container(self.engine, config, lock_fd)

    def agent_version(self, agent: Agent, image: str) -> str | NoVersion:
        def run(argv: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
            with tempfile.TemporaryDirectory() as folder:
                source = Source(self.engine, image, Path(folder))
                if looked_up(source, argv[0]) is None:
                    raise FileNotFoundError
                return once(source, ["/usr/bin/env", *argv])

        return printed_version(agent.version, run)

    def sweep(self, is_alive: Callable[[Path], bool]) -> None:
        sweep(self.engine, is_alive)


def backend(name: str) -> ContainerBackend:
    return ContainerBackend(name)


def engine_problem(engine: str) -> str | None:
    """Why podman or docker itself does not work."""
    if shutil.which(engine) is None:
        return f"{engine} is not installed: apt install {'podman' if engine == 'podman' else 'docker.io'}."
    done = _asked(engine, "info")
    if not done.returncode:
        return None
    fix = "sudo systemctl start docker" if engine == "docker" else "podman system migrate"
    return f"{engine} does not answer ({_said(done)}): {fix}."


def _image_problem(engine: str, image: str | None) -> str | None:
    if image is None:
        return (
            f"--sandbox {engine} needs an image or a root folder: add --image NAME, "
            "or set it in orvl.toml under [sandbox]."
        )
    if image.startswith(("/", "./", "../", "~")):
        if not Path(image).expanduser().is_dir():
            return f"The root folder {image} is not there: sudo debootstrap --variant=minbase stable {image}."
        if engine == "docker":
            return f"docker cannot use a root folder: tar -C {image} -c . | docker import - NAME, then --image NAME."
    elif _asked(engine, "image", "inspect", image).returncode:
        return f"The image {image} is not there: {engine} pull {image}."
    with tempfile.TemporaryDirectory() as folder:
        done = once(Source(engine, image, Path(folder)), ["/bin/sh", "-c", "exit 0"])
    return f"{engine} cannot start a container from {image} ({_said(done)})." if done.returncode else None


def _asked(engine: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run([*client(engine), *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess([], 1, b"", str(error).encode())


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("Error: ")[:300] if lines else f"status {done.returncode}"


def sweep(engine: str, is_alive: Callable[[Path], bool]) -> None:
    """Removes the containers of orvl processes that are gone, told by their owner's folder."""
    form = (
        "{{.ID}} {{.Label " + f'"{OWNER}"' + "}}"
        if engine == "docker"
        else "{{.ID}} {{index .Labels " + f'"{OWNER}"' + "}}"
    )
    words = [*client(engine), "ps", "--all", "--filter", f"label={OWNER}", "--format", form]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False)
    for line in done.stdout.splitlines():
        number, _, owner = line.partition(" ")
        if owner and not is_alive(Path(owner)):
            gone = [*client(engine), "rm", "--force", "--volumes", number]
            subprocess.run(gone, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)

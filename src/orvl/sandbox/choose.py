"""Which sandboxes work here, why the others do not, and what fixes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.sandbox.bubblewrap import NAMESPACES, Bubblewrap, system_folders
from orvl.sandbox.container import Container, Source, client, once
from orvl.sandbox.process import BareProcess

if TYPE_CHECKING:
    from orvl.sandbox import Sandbox
    from orvl.sandbox.kinds import Kind
    from orvl.sandbox.surroundings import Surroundings
    from orvl.types import Agent

WITHOUT = "To run agents without a sandbox, ask for it by name: --sandbox none."
SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


class Slot:
    """The sandboxes of one worker: walls for agents and checks, none for orvl's own controls."""

    def __init__(self, kind: Kind, around: Surroundings, lock_fd: int | None) -> None:
        self.bare = BareProcess(lock_fd, "none" if kind == "none" else "control")
        self.walled: Sandbox = sandbox_of(kind, around, lock_fd) if kind != "none" else self.bare

    def of(self, agent: Agent) -> Sandbox:
        return self.bare if is_trusted(agent) else self.walled

    def stop(self) -> None:
        for sandbox in {self.bare, self.walled}:
            sandbox.stop()

    async def close(self) -> None:
        for sandbox in {self.bare, self.walled}:
            await sandbox.close()


def is_trusted(agent: Agent) -> bool:
    """A built-in control only lays down files that are the user's own."""
    return agent.control is not None and agent.origin == "built-in"


def sandbox_of(kind: Kind, around: Surroundings, lock_fd: int | None) -> Sandbox:
    return Bubblewrap(around, lock_fd) if kind == "bubblewrap" else Container(kind, around, lock_fd)


def chosen(asked: Kind | None, image: str | None, *, untrusted: bool) -> Kind:
    """The sandbox that was asked for, or bubblewrap; one that does not work is refused before anything runs.

    Without walls goes only what was asked for without them, and orvl's own controls where there are none.
    """
    kind = asked or "bubblewrap"
    why = trouble(kind, image)
    if why is None:
        return kind
    if asked is None and not untrusted:
        return "none"
    raise UserError(f"{why} {WITHOUT}" if kind == "bubblewrap" else why)


def trouble(kind: Kind, image: str | None = None) -> str | None:
    """Why a kind of sandbox does not work here, in one sentence with the command that fixes it; None if it works."""
    if kind == "bubblewrap":
        return bubblewrap_trouble(os.environ.get("PATH", os.defpath))
    return None if kind == "none" else engine_trouble(kind) or _image_trouble(kind, image)


@lru_cache(maxsize=4)
def bubblewrap_trouble(search: str) -> str | None:
    program = shutil.which("bwrap", path=search)
    if program is None:
        return "bubblewrap, in which agents run, is not installed: apt install bubblewrap (or dnf, pacman, zypper)."
    command = [program, *NAMESPACES, *system_folders(), "--proc", "/proc", "--dev", "/dev", "--", "/bin/true"]
    try:
        done = subprocess.run(command, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here ({error}): apt install --reinstall bubblewrap."
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return _explained(program, said[-1] if said else f"status {done.returncode}") if done.returncode else None


def _explained(program: str, said: str) -> str:
    if re.search(r"unknown option", said, re.IGNORECASE):
        return f"{program} is too old ({said}): orvl needs bubblewrap 0.8 or newer; apt install bubblewrap."
    if re.search(r"namespace|uid map|permission|permitted|clone|unshare|No space left", said, re.IGNORECASE):
        for path, bad, fix in SWITCHES:
            if _content(path) == bad:
                return f"This machine forbids user namespaces, which bubblewrap needs ({said}): sudo {fix}."
        return (
            f"bubblewrap may not make namespaces here ({said}); in a container, start it with "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined."
        )
    return f"bubblewrap does not work here ({said}): apt install --reinstall bubblewrap."


def _content(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def engine_trouble(engine: str) -> str | None:
    """Why podman or docker itself does not work."""
    if shutil.which(engine) is None:
        return f"{engine} is not installed: apt install {'podman' if engine == 'podman' else 'docker.io'}."
    done = _asked(engine, "info")
    if not done.returncode:
        return None
    fix = "sudo systemctl start docker" if engine == "docker" else "podman system migrate"
    return f"{engine} does not answer ({_said(done)}): {fix}."


def _image_trouble(engine: str, image: str | None) -> str | None:
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

"""A Harbor task → an eval: a prompt a step, its files as workspace, verifiers as checks, the solution as a control."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import TaskRefused
from orvl.project.control_scripts import SCRIPT
from orvl.project.places import SETUP, SOLUTION, TESTS, kept_at, wrong_place, wrong_places
from orvl.project.tasks.build_script import SCRIPT as BUILD
from orvl.project.tasks.build_script import STAND_INS, BuildScript
from orvl.project.tasks.commands import UV_HOSTS, Wanted, hosts_in, wanted_by
from orvl.project.tasks.draft import eval_name, without_canary
from orvl.project.tasks.folder import copy_file, copy_tree, files_in, text_of
from orvl.project.tasks.harbor_config import harbor_config
from orvl.project.tasks.image import ABSOLUTE, HARMLESS, NO_TOOLCHAIN, TEMPORARY, image_of
from orvl.project.tasks.machine import check_packages, check_toolchain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from orvl.project.tasks.draft import Draft
    from orvl.project.tasks.harbor_config import HarborConfig, HarborStep
    from orvl.project.tasks.image import TaskImage
    from orvl.project.tasks.machine import Machine

FROM = "harbor"
COMPOSED = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml", "singularity-compose.yaml")
USUAL = frozenset(
    (
        *("app", "build", "code", "data", "git", "input", "inputs", "mnt", "output", "outputs", "project", "repo"),
        *("result", "results", "root", "shared", "srv", "src", "storage", "submission", "testbed", "var", "work"),
        "workspace",
    )
)
"""Folders at the top that tasks ask for by their names; a path such as /users is rather one of a web service."""
NOT_FOR_AGENTS = re.compile(r"(?<![\w.~/-])/(?:etc|opt|usr/local|usr/sbin|boot)/[\w.-]+")
HOME = re.compile(r"(?<![\w/])~/\.?\w|\$\{?HOME\}?/")
IN_TEMPORARY = re.compile(r"(?<![\w./-])/tmp/\w")
SCRIPTS = (".sh", ".bash")
LONGEST_SCANNED, LONGEST_DESCRIPTION = 1 << 20, 200
BASH = re.compile(r"#!\s*(?:/usr)?(?:/local)?/bin/(?:env\s+)?(?:bash|sh)\b")


def draft_harbor(draft: Draft, machine: Machine) -> str:
    """Makes an eval of the task that was copied into a draft; gives its name."""
    return _Harbor(draft, machine).made()


@dataclass
class _Verifier:
    """A verifier's script, and what has to be there for it."""

    folder: str
    run: str
    wanted: Wanted


class _Harbor:
    def __init__(self, draft: Draft, machine: Machine) -> None:
        self.draft, self.machine = draft, machine
        self.config: HarborConfig = harbor_config(draft.source)
        self.draft.notes += self.config.notes
        self._canary = ""

    def made(self) -> str:
        draft, config = self.draft, self.config
        prompts = self._prompts()
        image = self._image()
        workdir, places = self._places(image, prompts)
        verifiers = [self._verifier(number, step) for number, step in enumerate(config.steps, 1)]
        script = self._build_script(image, verifiers, workdir, places)
        network = "registries" if config.has_network else "setup" if script.needs_registries else None
        limits = self._limits()
        head = {
            "description": " ".join(config.description.split())[:LONGEST_DESCRIPTION],
            "imported": self._mark(),
            "canary": self._canary,
            "workdir": workdir,
            "places": places,
            "env": self._env(image, script),
            "setup": f"sh {SETUP}/{BUILD}" if script.is_needed else None,
            "network": network,
            "limits": limits,
            "checks": [self._check(number, verifier, script) for number, verifier in enumerate(verifiers, 1)],
        }
        draft.head = {name: value for name, value in head.items() if value}
        draft.prompts = prompts
        for name, text in script.files().items() if script.is_needed else ():
            draft.put(f"setup/{name}", text, executable=True)
        self._controls(has_stand_ins=bool(script.stand_ins))
        self._note_missing()
        return eval_name(config.name or draft.root.name)

    # -- the conversation

    def _prompts(self) -> list[str]:
        prompts = []
        for step in self.config.steps:
            prompt, mark = without_canary(text_of(self.draft.source, f"{step.folder}instruction.md"))
            self._canary = self._canary or mark
            self._refuse_wishes(prompt)
            prompts.append(prompt)
        return prompts

    def _refuse_wishes(self, prompt: str) -> None:
        """What an instruction asks for must be where a verifier finds it: in a folder of the run's."""
        for path in NOT_FOR_AGENTS.findall(prompt):
            if not HARMLESS.match(path):
                raise TaskRefused(f"it asks for {path[:80]}, which is the system's and cannot be written here")
        if match := HOME.search(prompt):
            raise TaskRefused(f"it asks for files in the home folder ({match[0]}…), which its verifier would not find")
        if match := IN_TEMPORARY.search(prompt):
            raise TaskRefused(f"it asks for files in {TEMPORARY} ({match[0]}…), which its verifier would not find")

    def _mark(self) -> dict[str, str]:
        return {"from": FROM, "task": (self.config.name or self.draft.root.name)[:LONGEST_DESCRIPTION]}

    # -- what it starts from

    def _image(self) -> TaskImage:
        environment = self.draft.source / "environment"
        if composed := next((name for name in COMPOSED if (environment / name).exists()), None):
            raise TaskRefused(f"it is made of several services (environment/{composed})")
        if not (environment / "Dockerfile").is_file():
            raise TaskRefused("it has no environment/Dockerfile, but an image that was built elsewhere")
        image = image_of(text_of(environment, "Dockerfile"), environment, self.machine.registries)
        if note := check_toolchain(self.machine, image.toolchain, image.version):
            self.draft.notes.append(note)
        check_packages(self.machine, image.wanted.debian)
        return image

    def _places(self, image: TaskImage, prompts: list[str]) -> tuple[str, list[str]]:
        """The working folder, and the other folders that the image, the instructions or the tests name."""
        workdir = self.config.workdir or image.workdir
        if workdir == "/":
            raise TaskRefused("it has no working folder (WORKDIR)")
        named = [copy.target.rpartition("/")[0] or "/" for copy in image.copies]
        if "/" in named:
            raise TaskRefused("its image has files of its own in /")
        named += image.paths
        for text in (*prompts, *self._texts("tests"), *self._texts("solution")):
            named += [path for path in ABSOLUTE.findall(text) if path.split("/")[1] in USUAL]
        places = sorted({place for path in named if (place := _top(path))} - {""})
        places = [place for place in places if not wrong_place(place) and not _is_in(place, workdir)]
        if why := wrong_places(workdir, places):
            raise TaskRefused(why.rstrip("."))
        self._lay_files(image, workdir)
        return workdir, places

    def _texts(self, part: str, endings: tuple[str, ...] = ("",)) -> Iterable[str]:
        """The texts of a part, of the task's own and of its steps."""
        source = self.draft.source
        folders = [source / part, *(source / f"{step.folder}{part}" for step in self.config.steps if step.name)]
        for folder in folders:
            for name in (name for name in files_in(folder) if name.endswith(endings)):
                data = (folder / name).read_bytes() if (folder / name).is_file() else b""
                if len(data) <= LONGEST_SCANNED and b"\0" not in data:
                    yield data.decode("utf-8", "replace")

    def _lay_files(self, image: TaskImage, workdir: str) -> None:
        """The image's files into the workspace; those for its building alone into the setup's own folder."""
        workspace = self.draft.folder / "workspace"
        for number, copy in enumerate(image.copies):
            if _is_in(copy.target, TEMPORARY):
                target = self.draft.folder / "setup" / self._setup_file(number, copy.target)
            elif _is_in(copy.target, workdir):
                target = workspace / copy.target[len(workdir) + 1 :]
            else:
                target = workspace / kept_at(copy.target)
            if copy.source is not None:
                copy_file(copy.source, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(copy.text, encoding="utf-8")
            if copy.mode is not None:
                target.chmod(0o755 if copy.mode & 0o100 else 0o644)

    @staticmethod
    def _setup_file(number: int, target: str) -> str:
        return f"files/{number}/{target.rpartition('/')[2]}"

    def _build_script(
        self, image: TaskImage, verifiers: list[_Verifier], workdir: str, places: list[str]
    ) -> BuildScript:
        wanted = [verifier.wanted for verifier in verifiers]
        python = [word for one in wanted for word in one.python]
        copies = {
            self._setup_file(number, copy.target): copy.target
            for number, copy in enumerate(image.copies)
            if _is_in(copy.target, TEMPORARY)
        }
        for run in image.runs:
            if not any(_is_in(run.folder, place) for place in (workdir, *places)) and run.folder != "/":
                raise TaskRefused(f"environment/Dockerfile:{run.line}: {run.folder} cannot be a folder of a run")
        has_venv = image.wanted.uses_pip or image.wanted.uses_uv or bool(python) or any(one.uses_pip for one in wanted)
        isolated = [word for one in wanted for word in one.isolated]
        return BuildScript(
            runs=image.runs,
            programs=[name for name in dict.fromkeys(image.wanted.debian) if self.machine.has_program(name)],
            copies=copies,
            has_venv=has_venv,
            sees_system_packages=image.base.rpartition("/")[2].startswith(NO_TOOLCHAIN),
            has_npm=image.wanted.uses_npm_globally,
            python=list(dict.fromkeys(python)),
            isolated=list(dict.fromkeys(isolated)),
            scripts="\n".join((*self._texts("tests", SCRIPTS), *self._texts("solution", SCRIPTS))),
        )

    def _env(self, image: TaskImage, script: BuildScript) -> dict[str, str]:
        if name := next((name for name, value in self.config.env.items() if "$" in value), None):
            raise TaskRefused(f"the value of {name} has a '$' in it")
        env = {**self.config.env, **image.env}
        path = [*script.path, env.get("PATH", "${PATH}")]
        return {**env, "PATH": ":".join(path)} if len(path) > 1 else env

    def _limits(self) -> dict[str, float]:
        steps = self.config.steps
        seconds = [step.agent_seconds for step in steps if step.agent_seconds]
        limits: dict[str, float | None] = {
            "turn": max(seconds, default=None),
            "run": sum(seconds) if len(seconds) == len(steps) else None,
            "memory": self.config.memory,
            "disk": self.config.storage,
        }
        return {name: value for name, value in limits.items() if value}

    # -- how it is looked at

    def _verifier(self, number: int, step: HarborStep) -> _Verifier:
        """A step's tests over those that all steps share, as Harbor lays them out."""
        source, folder = self.draft.source, f"step-{number}" if step.name else "verifier"
        target = self.draft.folder / "checks" / folder
        for part in dict.fromkeys((source / "tests", source / f"{step.folder}tests")):
            if part.is_dir():
                copy_tree(part, target)
        if not (target / "test.sh").is_file():
            raise TaskRefused(f"it has no {step.folder}tests/test.sh")
        if step.name and number > 1 and (source / f"{step.folder}workdir").exists():
            raise TaskRefused(f"the step '{step.name}' brings files of its own (workdir)")
        if step.name and number == 1 and (source / f"{step.folder}workdir").is_dir():
            self._lay_workdir(source / f"{step.folder}workdir", step)
        (target / "test.sh").chmod(0o755)
        text = text_of(target, "test.sh")
        run = f"bash {TESTS}/test.sh" if BASH.match(text) or not text.startswith("#!") else f"{TESTS}/test.sh"
        return _Verifier(folder, run, self._wanted_by_verifier(target))

    def _lay_workdir(self, folder: Path, step: HarborStep) -> None:
        """The files of the first step are there from the beginning."""
        if (folder / "setup.sh").exists():
            raise TaskRefused(f"the step '{step.name}' has a setup of its own")
        copy_tree(folder, self.draft.folder / "workspace")

    def _wanted_by_verifier(self, folder: Path) -> Wanted:
        """What a verifier's scripts install when they are run, which has to be there before: they have no network."""
        whole = Wanted()
        for name in (name for name in files_in(folder) if name.endswith(SCRIPTS)):
            text = text_of(folder, name)
            hosts = [host for host in hosts_in(text) if host not in self.machine.registries]
            if others := [host for host in hosts if host not in UV_HOSTS and not _is_here(host)]:
                raise TaskRefused(f"its verifier fetches from {others[0][:80]}, which no sandbox reaches")
            try:
                wanted = wanted_by(text)
            except TaskRefused as refused:
                raise TaskRefused(f"tests/{name}: {refused}") from refused
            whole.debian += wanted.debian
            whole.uses_pip |= wanted.uses_pip
            files = [word for file in wanted.requirements for word in ("-r", self._requirements(folder, file))]
            whole.isolated += wanted.isolated + (files if wanted.uses_uv else [])
            whole.python += wanted.python + ([] if wanted.uses_uv else files)
        check_packages(self.machine, whole.debian)
        return whole

    def _requirements(self, folder: Path, file: str) -> str:
        """A file of the tests' own that pip is to read; the setup gets a copy."""
        name = file.removeprefix(f"{TESTS}/")
        if name == file or name not in files_in(folder):
            raise TaskRefused(f"what its verifier installs by {file[:80]} cannot be told")
        copy_file(folder / name, self.draft.folder / "setup" / "verifier" / name)
        return f"{SETUP}/verifier/{name}"

    def _check(self, number: int, verifier: _Verifier, script: BuildScript) -> dict[str, object]:
        step = self.config.steps[number - 1]
        run = _exported(step.verifier_env) + _with_stand_ins(verifier.run, is_needed=bool(script.stand_ins))
        check: dict[str, object] = {"name": step.name or "verifier", "verifier": verifier.folder, "run": run}
        if number < len(self.config.steps):
            # Harbor asks a step's verifier about that step alone: a later one may want something else.
            check |= {"turn": number, "until": number + 1}
        return check | {"limit": step.verifier_seconds} | ({} if step.counts else {"weight": 0.0})

    # -- what good work is

    def _note_missing(self) -> None:
        """Says what the solution would install and is not here; it is run all the same."""
        for text in self._texts("solution", SCRIPTS):
            try:
                check_packages(self.machine, wanted_by(text, has_registries=True).debian)
            except TaskRefused as refused:
                self.draft.notes.append(f"its solution may fail here: {refused}")

    def _controls(self, *, has_stand_ins: bool) -> None:
        source = self.draft.source
        for number, step in enumerate(self.config.steps, 1):
            own, shared = source / f"{step.folder}solution", source / "solution"
            folder = own if own.is_dir() else shared
            if not (folder / "solve.sh").is_file():
                self.draft.notes.append(f"no solution{f' of the step {step.name!r}' if step.name else ''}")
                continue
            target = "controls/good" + (f"/turn-{number}" if step.name else "")
            copy_tree(folder, self.draft.folder / target)
            run = _with_stand_ins(f"bash {SOLUTION}/solve.sh", is_needed=has_stand_ins)
            self.draft.put(f"{target}/{SCRIPT}", f"{_exported(self.config.solution_env)}{run}\n")


def _exported(env: Mapping[str, str]) -> str:
    return "".join(f"export {name}={shlex.quote(value)}; " for name, value in env.items())


def _with_stand_ins(run: str, *, is_needed: bool) -> str:
    return f'PATH="{STAND_INS}:$PATH" {run}' if is_needed else run


def _top(path: str) -> str:
    """The outermost folder of a path that can be a place of its own; empty if none can."""
    parts = [part for part in path.split("/") if part]
    if ".." in parts or "." in parts or not parts:
        return ""
    depth = 2 if parts[0] == "home" else 1
    return "/" + "/".join(parts[:depth]) if len(parts) >= depth else ""


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _is_here(host: str) -> bool:
    return host in ("localhost", "127.0.0.1", "0.0.0.0", "::1")

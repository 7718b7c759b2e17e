"""An eval → a Harbor task: a step a turn, an image of a known base, its checks as verifiers that need no orvl."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import TaskRefused
from orvl.project.check_commands import program_called
from orvl.project.control_scripts import SCRIPT, script_folder
from orvl.project.places import KEPT, SETUP, SOLUTION, TESTS, kept_at
from orvl.project.tasks.draft import RECORD, SEALED, SOURCE
from orvl.project.tasks.folder import copy_tree, digest_of, files_in
from orvl.store import beneath, tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.types import Check, Eval

WORKDIR = "/workspace"
BASE = "debian:bookworm"
ALWAYS = ("ca-certificates", "python3")
PACKAGES = {
    **dict.fromkeys(
        ("python3", "python", "bash", "sh", "cat", "grep", "sed", "diff", "cmp", "find", "sort", "true"), ""
    ),
    **dict.fromkeys(("subject", "test", "cp", "mv", "rm", "mkdir", "head", "tail", "wc", "env", "timeout", "tar"), ""),
    **dict.fromkeys(("pip", "pip3"), "python3-pip"),
    **dict.fromkeys(("node", "npm", "npx"), "nodejs npm"),
    **dict.fromkeys(("cargo", "rustc"), "cargo"),
    **dict.fromkeys(("gcc", "g++", "cc", "make"), "build-essential"),
    **dict.fromkeys(("java", "javac"), "default-jdk-headless"),
    "cmake": "cmake",
    "curl": "curl",
    "git": "git",
    "go": "golang",
    "jq": "jq",
    "perl": "perl",
    "pytest": "python3-pytest",
    "sqlite3": "sqlite3",
    "unzip": "unzip",
}
"""Programs that checks and setups call, and the Debian package that brings each."""
LIBRARY = Path(__file__).parents[2] / "checks"
RUNNER = Path(__file__).parent / "inside" / "run_checks.py"
TEST = """#!/bin/bash
# Writes its reward, the weighted share of the checks that pass, to /logs/verifier/reward.txt.
exec python3 /tests/run_checks.py
"""
SPARE = 60.0
ASKS_OF_ORVL = re.compile(rb"\b(?:drawn|browse)\b|\.memory\b")


def export_harbor(eval_: Eval, folder: Path, turn_limit: float) -> str:
    """Writes an eval as a task into a folder that is not there yet; says how."""
    if eval_.imported.get("from") == "harbor":
        _export_source(eval_, folder)
        return "as it was imported"
    _Exporter(eval_, folder, turn_limit).write()
    return "made of the eval"


def _export_source(eval_: Eval, folder: Path) -> None:
    """An imported task is given back as it was, unless its eval says something else by now."""
    own = eval_.folder
    record = beneath.read_inside(own, RECORD, beneath.LARGEST) if own else None
    try:
        sealed = json.loads(record or b"")
        is_same = sealed["eval"] == digest_of(eval_.path.parent, SEALED)
        is_same &= sealed["source"] == digest_of(eval_.path.parent / SOURCE)
    except (ValueError, TypeError, LookupError, OSError) as error:
        raise TaskRefused(f"{RECORD} or {SOURCE}/ of {eval_.name} is missing or broken; import it again") from error
    if not is_same:
        raise TaskRefused(f"it has been changed since it was imported; the task as it was is in {own}/{SOURCE}")
    copy_tree(eval_.path.parent / SOURCE, folder)


class _Exporter:
    def __init__(self, eval_: Eval, folder: Path, turn_limit: float) -> None:
        self.eval, self.folder = eval_, folder
        self.turn_limit = eval_.limits.get("turn", turn_limit)
        self.workdir = eval_.workdir or WORKDIR

    def write(self) -> None:
        self._refuse()
        self._put("task.toml", self._config())
        self._environment()
        for turn, prompt in enumerate(self.eval.prompts, 1):
            prefix = self._step(turn)
            self._put(f"{prefix}instruction.md", prompt + "\n")
            self._solution(turn, prefix)
        if any(check.verifier for check in self.eval.checks):
            self._verifiers()
        else:
            self._checks()

    def _put(self, name: str, text: str | bytes, *, executable: bool = False) -> None:
        content = text.encode() if isinstance(text, str) else text
        beneath.put(self.folder, name, content, 0o755 if executable else 0o644)

    def _step(self, turn: int) -> str:
        return f"steps/turn-{turn}/" if len(self.eval.prompts) > 1 else ""

    # -- what cannot be said

    def _refuse(self) -> None:
        eval_ = self.eval
        if eval_.private:
            raise TaskRefused("it is private")
        if eval_.wordings or eval_.vary:
            raise TaskRefused("what it says is drawn for each episode, depends on checks, or pastes output")
        if not eval_.checks:
            raise TaskRefused("it has no checks, and a task needs a verifier")
        if eval_.app or any(check.steps for check in eval_.checks):
            raise TaskRefused("its app is looked at in orvl's browser")
        verifiers = [check for check in eval_.checks if check.verifier]
        if verifiers and len(verifiers) < len(eval_.checks):
            raise TaskRefused("some of its checks are verifiers and some are not")
        hidden = eval_.part("checks")
        for name in files_in(hidden) if hidden else ():
            data = (hidden / name).read_bytes() if hidden and (hidden / name).is_file() else b""
            if b"checks" in data and (match := ASKS_OF_ORVL.search(data)):
                raise TaskRefused(f"checks/{name} asks orvl for '{match[0].decode()}', which no task can")

    # -- the image

    def _config(self) -> str:
        eval_ = self.eval
        verifier = SPARE + sum(check.limit for check in eval_.checks)
        lines = [
            'schema_version = "1.4"',
            *(['multi_step_reward_strategy = "final"'] if len(eval_.prompts) > 1 else []),
            "",
            "[task]",
            f"name = {_toml('orvl/' + eval_.name)}",
            f"description = {_toml(eval_.description)}",
            "",
            "[metadata]",
            f"tier = {_toml(eval_.tier)}",
            "",
            "[agent]",
            f"timeout_sec = {float(self.turn_limit)}",
            "",
            "[verifier]",
            f"timeout_sec = {float(verifier)}",
            "",
            "[environment]",
            *([f"memory_mb = {int(eval_.limits['memory'])}"] if "memory" in eval_.limits else []),
            *([f"storage_mb = {int(eval_.limits['disk'])}"] if "disk" in eval_.limits else []),
        ]
        for turn in range(1, len(eval_.prompts) + 1) if len(eval_.prompts) > 1 else ():
            lines += ["", "[[steps]]", f'name = "turn-{turn}"']
        return "\n".join(lines) + "\n"

    def _environment(self) -> None:
        eval_ = self.eval
        lines = [f"FROM {BASE}", "", self._apt()]
        for name, value in eval_.env.items():
            lines.append(f"ENV {name}={_docker(value)}")
        lines += [f"WORKDIR {self.workdir}"]
        workspace, context = eval_.part("workspace"), self.folder / "environment"
        if workspace is not None:
            copy_tree(workspace, context / "workspace", tree.NOT_GIVEN)
            lines += self._places(context)
            if files_in(context / "workspace"):
                lines.append("COPY workspace/ ./")
        for place in eval_.places:
            lines.append(f"RUN mkdir -p {place}")
        if (files := eval_.part("setup")) is not None:
            copy_tree(files, context / "setup", tree.NOT_GIVEN)
            lines.append(f"COPY setup/ {SETUP}/")
        lines += [f"RUN {_one_line(command)}" for command in eval_.setup]
        self._put("environment/Dockerfile", "\n".join(lines) + "\n")

    def _places(self, context: Path) -> Iterator[str]:
        """What is kept with the workspace for other folders gets a folder of its own beside it."""
        for number, place in enumerate(self.eval.places, 1):
            kept = context / "workspace" / kept_at(place)
            if kept.is_dir():
                (context / "places").mkdir(exist_ok=True)
                kept.rename(context / "places" / str(number))
                yield f"COPY places/{number}/ {place}/"
        beneath.remove(context / "workspace" / KEPT)

    def _apt(self) -> str:
        """What checks and the setup call must be there; of the agent's own programs nobody knows."""
        wanted = [*ALWAYS]
        for what, command in (
            *((f"the check {check.name}", check.run) for check in self.eval.checks),
            *(("the setup", command) for command in self.eval.setup),
        ):
            name = program_called(command)
            if name is None:
                continue
            if name not in PACKAGES:
                raise TaskRefused(f"{what} calls '{name}', and orvl knows no package that brings it")
            wanted += PACKAGES[name].split()
        names = " ".join(sorted(set(wanted)))
        return (
            f"RUN apt-get update && apt-get install -y --no-install-recommends {names} && rm -rf /var/lib/apt/lists/*"
        )

    # -- checks

    def _active(self, turn: int) -> list[Check]:
        return [check for check in self.eval.checks if self.eval.is_active(check, turn)]

    def _checks(self) -> None:
        """What all steps share, and for each the checks that are due after it."""
        self._put("tests/test.sh", TEST, executable=True)
        self._put(f"tests/{RUNNER.name}", RUNNER.read_bytes())
        for name in ("__init__.py", "__main__.py"):
            self._put(f"tests/lib/orvl/checks/{name}", (LIBRARY / name).read_bytes())
        if (hidden := self.eval.part("checks")) is not None:
            copy_tree(hidden, self.folder / "tests" / "checks", tree.NOT_GIVEN)
        for turn in range(1, len(self.eval.prompts) + 1):
            variables = [name for name in self.eval.env if name != "PATH"]
            checks = [_row(check) for check in self._active(turn)]
            settings = {"workdir": self.workdir, "variables": variables, "checks": checks}
            self._put(f"{self._step(turn)}tests/checks.json", json.dumps(settings, indent=2) + "\n")

    def _verifiers(self) -> None:
        """An eval whose checks are verifiers already: at most one a step."""
        hidden = self.eval.part("checks")
        assert hidden is not None
        for turn in range(1, len(self.eval.prompts) + 1):
            active = self._active(turn)
            if len(active) != 1:
                raise TaskRefused(f"after turn {turn} it has {len(active)} verifiers; a step has one")
            tests = f"{self._step(turn)}tests"
            copy_tree(hidden / active[0].verifier, self.folder / tests, tree.NOT_GIVEN)
            if active[0].run != f"bash {TESTS}/test.sh":
                if (self.folder / tests / "test.sh").exists():
                    raise TaskRefused(f"its check {active[0].name} has a test.sh that is not what it runs")
                self._put(f"{tests}/test.sh", f"#!/bin/sh\n{active[0].run}\n", executable=True)

    # -- the solution

    def _solution(self, turn: int, prefix: str) -> None:
        """What the good control leaves: by its script, or by its files."""
        good = self.eval.part("controls/good")
        script = script_folder(self.eval, "good", turn)
        by_turn = (
            any((good / f"turn-{number}").is_dir() for number in range(1, len(self.eval.prompts) + 1))
            if good
            else False
        )
        if script is not None:
            copy_tree(script, self.folder / prefix / "solution", tree.NOT_GIVEN)
            self._put(f"{prefix}solution/solve.sh", f"#!/bin/bash\nexec sh {SOLUTION}/{SCRIPT}\n", executable=True)
            return
        source = good / f"turn-{turn}" if good and by_turn else good if turn == 1 else None
        if source is None or not source.is_dir():
            self._put(f"{prefix}solution/solve.sh", "#!/bin/bash\ntrue\n", executable=True)
            return
        copy_tree(source, self.folder / prefix / "solution" / "files", tree.NOT_GIVEN)
        gone = beneath.read_inside(source, ".delete", beneath.LARGEST) or b""
        removed = [name for name in gone.decode("utf-8", "replace").splitlines() if beneath.stays_inside(name)]
        lines = ["#!/bin/bash", "set -e", f"cp -a {SOLUTION}/files/. ."]
        lines += [f"rm -rf -- {shlex.quote(name)}" for name in removed] + ["rm -f .delete"] * bool(gone)
        self._put(f"{prefix}solution/solve.sh", "\n".join(lines) + "\n", executable=True)


def _row(check: Check) -> Mapping[str, Any]:
    names = ("name", "run", "limit", "weight", "isolated", "keep")
    return {name: getattr(check, name) for name in names}


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _docker(value: str) -> str:
    """A value of ENV; `$` stays what it is, for Docker replaces variables as orvl does."""
    if "\n" in value:
        raise TaskRefused("a variable of it has several lines")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _one_line(command: str) -> str:
    if "\n" in command.strip():
        raise TaskRefused("a command of its setup has several lines")
    return command.strip()

"""Stands in for `orvl.checks` in a check of a built-in eval: tapes all answers of a good control, or plays them back.

So a test can be the agent that knows a check by heart: it has every answer to what the same check asked before.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

MODE, TAPE, SOURCE = sys.argv[-3:]
del sys.argv[-3:]
FOLDER = Path("work")
ANSWERS: list[Any] = json.loads(Path(TAPE).read_text()) if MODE == "play" else []


RANDOM = Random()
TMP = Path("tmp").absolute()
TMP.mkdir(exist_ok=True)


class Ended:
    def __init__(self, status: int, stdout: str, stderr: str) -> None:
        self.status, self.stdout, self.stderr = status, stdout, stderr


class Call:
    def __init__(self, *words: str, input: str = "", cwd: str = ".") -> None:
        self.words, self.input, self.cwd = words, input, cwd


class Step:
    def __init__(self, step: str, passed: bool) -> None:
        self.step, self.passed, self.reason = step, passed, "nobody knew it"


def _answer(make: Any) -> Any:
    if MODE == "play":
        return ANSWERS.pop(0) if ANSWERS else None
    ANSWERS.append(made := make())
    Path(TAPE).write_text(json.dumps(ANSWERS))
    return made


def run(*command: str, input: str = "", seconds: float = 10) -> Ended:
    def make() -> list[Any]:
        words = [sys.executable, *command[1:]] if command[0] == "python3" else command
        env = {**os.environ, "TMPDIR": str(TMP)}
        done = subprocess.run(words, input=input, cwd=FOLDER, env=env, capture_output=True, text=True, timeout=seconds)
        return [done.returncode, done.stdout, done.stderr]

    return Ended(*(_answer(make) or [0, "", ""]))


def calls(program: str, given: Sequence[Call], seconds: float = 60, each: float = 10) -> list[Ended]:
    def make(call: Call) -> list[Any]:
        folder = FOLDER / call.cwd
        folder.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-I", "-B", "-X", "utf8", (FOLDER / program).absolute(), *call.words]
        done = subprocess.run(words, input=call.input, cwd=folder, capture_output=True, text=True, timeout=seconds)
        return [done.returncode, done.stdout, done.stderr]

    rows = _answer(lambda: [make(call) for call in given]) or []
    return [Ended(*row) for row in [*rows, *([0, "", ""] for _ in given[len(rows) :])]]


def read(path: str) -> bytes | None:
    content = _answer(lambda: (FOLDER / path).read_text("latin-1") if (FOLDER / path).is_file() else None)
    return None if content is None else content.encode("latin-1")


def write(path: str, content: str | bytes) -> None:
    (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def files() -> list[str]:
    found = [path for path in sorted(FOLDER.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return _answer(lambda: [str(path.relative_to(FOLDER)) for path in found]) or []


def fresh() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(SOURCE, FOLDER)


def browse(*steps: str) -> list[Step]:
    known = _answer(lambda: list(steps)) or []
    return [Step(step, step in known) for step in steps]


def random() -> Random:
    """Other numbers in each call."""
    return RANDOM


def drawn() -> dict[str, Any]:
    return {}


def grade(passed: int, cases: int) -> None:
    """Whether all passed is told by the status."""
    assert 0 <= passed <= cases > 0


def fail(sentence: str) -> None:
    print(sentence)
    sys.exit(1)


fresh()

"""The repositories of the eval git-tangle are those that its own source makes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import orvl

EVAL = Path(orvl.__file__).parent / "evals/git-tangle"
PACKED = (".pack", ".idx")
"""Their bytes depend on the version of git."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The eval as its source makes it anew."""
    folder = tmp_path_factory.mktemp("made") / "git-tangle"
    shutil.copytree(EVAL, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("variants", "checks/facts", "controls/good/turn-1/server", "controls/bad/turn-4/server"):
        shutil.rmtree(folder / part)
    subprocess.run([sys.executable, "-B", "make.py"], cwd=folder / "source", check=True, timeout=900)
    return folder


def files(folder: Path) -> Iterator[tuple[str, bytes | None]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), None if path.suffix in PACKED else path.read_bytes()


def test_what_is_made_is_there(made):
    assert dict(files(made)) == dict(files(EVAL))


def objects_in(index: Path) -> set[str]:
    shown = subprocess.run(["git", "show-index"], input=index.read_bytes(), capture_output=True, check=True).stdout
    return {line.split()[1] for line in shown.decode().splitlines()}


@pytest.mark.parametrize("index", sorted(EVAL.glob("controls/**/made/*/objects/pack/*.idx")), ids=str)
def test_every_ref_of_a_control_is_in_its_pack(index):
    """Also those of later turns, and those that planted bugs lead to."""
    variant, control = index.parents[2].name, index.parents[5]
    control = control.parent if control.name == "turn-1" else control
    refs = {path.read_text().strip() for path in control.glob(f"**/made/{variant}/refs/**/*") if path.is_file()}
    wrong = set()
    for patch in EVAL.glob("controls/bugs/0*.patch") if control.name == "good" else ():
        wrong |= set(re.findall(rf"made/{variant}/refs/.*\n@@ .*\n(?:-.*\n)?\+(\w+)", patch.read_text()))
    assert refs and bool(wrong) == (control.name == "good")
    assert refs | wrong <= objects_in(index)

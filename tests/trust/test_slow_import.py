"""slow-import: its oracle knows the rules of the original, its good controls work, and every planted bug is seen."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_evals import EVALS, loaded, plant

from helpers.eval_checks import checked
from orvl.project.draw import drawn, filled
from orvl.run.controls import lay_control
from orvl.types import CheckResult

NAME = "slow-import"
CONTROLS = EVALS / NAME / "controls"
HIDDEN = EVALS / NAME / "checks"
TURNS = 3
BROKEN_BY = {
    "01-last-one-with-a-number-counts": "old-databases-go-on",
    "02-the-index-is-of-no-use": "nights-are-quick",
    "03-universal-line-ends": "same-rejects-as-ever",
    "04-all-that-waits-for-each-sale": "nights-are-quick",
    "05-waits-for-ever-in-any-order": "same-rows-as-ever",
    "06-all-of-a-month-at-once": "fits-the-small-box",
    "07-order-as-it-happens": "order-is-back",
    "08-commits-as-it-goes": "survives-a-kill",
    "09-known-by-its-name-alone": "twice-is-once",
    "10-rejects-are-emptied-first": "twice-is-once",
    "11-cents-rounded-up": "same-rows-as-ever",
    "12-sold-decides-on-the-month": "same-rows-as-ever",
    "13-notes-of-the-web-in-latin": "same-rejects-as-ever",
}


def state(folder: Path, control: str | None, turn: int = TURNS, bug: str | None = None, episode: int = 1) -> Path:
    """What a control leaves after a turn of an episode."""
    draw = drawn(loaded(NAME), episode).drawn
    shutil.copytree(EVALS / NAME / "workspace", folder)
    for number in range(1, turn + 1) if control else ():
        lay_control(CONTROLS / control, number, folder, None if bug else draw)
    if bug:
        plant(CONTROLS / "bugs" / f"{bug}.patch", folder)
        for path in folder.rglob("*.py"):
            path.write_text(filled(path.read_text(encoding="utf-8"), draw.values), encoding="utf-8")
    return folder


def results(folder: Path, only: list[str], turn: int = 0) -> dict[str, CheckResult]:
    (rows,) = checked(drawn(loaded(NAME), 1), [folder], [only], turn=turn)
    for row in rows.values():
        assert "Traceback" not in row.output, row.output
        assert row.isolation == "separate"
    return rows


def due(turn: int) -> list[str]:
    return [check.name for check in loaded(NAME).checks if loaded(NAME).due(check) == turn and not check.keep]


@pytest.fixture(scope="module")
def parts() -> Iterator[dict[str, Any]]:
    """The modules of the checks that need no sandbox."""
    names = ("oracle", "reference", "scenes", "world")
    sys.path.insert(0, str(HIDDEN))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(HIDDEN))
        for name in names:
            sys.modules.pop(name, None)


def test_it_is_a_conversation_whose_checks_are_due_by_turn():
    one = loaded(NAME)
    assert one.tier == "core"
    assert one.metrics is None
    assert all(due(turn) for turn in range(1, TURNS + 1))
    assert {"good", "good-2", "bad", "bugs", "cheats"} <= set(one.control_digests)
    for episode in range(1, 6):
        prompts = drawn(one, episode).prompts
        assert len(prompts) == TURNS
        assert not any("{{" in prompt for prompt in prompts)
        assert not any(check.name in prompt for check in one.checks for prompt in prompts)


def test_the_original_beside_the_checks_is_that_of_the_workspace():
    originals = HIDDEN / "original"
    kept = sorted(path for path in originals.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert len(kept) > 15
    for path in kept:
        assert path.read_bytes() == (EVALS / NAME / "workspace" / path.relative_to(originals)).read_bytes()


@pytest.mark.parametrize("seed", (0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))))
def test_the_oracle_says_what_the_original_says(seed, parts):
    chance = random.Random(seed)
    world = parts["world"].World(chance)
    books = parts["oracle"].Books(world)
    parts["scenes"].history(books, 30)
    parts["scenes"].wait(books, 5)
    original = parts["reference"].Original(books.database(), world.ini())
    first, second = world.months(2)
    for number, form in enumerate(("csv", "dat", "jsonl")):
        lines = parts["scenes"].night(books, form, 40)
        name = f"night-{number}.{form}"
        original.load(name, world.file(form, lines))
        rejects, said = books.take(name, lines)
        assert (original.read(f"{name}.rejects").decode(), original.stdout) == (rejects, said)
        if number == 1:
            original.command("close", first)
            books.closed.add(first)
    for month in (first, second):
        original.command("export", month, "out.txt")
        assert original.read("out.txt") == books.export(month)
        assert original.read("out.txt") != books.export(month, "lowest")
        loosened = parts["oracle"].loosened
        assert loosened(original.read("out.txt")) == loosened(books.export(month, "lowest"))
    original.remove()


def test_good_work_passes_where_a_bug_fails(tmp_path):
    """One check of those that take little time; the others are tried at night, and by the gate."""
    bug, check = "03-universal-line-ends", "same-rejects-as-ever"
    assert results(state(tmp_path / "good", "good"), [check])[check].passed
    assert not results(state(tmp_path / "bug", "good", bug=bug), [check])[check].passed


@pytest.mark.nightly
@pytest.mark.parametrize("control", ("good", "good-2"))
def test_good_work_passes_all_checks(control, tmp_path):
    rows = results(state(tmp_path / "work", control), [check.name for check in loaded(NAME).checks])
    assert [name for name, row in rows.items() if not row.passed] == []


@pytest.mark.nightly
def test_nobody_passes_what_is_new_without_work(tmp_path):
    new = [name for turn in range(1, TURNS + 1) for name in due(turn)]
    assert not any(row.passed for row in results(state(tmp_path / "work", None), new).values())


@pytest.mark.nightly
@pytest.mark.parametrize("turn", (1, 2))
def test_good_work_of_a_turn_does_what_is_due_and_not_what_comes_next(turn, tmp_path):
    folder = state(tmp_path / "work", "good", turn)
    assert all(row.passed for row in results(folder, due(turn), turn).values())
    assert not any(row.passed for row in results(folder, due(turn + 1), turn + 1).values())


@pytest.mark.nightly
@pytest.mark.parametrize("bug", BROKEN_BY)
def test_each_bug_is_seen(bug, tmp_path):
    assert sorted(path.stem for path in (CONTROLS / "bugs").glob("*.patch")) == list(BROKEN_BY)
    folder = state(tmp_path / "work", "good", bug=bug)
    # The moment of a kill is a matter of luck.
    tries = 4 if BROKEN_BY[bug] == "survives-a-kill" else 1
    assert not all(results(folder, [BROKEN_BY[bug]])[BROKEN_BY[bug]].passed for _ in range(tries))

"""tenant-leak: its good controls close in each episode what leaks there, and every planted bug is seen."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_evals import EVALS, loaded, plant

from helpers.eval_checks import checked
from orvl.project.draw import drawn, filled
from orvl.run.controls import lay_control
from orvl.types import CheckResult

NAME = "tenant-leak"
CONTROLS = EVALS / NAME / "controls"
TURNS = 4
LEAKS = ("lists", "figures", "calls", "doors")
KEPT = "workshops-go-on-working"
BROKEN_BY = {
    "01-numbers-of-everyone": "invoices-are-the-workshops-own",
    "02-credit-for-anyone": "invoices-are-the-workshops-own",
    "03-vehicles-are-common": "calls-reach-the-own-workshop-only",
    "04-figures-of-whoever-was-first": "figures-are-the-workshops-own",
    "05-any-recent-report": "figures-are-the-workshops-own",
    "06-last-of-a-batch-only": "calls-reach-the-own-workshop-only",
    "07-links-open-any-account": "doors-open-for-the-owner-only",
    "08-dots-further-inside": "doors-open-for-the-owner-only",
    "09-moves-anywhere": "doors-open-for-the-owner-only",
    "10-codes-of-everyone": "lists-are-the-workshops-own",
    "11-changes-by-link": "support-changes-nothing",
    "12-noted-once": "each-look-is-noted",
    "13-pages-only": "each-look-is-noted",
    "14-cookies-are-fine": "logs-open-nothing",
    "15-addresses-in-headers": "logs-open-nothing",
    "16-no-query": "headers-can-be-looked-at",
    "17-always-on": "headers-can-be-looked-at",
    "18-what-worked-only": "headers-can-be-looked-at",
    "19-keys-in-addresses": "logs-open-nothing",
    "20-any-vehicle-can-go": "calls-reach-the-own-workshop-only",
}
IN_EPISODE = {"03": 5, "04": 5, "07": 5, "20": 5}
"""Where the kind of leak is drawn that a bug has; the first episode has the others."""


def state(folder: Path, control: str | None, turn: int = TURNS, bug: str | None = None, episode: int = 1) -> Path:
    """What a control leaves after a turn of an episode."""
    draw = drawn(loaded(NAME), episode).drawn
    shutil.copytree(EVALS / NAME / "workspace", folder)
    for key in LEAKS:
        shutil.copytree(EVALS / NAME / "variants" / key / str(draw.values[key]), folder, dirs_exist_ok=True)
    for number in range(1, turn + 1) if control else ():
        lay_control(CONTROLS / control, number, folder, None if bug else draw)
    if bug:
        plant(CONTROLS / "bugs" / f"{bug}.patch", folder)
        for path in folder.rglob("*.py"):
            path.write_text(filled(path.read_text(encoding="utf-8"), draw.values), encoding="utf-8")
    return folder


def results(
    folders: Sequence[Path], only: Sequence[Sequence[str]], episode: int = 1, turn: int = 0
) -> list[dict[str, CheckResult]]:
    found = checked(drawn(loaded(NAME), episode), folders, only, turn=turn)
    for rows in found:
        for row in rows.values():
            assert "Traceback" not in row.output, row.output
            assert row.isolation == "separate"
    return found


def failed(rows: dict[str, CheckResult]) -> list[str]:
    return [name for name, row in rows.items() if not row.passed]


def due(turn: int) -> list[str]:
    return [check.name for check in loaded(NAME).checks if loaded(NAME).due(check) == turn and not check.keep]


def wanted(turn: int) -> list[str]:
    return [check.name for check in loaded(NAME).checks if loaded(NAME).is_active(check, turn)]


def test_bugs_can_be_planted_one_after_the_other(tmp_path):
    folder = shutil.copytree(EVALS / NAME / "workspace", tmp_path / "all")
    for turn in range(1, TURNS + 1):
        lay_control(CONTROLS / "good", turn, folder, None)
    patches = sorted((CONTROLS / "bugs").glob("*.patch"))
    assert [patch.stem for patch in patches] == list(BROKEN_BY)
    for patch in patches:
        plant(patch, folder)


def test_one_of_each_pair_leaks_and_variants_lie_apart():
    folders = [EVALS / NAME / "variants" / key / value for key in LEAKS for value in loaded(NAME).vary[key]]
    files = [path.relative_to(folder) for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(folders) == len(files) == len(set(files)) == 8
    for folder, file in zip(folders, files, strict=True):
        assert (folder / file).read_bytes() != (EVALS / NAME / "workspace" / file).read_bytes()


def test_good_work_passes_where_a_bug_and_no_work_fail(tmp_path):
    bug, check = "06-last-of-a-batch-only", "calls-reach-the-own-workshop-only"
    folders = [
        state(tmp_path / "good", "good"),
        state(tmp_path / "bug", "good", bug=bug),
        state(tmp_path / "none", None),
    ]
    good, buggy, nothing = results(folders, [[check, "leaves-the-rest-alone"]] * 3)
    assert failed(good) == []
    assert failed(buggy) == failed(nothing) == [check]
    assert 0 < buggy[check].value < 1
    assert nothing[check].value == 0


@pytest.mark.nightly
@pytest.mark.parametrize("episode", (1, 4, 5, 15))
def test_what_does_not_leak_passes_before_the_agent_begins(episode, tmp_path):
    (rows,) = results([state(tmp_path / "none", None, episode=episode)], [wanted(TURNS)], episode=episode)
    assert [name for name, row in rows.items() if row.passed] == [KEPT, "leaves-the-rest-alone"]
    assert not any(row.value for row in rows.values() if not row.passed)


@pytest.mark.nightly
@pytest.mark.parametrize("control", ("good", "good-2"))
@pytest.mark.parametrize("turn", range(1, TURNS + 1))
def test_good_work_passes_what_is_due_by_a_turn_and_not_what_comes_next(control, turn, tmp_path):
    left = state(tmp_path / "left", control, turn, episode=turn)
    (rows,) = results([left], [wanted(turn)], episode=turn, turn=turn)
    assert sorted(rows) == sorted(wanted(turn))
    assert failed(rows) == []
    if turn < TURNS:
        (rows,) = results([left], [due(turn + 1)], episode=turn, turn=turn + 1)
        assert failed(rows) == due(turn + 1)


@pytest.mark.nightly
@pytest.mark.parametrize("bug", BROKEN_BY)
def test_each_bug_breaks_its_check(bug, tmp_path):
    episode = IN_EPISODE.get(bug[:2], 1)
    left = state(tmp_path / "left", "good", bug=bug, episode=episode)
    (rows,) = results([left], [[BROKEN_BY[bug]]], episode=episode)
    assert failed(rows) == [BROKEN_BY[bug]]


@pytest.mark.nightly
def test_bad_work_and_cheats_pass_nearly_nothing(tmp_path):
    names = {"bad": 0.2} | {f"cheats/{path.name}": 0.05 for path in sorted((CONTROLS / "cheats").iterdir())}
    assert len(names) >= 3
    folders = [state(tmp_path / name.replace("/", "-"), name) for name in names]
    kept = {check.name for check in loaded(NAME).checks if check.keep}
    for (name, most), rows in zip(names.items(), results(folders, [wanted(TURNS)] * len(folders)), strict=True):
        values = [row.value for check, row in rows.items() if check not in kept]
        assert sum(values) / len(values) <= most, (name, {check: row.value for check, row in rows.items()})

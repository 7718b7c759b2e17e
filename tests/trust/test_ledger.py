"""ledger: its good controls do in each turn what is due by then, and every planted bug is seen."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest
from test_evals import EVALS, loaded, plant

from helpers.eval_checks import checked
from orvl.project.draw import drawn, filled
from orvl.run.controls import lay_control
from orvl.types import CheckResult

NAME = "ledger"
CONTROLS = EVALS / NAME / "controls"
TURNS = 6
BROKEN_BY = {
    "01-zero-in-base-alone": "keeps-currencies-apart",
    "02-first-row-of-a-day": "converts-at-the-rate-of-the-day",
    "03-rounds-on-the-way": "converts-at-the-rate-of-the-day",
    "04-fixed-fee-as-it-is": "sells-in-currencies",
    "05-decimals-are-not-filled": "imports-foreign-statements",
    "06-keys-are-not-in-the-snapshot": "counts-a-key-once",
    "07-keys-of-any-path": "corrects-without-changing",
    "08-reversal-has-the-new-date": "corrects-without-changing",
    "09-days-of-the-machine": "knows-what-was-known",
    "10-old-sales-by-the-new-rule": "old-bookings-stay",
    "11-last-of-equal-shares": "rounds-half-to-even",
    "12-lines-as-they-come": "exports-a-chain",
    "13-ends-anywhere": "verify-finds-each-change",
    "14-half-line-stays": "starts-after-a-cut",
    "15-answers-before-it-writes": "loses-nothing-that-was-answered",
    "16-any-process-of-that-number": "starts-after-a-cut",
    "17-half-a-snapshot-stops-it": "starts-after-a-cut",
    "18-largest-refused": "keeps-currencies-apart",
}


def state(folder: Path, control: str | None, turn: int = TURNS, bug: str | None = None, episode: int = 1) -> Path:
    """What a control leaves after a turn of an episode."""
    draw = drawn(loaded(NAME), episode).drawn
    shutil.copytree(EVALS / NAME / "workspace", folder)
    shutil.copytree(EVALS / NAME / "variants/digest" / str(draw.values["digest"]), folder, dirs_exist_ok=True)
    for number in range(1, turn + 1) if control else ():
        lay_control(CONTROLS / control, number, folder, None if bug else draw)
    if bug:
        plant(CONTROLS / "bugs" / f"{bug}.patch", folder)
        for path in folder.rglob("*.js"):
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


def test_good_work_passes_where_a_bug_and_no_work_fail(tmp_path):
    bug, check = "11-last-of-equal-shares", "rounds-half-to-even"
    folders = [
        state(tmp_path / "good", "good"),
        state(tmp_path / "bug", "good", bug=bug),
        state(tmp_path / "none", None),
    ]
    good, buggy, nothing = results(folders, [[check, "leaves-the-rest-alone"]] * 3)
    assert failed(good) == []
    assert failed(buggy) == failed(nothing) == [check]
    assert buggy[check].value >= 0.5
    assert nothing[check].value == 0


def test_turns_are_short_and_six():
    one = loaded(NAME)
    assert one.tier == "hard"
    assert len(one.prompts) == TURNS
    for episode in range(1, 21):
        assert median(len(prompt.split()) for prompt in drawn(one, episode).prompts) < 60


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
    (rows,) = results([state(tmp_path / "left", "good", bug=bug)], [[BROKEN_BY[bug]]])
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

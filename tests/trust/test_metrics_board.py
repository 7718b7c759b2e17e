"""metrics-board: its good controls do in each turn what is due by then, every planted bug is seen, and its files agree."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_evals import EVALS, loaded, plant

from helpers.eval_checks import checked
from orvl.project.draw import drawn, filled
from orvl.run.controls import lay_control
from orvl.types import CheckResult

NAME = "metrics-board"
FOLDER = EVALS / NAME
CONTROLS = FOLDER / "controls"
TRAPS = ("title", "again", "bots")
TURNS = 3
BROKEN_BY = {
    "01-days-by-utc": "orders-and-sales",
    "02-line-breaks-end-notes": "orders-and-sales",
    "03-first-export-counts": "orders-and-sales",
    "04-cancelled-in-small-letters": "orders-and-sales",
    "05-week-one-has-new-year": "orders-and-sales",
    "06-nothing-has-a-height": "bars-and-goal",
    "07-days-below-zero-stand": "bars-and-goal",
    "08-goal-above-is-cut-off": "bars-and-goal",
    "09-no-visits-are-zero-percent": "visits-and-conversion",
    "10-conversion-of-the-week-is-a-mean": "visits-and-conversion",
    "11-refunds-by-our-clock": "refunds-when-paid-out",
    "12-winter-time-of-berlin": "refunds-when-paid-out",
    "13-refunds-of-unknown-orders-are-lost": "refunds-when-paid-out",
    "14-folder-is-made-before-exports-are-read": "refuses-what-cannot-be-read",
    "15-numbers-hide-in-titles": "numbers-at-the-bars",
    "16-black-bars-in-the-dark": "follows-the-system",
    "17-download-link-on-paper": "can-be-printed",
    "18-thousands-in-the-download": "download-agrees",
    "19-names-are-markup": "download-agrees",
    "20-mail-reads-line-breaks": "mail-stays",
}


def start(folder: Path, episode: int) -> Path:
    shutil.copytree(FOLDER / "workspace", folder)
    trap = str(drawn(loaded(NAME), episode).drawn.values["trap"])
    return shutil.copytree(FOLDER / "variants/trap" / trap, folder, dirs_exist_ok=True)


def state(folder: Path, control: str | None, turn: int = TURNS, bug: str | None = None, episode: int = 1) -> Path:
    """What a control leaves after a turn of an episode."""
    draw = drawn(loaded(NAME), episode).drawn
    start(folder, episode)
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
    folder = start(tmp_path / "all", 1)
    for turn in range(1, TURNS + 1):
        lay_control(CONTROLS / "good", turn, folder, None)
    patches = sorted((CONTROLS / "bugs").glob("*.patch"))
    assert [patch.stem for patch in patches] == list(BROKEN_BY)
    for patch in patches:
        plant(patch, folder)


def test_programs_that_must_stay_are_those_of_the_workspace():
    original = FOLDER / "checks/original"
    programs = [path.relative_to(original) for path in original.rglob("*.js")]
    assert len(programs) == 13
    for program in programs:
        assert (original / program).read_bytes() == (FOLDER / "workspace" / program).read_bytes()


@pytest.mark.parametrize("trap", TRAPS)
def test_files_that_must_stay_are_those_of_the_workspace(trap):
    sums = json.loads((FOLDER / "checks/sums.json").read_text(encoding="utf-8"))
    places = {"all": FOLDER / "workspace", trap: FOLDER / "variants/trap" / trap}
    for name, place in places.items():
        for path, wanted_sum in sums[name].items():
            assert hashlib.sha256((place / path).read_bytes()).hexdigest()[:24] == wanted_sum
    assert {"posters/opening-hours.txt", "suppliers/tea.csv", "legal/imprint.md"} <= sums["all"].keys()


@pytest.mark.parametrize("trap", TRAPS)
def test_what_finance_pasted_is_right_but_for_one_row(trap):
    """The exports of the workspace are those that the checks tell of, and of finance's seven rows six are right."""
    program = "from autumn import autumn; import json, sys; tale = autumn(sys.argv[1]); files = tale.shop.files()\n"
    program += "rows = [(str(d), f.orders, f.sales, f.refunds, f.net) for d, f in zip(tale.shop.days, tale.shop.figures('payout'))]\n"
    program += "print(json.dumps([rows, files]))"
    made = subprocess.run(
        [sys.executable, "-c", program, trap], cwd=FOLDER / "checks", capture_output=True, text=True, check=True
    )
    rows, files = json.loads(made.stdout)
    for name, content in files.items():
        places = (FOLDER / "workspace/data" / name, FOLDER / "variants/trap" / trap / "data" / name)
        assert next(place for place in places if place.exists()).read_bytes() == content.encode()
    right = {
        day: f"{orders} {sales / 100:.2f} {back / 100:.2f} {net / 100:.2f}" for day, orders, sales, back, net in rows
    }
    wordings = loaded(NAME).wordings[1]
    assert len(wordings) == 3
    wrong = []
    for wording in wordings:
        pasted = [
            line.split() for line in "".join(map(str, wording.parts)).splitlines() if line.startswith("    2026-")
        ]
        assert [words[0] for words in pasted] == list(right)
        wrong += [words[0] for words in pasted if " ".join(words[1:]) != right[words[0]]]
    assert len(wrong) == len(set(wrong)) == 3


def test_good_work_passes_where_a_bug_and_no_work_fail(tmp_path):
    bug, check = "13-refunds-of-unknown-orders-are-lost", "refunds-when-paid-out"
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
    assert len(names) >= 4
    folders = [state(tmp_path / name.replace("/", "-"), name) for name in names]
    kept = {check.name for check in loaded(NAME).checks if check.keep}
    for (name, most), rows in zip(names.items(), results(folders, [wanted(TURNS)] * len(folders)), strict=True):
        values = [row.value for check, row in rows.items() if check not in kept]
        assert sum(values) / len(values) <= most, (name, {check: row.value for check, row in rows.items()})

"""signup-form: its good controls do in each turn what is due by then, and every planted bug is seen."""

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

NAME = "signup-form"
CONTROLS = EVALS / NAME / "controls"
TURNS = 3
BROKEN_BY = {
    "01-focus-in-the-order-of-the-server": "nothing-entered-is-lost",
    "02-first-mistake-only": "password-says-what-it-lacks",
    "03-passwords-are-forgotten": "nothing-entered-is-lost",
    "04-sends-while-busy": "fits-phones-and-slow-servers",
    "05-busy-for-ever-once-refused": "nothing-entered-is-lost",
    "06-what-cannot-be-read-is-sick": "nothing-entered-is-lost",
    "07-trouble-stays": "nothing-entered-is-lost",
    "08-goes-while-it-is-mended": "quiet-until-submitted",
    "09-least-by-heart": "password-says-what-it-lacks",
    "10-letters-of-one-alphabet": "password-says-what-it-lacks",
    "11-no-plus": "server-stays",
    "12-spelled-alike-by-blanks-only": "one-address-one-account",
    "13-looks-before-it-hashes": "one-address-one-account",
    "14-no-attempt-is-the-same-attempt": "one-address-one-account",
    "15-another-attempt-each-time": "lost-answers-count-once",
    "16-optional-is-never-checked": "what-is-optional",
    "17-label-does-not-say-so": "what-is-optional",
    "18-nobody-is-taken-to-the-welcome": "works-by-keyboard-alone",
    "19-as-wide-as-a-desk": "fits-phones-and-slow-servers",
    "20-notices-are-alerts-only": "call-back-form-stays",
    "21-described-by-nobody": "errors-stand-at-fields",
    "22-too-pale-to-read": "fits-phones-and-slow-servers",
}


def state(folder: Path, control: str | None, turn: int = TURNS, bug: str | None = None, episode: int = 1) -> Path:
    """What a control leaves after a turn of an episode."""
    draw = drawn(loaded(NAME), episode).drawn
    shutil.copytree(EVALS / NAME / "workspace", folder)
    for key, value in draw.values.items():
        variant = EVALS / NAME / "variants" / key / str(value)
        if variant.is_dir():
            shutil.copytree(variant, folder, dirs_exist_ok=True)
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
    bug, check = "12-spelled-alike-by-blanks-only", "one-address-one-account"
    folders = [
        state(tmp_path / "good", "good"),
        state(tmp_path / "bug", "good", bug=bug),
        state(tmp_path / "none", None),
    ]
    good, buggy, nothing = results(folders, [[check, "leaves-the-rest-alone"]] * 3)
    assert failed(good) == []
    assert failed(buggy) == failed(nothing) == [check]
    assert buggy[check].value < 1


def test_all_houses_say_everything():
    """Each has the same texts, and none has a word that steps in a browser would take for their own."""
    pages = {
        path.name: (path / "public/messages.js").read_text() for path in (EVALS / NAME / "variants/house").iterdir()
    }
    keys = {
        house: [line.split(":")[0] for line in page.splitlines() if line.startswith('  "')]
        for house, page in pages.items()
    }
    assert len({tuple(found) for found in keys.values()}) == 1
    for page in pages.values():
        assert not any(word in page.partition("const MESSAGES")[2].partition("/**")[0] for word in (" in ", " into "))


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

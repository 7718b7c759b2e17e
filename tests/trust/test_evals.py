"""The built-in evals tell good work from bad, and see each bug that is planted in the good one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import orvl
from helpers.eval_checks import checked
from helpers.no_work import Way
from orvl.project import open_project
from orvl.project.draw import drawn
from orvl.trust.controls import make_controls
from orvl.types import Eval

EVALS = Path(orvl.__file__).parent / "evals"
NAMES = (
    *("fix-slugs", "hello-world", "kitchen-converter", "parse-logs"),
    *("room-bookings", "sales-report", "tidy-invoice", "todo-cli"),
)
CHECKED_WHOLE = ("hello-world", "fix-slugs")
"""What every change is tried with as a whole. Of the others, every change shows that good work passes and that each bug
is seen; the rest is the gate's (`vetted.json`), and `make nightly` tries it."""
ALL_WHOLE = [name if name in CHECKED_WHOLE else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES]
WITHOUT_A_PAGE = [
    pytest.param(name, marks=pytest.mark.nightly) if name == "kitchen-converter" else name for name in NAMES
]
"""What looks at pages takes longer than all others together."""
HARD = ("ledger", "tenant-leak")
CORE = (
    *("flaky-suite", "git-tangle", "house-rules", "metrics-board", "one-list", "plugin-hooks", "readme-lies"),
    *("shift-swap", "signup-form", "slow-import", *HARD),
)
"""Those with checks by turn and draws, which have tests of their own."""
PROMPTS_AND_WORKSPACE = {
    "fix-slugs": "d9562665bfb13fb70e44cc9b640740a280f80f43f9fa4e6c298e9b4928e9ddfc",
    "hello-world": "732ec907b7923dee97ad04d19ea3bdee5caf613db781c8e2b367a1788fe6ade6",
    "todo-cli": "b2de9de3c525f0c5e423ffbf71f6804575540dfdbb75ea36493f2703fb02ed98",
}
"""The identity of evals that others have run: a change would part their results from new ones."""

SMOKE = ("hello-world", "fix-slugs", "kitchen-converter")
BROKEN_BY = {
    "fix-slugs": ("lists", "length", "unique", "accents", "edges", "existing"),
    "hello-world": ("several", "nobody", "odd", "world", "empty"),
    "kitchen-converter": ("converts", "ovens", "ovens", "policy", "converts", "kitchens", "kitchens", "policy"),
    "parse-logs": ("joined", "fields", "durations", "slowest", "quoted", "nothing", "lazy", "plain"),
    "room-bookings": ("edges", "cancels", "first", "free", "damaged", "restores", "existing"),
    "sales-report": ("since", "money", "months", "rows", "forms", "refuses", "files", "order"),
    "tidy-invoice": ("shipping", "money", "coupons", "refuses", "amounts", "same", "imported"),
    "todo-cli": ("overdue", "dates", "done", "saves", "unknown", "damaged", "due"),
}
"""For each planted bug, in order, a check that sees it."""


@cache
def loaded(name: str) -> Eval:
    return open_project(Path(__file__).parent).eval(name)


def patches(name: str) -> list[Path]:
    return sorted((EVALS / name / "controls/bugs").glob("*.patch"))


def plant(patch: Path, folder: Path) -> None:
    """Applies a patch exactly where it says: no line is off, and no context differs."""
    target, *hunks = re.split(r"^@@ -(\d+)[^@\n]*@@\n", patch.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = re.fullmatch(r"--- a/(.+)\n\+\+\+ b/\1\n", target)
    assert names, patch
    path = folder / names[1]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for start, hunk in zip(hunks[::2], hunks[1::2], strict=True):
        rows = hunk.splitlines(keepends=True)
        old, new = ([row[1:] for row in rows if row[0] in kept] for kept in (" -", " +"))
        at = int(start) - 1
        assert lines[at : at + len(old)] == old, f"{patch} does not apply"
        assert old != new
        lines[at : at + len(old)] = new
    path.write_text("".join(lines), encoding="utf-8")


def lay(name: str, folder: Path, control: str, bugs: Sequence[Path] = ()) -> Path:
    """What a run over a control leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = EVALS / name / "controls" / control
    for part in (EVALS / name / "workspace", *(sorted(whole.glob("turn-*")) or [whole])):
        if part.is_dir():
            shutil.copytree(part, folder, dirs_exist_ok=True)
    for patch in bugs:
        plant(patch, folder)
    return folder


def check_names(name: str) -> dict[str, str]:
    """The names of an eval's checks by the words with which check.py is called."""
    return {check.run.split()[-1] if check.run else check.name: check.name for check in loaded(name).checks}


def passed(name: str, folders: Sequence[Path], only: Sequence[Sequence[str]] | None = None) -> list[list[str]]:
    """For each folder those of the checks that pass, by check.py's words; `only` has the words that matter."""
    names = check_names(name)
    wanted = None if only is None else [[names[word] for word in words] for words in only]
    words = {check: word for word, check in names.items()}
    found = checked(drawn(loaded(name), 1), folders, wanted)
    for results in found:
        for result in results.values():
            assert "Traceback" not in result.output, result.output
            assert result.isolation == "separate"
    return [[words[check] for check, result in results.items() if result.passed] for results in found]


def test_these_are_all_the_built_in_evals():
    assert sorted(path.name for path in EVALS.iterdir() if (path / "eval.md").is_file()) == sorted((*NAMES, *CORE))


@pytest.mark.parametrize("name", PROMPTS_AND_WORKSPACE)
def test_evals_that_were_run_before_stay_the_same(name):
    assert loaded(name).digest == PROMPTS_AND_WORKSPACE[name]


@pytest.mark.parametrize("name", NAMES)
def test_an_eval_is_a_conversation_with_hidden_checks(name):
    one = loaded(name)
    assert 2 <= len(one.prompts) <= 3
    assert 4 <= len(one.checks) <= 10
    assert one.metrics is None, "what counts on it is what counts on every eval"
    assert one.tier == ("smoke" if name in SMOKE else "basics")
    assert 60 <= one.par["speed"] <= 150
    assert 60_000 <= one.par["tokens"] <= 150_000
    assert 0.05 <= one.par["cost"] <= 0.20
    assert not any(check.name in prompt for check in one.checks for prompt in one.prompts)
    assert {"good", "bad", "bugs"} <= set(one.control_digests)
    assert bool(one.app) == ("ugly" in one.control_digests)


@pytest.mark.parametrize("name", [name for name in WITHOUT_A_PAGE if name not in CHECKED_WHOLE])
def test_good_work_passes_all_checks(name, tmp_path):
    assert passed(name, [lay(name, tmp_path, "good")]) == [list(check_names(name))]


@pytest.mark.parametrize("name", ALL_WHOLE)
def test_good_work_passes_all_checks_and_bad_or_no_work_nearly_none(name, tmp_path):
    checks = list(check_names(name))
    good = [control for control in ("good", "good-2", "ugly") if (EVALS / name / "controls" / control).is_dir()]
    controls = [*good, "bad", "none"]
    found = dict(zip(controls, passed(name, [lay(name, tmp_path / one, one) for one in controls]), strict=True))
    assert {one: found[one] for one in good} == dict.fromkeys(good, checks)
    assert len(found["bad"]) <= len(checks) / 4
    kept = {
        word
        for word, check in check_names(name).items()
        if check in [one.name for one in loaded(name).checks if one.keep]
    }
    assert kept == set(found["none"]), "what passes before anybody has worked is no work"


@pytest.mark.parametrize("name", ALL_WHOLE)
def test_whoever_does_nothing_is_rated_0(name, project):
    """Doing nothing, handing back the prompt, and a file that claims success: fast and cheap, and worth nothing."""
    made, _ = make_controls(loaded(name), ("prompt-copy", "master-key"))
    for control in ("prompt-copy", "master-key"):
        texts = {path: content.decode() for path, content in made[control].files.items()}
        project.agent(control, Way(texts).agent())
    done = project.orvl("empty,prompt-copy,master-key", f"--eval={name}", "--json", timeout=600)
    assert done.status == 0, done.err
    rows = {row["agent"]: row for row in done.json["ratings"]}
    assert rows["empty"]["R"] == 0
    for row in rows.values():
        assert row["R"] <= 0.05
        assert row["metrics"]["checks"]["mean"] <= 0.05
        assert row["metrics"]["speed"]["mean"] <= 0.05 < row["metrics"]["speed"]["raw"]
        assert "speed" not in row["missing"]


@pytest.mark.parametrize("name", WITHOUT_A_PAGE)
def test_each_bug_alone_breaks_a_check(name, tmp_path):
    bugs = patches(name)
    assert [patch.name[:2] for patch in bugs] == [f"{number:02}" for number in range(1, len(bugs) + 1)]
    assert len(bugs) == len(BROKEN_BY[name]) >= (5 if name == "hello-world" else 6)
    folders = [lay(name, tmp_path / patch.stem, "good", [patch]) for patch in bugs]
    found = passed(name, folders, [[check] for check in BROKEN_BY[name]])
    assert dict(zip([patch.name for patch in bugs], found, strict=True)) == {patch.name: [] for patch in bugs}


@pytest.mark.parametrize("name", ALL_WHOLE)
def test_more_bugs_break_more_checks(name, tmp_path):
    """A bug is seen whatever bugs were planted before it."""
    bugs, broken = patches(name), BROKEN_BY[name]
    assert len(set(broken)) >= 4, "bugs break different checks"
    doses = (2, 4, len(bugs))
    folders = [lay(name, tmp_path / str(dose), "good", bugs[:dose]) for dose in doses]
    assert passed(name, folders, [broken[:dose] for dose in doses]) == [[], [], []]


@pytest.mark.parametrize("name", NAMES)
def test_a_workspace_with_bugs_still_has_whole_files(name, tmp_path):
    """Planted bugs are bugs in what the program does: nothing is cut off."""
    folder = lay(name, tmp_path, "good", patches(name))
    for path in sorted(folder.rglob("*.py")):
        compile(path.read_bytes(), str(path), "exec")
    for patch in patches(name):
        rows = patch.read_text(encoding="utf-8").splitlines()[3:]
        assert sum(row[0] == "+" for row in rows) == sum(row[0] == "-" for row in rows), "lines keep their numbers"


NOT_GIVEN = {"readme-lies": ("scripts/shared/coffer.js",)}
"""What comes from a variant instead."""


@pytest.mark.parametrize("original", sorted(EVALS.glob("*/checks/original")), ids=lambda path: path.parents[1].name)
def test_the_originals_that_new_tests_must_fail_on_are_those_that_agents_get(original):
    files = [path for path in original.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert files
    for path in files:
        if path.relative_to(original).as_posix() in NOT_GIVEN.get(original.parents[1].name, ()):
            continue
        assert path.read_bytes() == (original.parents[1] / "workspace" / path.relative_to(original)).read_bytes(), path

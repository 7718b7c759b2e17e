"""A store that orvl 0.1 made opens, gives the same numbers, and continues.

`tests/fixtures/store-of-0.1` holds a project with its store (version 5 of the tables), and what that orvl printed. Never
make it anew: it stands for the stores that users have.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helpers.user_project import UserProject

BEFORE = Path(__file__).parent.parent / "fixtures" / "store-of-0.1"
RUN = ("tidy,hasty", "--model=fixed", "--eval=greeting,shopping", "--json")
SENTENCE = re.compile(r"\w+ .*[.)]$", re.S)


@pytest.fixture
def before(tmp_path: Path) -> UserProject:
    project = UserProject(tmp_path / "project")
    shutil.copytree(BEFORE / "project", project.root, dirs_exist_ok=True)
    (project.root / "store").rename(project.root / ".orvl")
    return project


def without_wording(value: Any) -> Any:
    """JSON whose sentences are only there or not: what they say may be worded better; numbers to 9 digits."""
    if isinstance(value, dict):
        return {name: without_wording(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_wording(part) for part in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9, abs=1e-12)
    return "a sentence" if isinstance(value, str) and SENTENCE.match(value) else value


@pytest.mark.parametrize(
    ("words", "file"),
    [((), "report.json"), (("--by", "eval"), "report-by-eval.json"), (("--by", "run"), "report-by-run.json")],
)
def test_its_reports_are_the_same(before, words, file):
    expected = json.loads((BEFORE / file).read_text())
    report = before.orvl("report", *words, "--json", env={"TZ": "UTC"})
    assert report.status == 0, report.err
    shown = report.json
    # What 0.1 did not say.
    assert shown["warnings"].pop(0).startswith("hasty absent none: 1 run errored: 'no-such-program-here' is not")
    for row, then in zip(shown["ratings"], expected["ratings"], strict=True):
        if "reason" not in then:
            assert row.pop("reason") is None or row["runs"]["errored"]
        # Intervals are honest about few runs now, and there are more of them.
        now, before_ = row.pop("interval"), then.pop("interval")
        assert (now is None) == (before_ is None) and (now is None or now[0] <= row["R"] <= now[1])
        for new in ("families", "cost_per_run", "seconds_per_run", "scoring"):
            row.pop(new, None)
        assert row.pop("imported") is None
    for told in (shown, expected):
        if told.get("trust"):
            told["trust"].pop("next")
            told["trust"].pop("frontier", None)
            assert told["trust"].pop("ranked_by", None) is None
    assert ("cells" in shown) == (words == ())
    shown.pop("cells", None)
    assert shown.pop("told") == {}
    assert set(shown.pop("vetted").values()) == {None}
    assert shown.pop("isolation") == {"greeting": {"in-process": 2}, "shopping": {"in-process": 2}}
    assert without_wording(shown) == without_wording(expected)


def test_it_is_sound_and_is_brought_up_to_date_without_losing_a_row(before):
    path = before.root / ".orvl" / "orvl.db"
    counts = "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM attempt), (SELECT count(*) FROM score)"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (5,)
        kept = db.execute(counts).fetchone()
    doctor = before.orvl("doctor")
    assert doctor.status == 0 and "17 runs" in doctor.out, doctor.out
    assert before.rows(counts) == [kept]


def test_how_its_time_was_spent_is_unknown(before):
    assert "time: model, tools, own and waiting unknown" in before.orvl("show", "tidy/greeting/1").out


def test_giving_the_command_again_runs_nothing(before):
    attempts = before.rows("SELECT * FROM attempt ORDER BY id")
    scores = before.rows("SELECT count(*) FROM score")
    again = before.orvl(*RUN, "--episodes=2")
    assert again.status == 0, again.err
    assert [row["runs"]["rated"] for row in again.json["ratings"]] == [2, 2, 2, 2]
    assert before.rows("SELECT * FROM attempt ORDER BY id") == attempts
    assert before.rows("SELECT count(*) FROM score") == scores


def test_a_further_episode_continues_it(before):
    attempts = before.rows("SELECT * FROM attempt ORDER BY id")
    more = before.orvl(*RUN, "--episodes=3")
    assert more.status == 0, more.err
    assert [row["runs"]["rated"] for row in more.json["ratings"]] == [3, 3, 3, 3]
    after = before.rows("SELECT * FROM attempt ORDER BY id")
    assert after[: len(attempts)] == attempts
    assert len(after) == len(attempts) + 4
    of_new = f"FROM attempt JOIN run ON run.id = attempt.run WHERE attempt.id > {len(attempts)}"
    assert before.rows(f"SELECT DISTINCT episode {of_new}") == [(3,)]
    assert before.orvl("show", "tidy/greeting/1").status == 0

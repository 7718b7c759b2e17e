"""Ratings as a table, JSON and CSV: all three are made from one list of columns."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from orvl.rate.board import MetricRow, Row, Rules
from orvl.rate.collect import Board
from orvl.rate.gather import Gathered
from orvl.report.columns import Column, leaderboard
from orvl.report.ratings_csv import as_csv
from orvl.report.ratings_json import as_json
from orvl.report.table import print_ratings
from orvl.report.terminal import Terminal


def metric(mean, weight=0.5, **judges):
    return MetricRow(weight, mean, 0.01, judges, 0, 0)


def contestant(agent="one", R=0.75, **more):
    usage = {"seconds": 3.0, "cost_usd": 0.5, "cost_source": "metered"}
    metrics = {"checks": metric(0.9), "readability": metric(0.6, 0.25, anna=0.6)}
    made = Row(agent, "m1", "none", None, R=R, R_pen=R - 0.01, interval=(0.7, 0.8), metrics=metrics, usage=usage)
    return replace(made, **more)


def board(penalty=0.5, warnings=()):
    return Board((), Gathered((), {}), Rules(penalty=penalty), warnings=tuple(warnings))


def table(rows, shown, width=160):
    out = io.StringIO()
    print_ratings(Terminal(out, width), rows, shown)
    return out.getvalue()


def test_a_column_added_to_the_list_is_in_every_format(monkeypatch):
    extra = Column("luck", lambda row: len(row.agent), "luck", lambda row: f"{len(row.agent)} %")
    for module in ("table", "ratings_json"):
        monkeypatch.setattr(f"orvl.report.{module}.leaderboard", lambda *given: [*leaderboard(*given), extra])
    rows = [contestant("three")]
    assert "luck" in table(rows, board()) and "5 %" in table(rows, board())
    assert as_json(rows, board())["ratings"][0]["luck"] == 5
    assert next(csv.DictReader(io.StringIO(as_csv(rows, board()))))["luck"] == "5"


def test_rows_have_the_columns_of_their_kind():
    run = contestant(run="abc", episode=2, outcome="failed", reason="gave up", eval="hello")
    by_run, by_agent = as_json([run, contestant()], board())["ratings"]
    assert (by_run["run"], by_run["episode"], by_run["outcome"], by_run["reason"]) == ("abc", 2, "failed", "gave up")
    assert "rank" not in by_run and "floor" not in by_run
    assert by_agent["rank"] is None and "episode" not in by_agent
    common = ("agent", "provider", "model", "eval", "R", "R_pen", "interval", "penalty", "runs", "metrics", "missing")
    assert all(name in row for row in (by_run, by_agent) for name in (*common, "usage", "sandbox"))


def test_csv_has_dotted_names_and_nothing_that_a_spreadsheet_computes():
    row = contestant("=SUM(A1)", one_judge_less=(0.1, 0.2))
    (read,) = csv.DictReader(io.StringIO(as_csv([row], board())))
    assert read["agent"] == "'=SUM(A1)" and read["eval"] == ""
    assert (read["interval.low"], read["interval.high"]) == ("0.7", "0.8")
    assert (read["one_judge_less.low"], read["metrics.readability.judges.anna"]) == ("0.1", "0.6")
    assert (read["runs.planned"], read["usage.cost_usd"]) == ("0", "0.5")


def test_metrics_for_which_there_is_no_room_are_shown_below():
    rows = [contestant()]
    wide, narrow = table(rows, board()), table(rows, board(), width=70)
    assert next(line.split() for line in wide.splitlines() if "0.740" in line)[6:8] == ["0.90", "0.60"]
    assert "readability" not in next(line for line in narrow.splitlines() if "R_pen" in line)
    below = narrow[narrow.index("readability") :].splitlines()
    assert below[2].split() == ["one", "m1", "none", "0.90", "0.60"]
    assert max(map(len, narrow.splitlines())) <= 70


@pytest.mark.parametrize(("penalty", "warns"), [(0.0, False), (0.5, False), (0.6, True), (3.0, True)])
def test_a_penalty_under_which_a_better_score_can_lower_the_rating_is_warned_of(penalty, warns):
    sentence = f"The penalty is {penalty:g}: above 0.5 a better score from one judge can lower R_pen."
    shown = board(penalty, ["Another."])
    assert as_json([contestant()], shown)["warnings"] == ["Another.", *([sentence] if warns else [])]
    assert (f"! {sentence}" in table([contestant()], shown)) == warns
    assert shown.warnings == ("Another.",), "writing a report twice says it once"
    json.dumps(as_json([contestant()], shown), allow_nan=False)

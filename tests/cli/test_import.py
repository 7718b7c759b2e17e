"""`orvl import results`: results of other tools on the board, marked, apart from orvl's own, and read with distrust."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from helpers.user_project import Result, UserProject

FOUR = """
agent,model,provider,eval,episode,scores.correct,scores.style,cost,seconds
opencode,gpt-5,openai,todo,1,1,0.5,0.10,30
opencode,gpt-5,openai,todo,2,0.5,0.25,0.30,
opencode,gpt-5,openai,parse,,true,0,0.20,10
codex,,,todo,,0,1,,
codex,,,parse,,0.25,0.75,,
"""


def give(project: UserProject, text: str, *flags: str, file: str = "results.csv") -> Result:
    project.write(file, text)
    return project.orvl("import", "results", file, *flags)


def rows_of(project: UserProject, *words: str) -> dict[str, Any]:
    report = project.orvl("report", *words, "--json")
    assert report.status == 0, report.err
    return {row["agent"]: row for row in report.json["ratings"]}


def exported(project: UserProject, what: str, *words: str) -> list[dict[str, Any]]:
    done = project.orvl("export", what, "-", "--format=jsonl", *words)
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def everything(project: UserProject) -> list[list[Any]]:
    """All that the store has of runs, without when they were stored."""
    return [
        project.rows("SELECT key, agent, model, provider, eval, made_of FROM cell ORDER BY key"),
        project.rows("SELECT key, episode FROM run ORDER BY key"),
        project.rows("SELECT outcome, seconds, cost_usd, started FROM attempt ORDER BY id"),
        project.rows("SELECT attempt, metric, value FROM score ORDER BY id"),
    ]


# -- the numbers


def test_imported_results_have_every_number_and_are_marked_wherever_they_are_shown(project):
    done = give(project, FOUR)
    assert done.status == 0, done.err
    assert done.out.splitlines()[:2] == [
        "Imported 5 runs of 4 cells from results.csv.",
        "Equal weights: correct, style.",
    ]
    todo, parse = (0.75 + 0.375) / 2, 0.5
    rows = rows_of(project)
    one, other = rows["imported:opencode"], rows["imported:codex"]
    assert one["R"] == pytest.approx((todo + parse) / 2)
    assert one["metrics"]["correct"]["mean"] == pytest.approx((0.75 + 1) / 2)
    assert one["metrics"]["correct"]["weight"] == one["metrics"]["style"]["weight"] == 0.5
    assert (one["model"], one["provider"], one["imported"]) == ("gpt-5", "openai", "results.csv")
    assert (other["model"], other["provider"], other["imported"]) == (None, None, "results.csv")
    assert one["runs"] == {"planned": 3, "rated": 3, "failed": 0, "errored": 0}
    assert one["usage"]["cost_usd"] == pytest.approx(0.6)
    assert one["usage"]["seconds"] is None and one["seconds_per_run"] is None
    assert other["usage"]["cost_usd"] is None and other["cost_per_run"] is None
    cells = project.orvl("report", "--by", "eval", "--json").json["ratings"]
    assert {(row["agent"], row["eval"]): row["R"] for row in cells} == {
        ("imported:opencode", "todo"): pytest.approx(todo),
        ("imported:opencode", "parse"): parse,
        ("imported:codex", "todo"): 0.5,
        ("imported:codex", "parse"): 0.5,
    }
    table = project.orvl("report").out
    assert "imported:opencode gpt-5 openai" in table and "imported:codex – –" in table
    assert "imported from results.csv, neither run nor scored by orvl" in table
    assert not re.search(r"imported:codex.* 0\.0 s", table)
    sheet = list(csv.DictReader(io.StringIO(project.orvl("report", "--csv").out)))
    assert {row["imported"] for row in sheet} == {"results.csv"}
    matrix = project.orvl("report", "--matrix", "--json").json["matrix"]
    assert {row["imported"] for row in matrix["rows"]} == {"results.csv"}
    assert "imported:opencode gpt-5 openai" in project.orvl("report", "--matrix").out


def test_runs_and_scores_are_exported_and_shown_as_imported(project):
    give(project, FOUR)
    runs = exported(project, "runs")
    assert {row["imported"] for row in runs} == {"results.csv"}
    assert [row["seconds"] for row in runs] == [30, None, 10, None, None]
    assert [row["cost_usd"] for row in runs] == [0.1, 0.3, 0.2, None, None]
    assert [row["R"] for row in runs] == pytest.approx([0.75, 0.375, 0.5, 0.5, 0.5])
    assert {row["model"] for row in runs} == {"gpt-5", None}
    scores = exported(project, "scores", "imported:opencode", "--eval=todo")
    assert [(row["metric"], row["value"], row["weight"]) for row in scores] == [
        ("correct", 1.0, 0.5),
        ("style", 0.5, 0.5),
        ("correct", 0.5, 0.5),
        ("style", 0.25, 0.5),
    ]
    shown = project.orvl("show", "imported:opencode/todo/2", "--json").json
    assert shown["imported"] == "results.csv" and shown["rating"]["imported"] == "results.csv"
    assert shown["attempts"][0]["usage"]["seconds"] is None
    lines = {line["metric"]: line for line in shown["rating"]["lines"]}
    assert sum(line["weight"] * line["score"] for line in lines.values()) == pytest.approx(shown["rating"]["R"])
    text = project.orvl("show", "imported:opencode/todo/2").out
    assert "imported from results.csv" in text and "time unknown" in text
    nobody = project.orvl("show", "imported:codex/todo/1", "--json").json
    assert nobody["model"] is None and nobody["provider"] is None
    explained = project.orvl("show", "imported:opencode")
    assert explained.status == 0 and "imported from results.csv" in explained.out


def test_two_imported_agents_are_compared_over_enough_evals(project):
    lines = ["agent,eval,score"]
    lines += [f"{agent},e{i},{R}" for agent, R in (("good", 0.95), ("bad", 0.05)) for i in range(12)]
    assert give(project, "\n".join(lines)).status == 0
    found = project.orvl("compare", "imported:good", "imported:bad", "--json").json
    assert found["verdict"] == "BETTER"
    assert found["difference"]["mean"] == pytest.approx(0.9)
    assert any("imported from results.csv" in one for one in found["warnings"])
    row = rows_of(project)["imported:good"]
    assert row["R"] == pytest.approx(0.95) and row["interval"][0] < 0.95 <= row["interval"][1]


def test_weights_of_orvl_toml_rate_at_once(project):
    give(project, FOUR.replace("scores.correct", "checks").replace("scores.style", "readability"))
    assert rows_of(project, "--eval=todo")["imported:codex"]["R"] == 0.5
    project.toml("[metrics]\nchecks = 3\nreadability = 1\n")
    assert rows_of(project, "--eval=todo")["imported:codex"]["R"] == pytest.approx((3 * 0 + 1 * 1) / 4)
    warnings = project.orvl("report", "--json").json["warnings"]
    assert any("Weights: checks 3, readability 1." in one for one in warnings), warnings


def test_metrics_of_the_file_can_be_chosen_by_name(project):
    give(project, FOUR)
    assert rows_of(project, "--metric=style", "--eval=todo")["imported:codex"]["R"] == 1.0
    wrong = project.orvl("report", "--metric=stile")
    assert wrong.status == 2 and "Did you mean 'style'?" in wrong.err


def test_the_page_shows_what_happens(project):
    page = (Path(__file__).parents[2] / "docs" / "import.md").read_text()
    project.write("results.csv", re.search(r"^```csv\n(.*?)^```", page, re.M | re.S)[1])
    session = re.search(r"^```console\n(.*?)^```", page, re.M | re.S)[1]
    for part in re.split(r"^\$ ", session, flags=re.M)[1:]:
        line, _, shown = part.partition("\n")
        done = project.orvl(*line.split()[1:])
        printed = [" ".join(row.split()) for row in done.out.splitlines()]
        missing = [row for row in shown.splitlines() if " ".join(row.split()) not in printed]
        assert done.status == 0 and not missing, f"{line}: {missing} is not in {printed}"
    example = re.search(r"^\{.*\}$", page, re.M)[0]
    assert give(project, example, file="one.jsonl").status == 0


# -- beside orvl's own runs


def test_imported_results_never_mix_with_runs_of_the_same_name(small):
    assert small.orvl("writer", "--eval=one").status == 0
    own = rows_of(small)["writer"]
    assert give(small, "agent,model,provider,eval,score\nwriter,fixed,none,one,0.125\n").status == 0
    rows = rows_of(small)
    assert rows["writer"]["R"] == own["R"] and rows["writer"]["imported"] is None
    assert rows["writer"]["runs"] == own["runs"]
    assert rows["imported:writer"]["R"] == 0.125
    found = small.orvl("compare", "writer", "imported:writer", "--json").json
    assert found["difference"]["mean"] == pytest.approx(own["R"] - 0.125)
    assert any("different metrics" in one for one in found["warnings"])
    assert small.orvl("writer", "--eval=one", "--dry-run", "--json").json["plan"]["to_run"] == 0
    assert small.orvl("score").status == 0
    assert "history" not in small.orvl("report").out
    assert small.orvl("report", "--history", "--json").json["history"] == []
    assert {row["imported"] for row in exported(small, "runs")} == {None, "results.csv"}


def test_rows_share_evals_as_others_do(small):
    assert small.orvl("writer", "--eval=one").status == 0
    give(small, "agent,eval,score\nother,one,0.5\nother,elsewhere,1\n")
    told = small.orvl("report", "--json").json
    assert told["common"]["evals"] == ["one"] and told["common"]["left_out"] == ["elsewhere"]
    assert {row["agent"]: row["R"] for row in told["ratings"]}["imported:other"] == 0.5


def test_a_result_without_a_score_is_errored_and_one_without_a_metric_says_so(project):
    give(project, "agent,eval,scores.a,scores.b\nx,e,1,0\nx,e,,\ny,e,1,\n")
    rows = rows_of(project)
    assert rows["imported:x"]["R"] == 0.5 and rows["imported:x"]["runs"]["errored"] == 1
    assert rows["imported:y"]["R"] == 1.0 and rows["imported:y"]["missing"] == ["b"]


def test_what_needs_a_capture_says_that_there_is_none(project):
    give(project, "agent,eval,score\nx,e,1\n")
    key = exported(project, "runs")[0]["run"]
    for words, said in (
        (("show", key, "--diff"), "imported from results.csv"),
        (("label", "--run", key, "--score", "1", "--person", "me"), "was imported"),
        (("replay", key), "no record"),
        (("export", "atif", key, "--output", "-"), "was imported"),
    ):
        done = project.orvl(*words)
        assert done.status == 2 and said in done.err, (words, done.err)
    assert project.orvl("label", "--json", "--whole", "--person", "me").json["queue"] == []
    assert project.orvl("endpoints", "--json").json["endpoints"] == []
    assert project.orvl("doctor").status == 0


# -- again, corrected, deleted


def test_the_same_file_twice_changes_nothing(project):
    give(project, FOUR)
    before = everything(project)
    again = give(project, FOUR)
    assert again.out == "Nothing has changed: 5 runs from results.csv, imported before.\n"
    assert everything(project) == before
    reordered = FOUR.strip().splitlines()
    again = give(project, "\n".join([reordered[0], *reversed(reordered[1:3]), *reordered[3:]]))
    assert again.out.startswith("Nothing has changed") and everything(project) == before


def test_a_corrected_file_replaces_what_it_brought_before_and_says_so(project):
    give(project, FOUR)
    corrected = FOUR.replace("codex,,,todo,,0,1,,", "codex,,,todo,,1,1,,").replace("codex,,,parse,,0.25,0.75,,\n", "")
    done = give(project, corrected, "--json").json
    assert done["cells"] == {"added": 0, "replaced": 1, "unchanged": 2, "dropped": 1}
    cells = project.orvl("report", "imported:codex", "--by=eval", "--json").json["ratings"]
    assert [(row["eval"], row["R"]) for row in cells] == [("todo", 1.0)]
    said = give(project, FOUR).out
    assert "1 cell of them replaced what results.csv said before." in said
    dropped = give(project, corrected).out
    assert "Deleted 1 run of 1 cell that results.csv does not name any more." in dropped
    assert project.orvl("doctor").status == 0


def test_another_file_does_not_overwrite_it_unless_it_is_told_to(project):
    give(project, FOUR)
    before = everything(project)
    other = "agent,eval,score\ncodex,todo,0.5\n"
    done = give(project, other, file="sub/results.csv")
    assert done.status == 2 and "was imported from results.csv already" in done.err and "--as 'results.csv'" in done.err
    assert everything(project) == before
    assert give(project, other, "--as", "results.csv", file="sub/results.csv").status == 0
    assert set(rows_of(project)) == {"imported:codex"}


def test_gc_drops_them(project):
    give(project, FOUR)
    done = project.orvl("gc", "--runs", "imported:codex", "--yes")
    assert done.status == 0 and "2 runs deleted" in done.out
    assert set(rows_of(project)) == {"imported:opencode"}
    assert give(project, FOUR).out.startswith("Imported 2 runs of 2 cells")


def test_standard_input_and_its_name(project):
    def piped(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
        words = [*project.command, "import", "results", "-", *flags]
        return subprocess.run(
            words, cwd=project.root, env=project.env, input=text, text=True, capture_output=True, check=False
        )

    assert piped('{"agent": "a", "eval": "e", "score": 0.5}\n').returncode == 0
    assert piped('{"agent": "b", "eval": "e", "score": 0.25}\n').returncode == 0
    assert {name: row["imported"] for name, row in rows_of(project).items()} == {
        "imported:a": "standard input",
        "imported:b": "standard input",
    }
    assert piped('{"agent": "c", "eval": "e", "score": 1}\n', "--as", "nightly").returncode == 0
    assert piped('{"agent": "d", "eval": "e", "score": 1}\n', "--as", "nightly").returncode == 0
    assert set(rows_of(project)) == {"imported:a", "imported:b", "imported:d"}
    wrong = piped('{"agent": "a", "eval": "e", "score": 2}\n')
    assert wrong.returncode == 2 and "standard input:1: score is 2" in wrong.stderr


# -- forms


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffagent,eval,scores.a,scores.b\r\nx,e,0.5,1\r\n",
        "agent;eval;scores.a;scores.b\nx;e;0.5;1\n",
        "Agent\tEval\tscores.a\tscores.b\n x \te\t0.5\ttrue\n\n",
        'agent,eval,"scores.a",scores.b\n"x","e","0.5","1e0"',
        'agent,eval,scores\nx,e,"{""a"": 0.5, ""b"": 1}"\n',
        '{"agent": "x", "eval": "e", "scores": {"a": 0.5, "b": true}}\n',
        '\n{"agent": "x", "eval": "e", "scores.a": "0.5", "scores.b": 1, "model": null, "cost": ""}\r\n',
    ],
)
def test_forms_of_one_result(project, text):
    (project.root / "r").write_bytes(text.encode())
    done = project.orvl("import", "results", "r")
    assert done.status == 0, done.err
    (row,) = rows_of(project).values()
    assert row["agent"] == "imported:x" and row["R"] == 0.75
    assert {name: one["mean"] for name, one in row["metrics"].items()} == {"a": 0.5, "b": 1.0}


def test_quoted_newlines_keep_the_line_numbers_right(project):
    text = 'agent,eval,score,note\nx,e,1,"two\nlines"\nx,e,7,""\n'
    done = give(project, text, "--ignore", "note")
    assert done.status == 2 and done.err.startswith("orvl: results.csv:4: score is '7', which is not from 0 to 1.")


def test_scales_and_truth(project):
    assert give(project, "agent,eval,score\nx,e,85\ny,e,false\nz,e,true\n", "--scale", "100").status == 0
    assert {name: row["R"] for name, row in rows_of(project).items()} == {
        "imported:x": 0.85,
        "imported:y": 0.0,
        "imported:z": 1.0,
    }


def test_missing_episodes_are_counted_up_around_those_that_are_there(project):
    give(project, "agent,eval,episode,score\nx,e,2,0.2\nx,e,,0.1\nx,e,,0.3\nx,e,4.0,0.4\nx,e,,0.5\n")
    runs = sorted((row["episode"], row["R"]) for row in exported(project, "runs"))
    assert runs == [(1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), (5, 0.5)]


def test_lines_that_repeat_another_count_once(project):
    done = give(project, "agent,eval,episode,score\nx,e,1,0.2\nx,e,1,0.2\n")
    assert "Imported 1 run" in done.out and "Skipped 1 line that repeated another one." in done.out


# -- mistakes and hostility

WIDE = "agent,eval," + ",".join(f"scores.{i}" for i in range(50_000)) + "\n"
MANY = "\n" + "".join(f'{{"agent": "x", "eval": "e", "scores": {{"m{i}": 1}}}}\n' for i in range(200))
DEEP = '{"agent": "x", "eval": "e", "scores": ' + '{"a": ' * 100_000 + "1" + "}" * 100_000 + "}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "agent,eval,score\nx,e,85\n",
            ":2: score is '85', which is not from 0 to 1. If it is on a scale up to 100: --scale 100",
        ),
        ("agent,eval,score\nx,e,-0.1\n", ":2: score is '-0.1', which is not from 0 to 1."),
        ("agent,eval,score\nx,e,nan\n", ":2: score is 'nan'; it must be a number"),
        ("agent,eval,score\nx,e,inf\n", ":2: score is 'inf'; it must be a number"),
        ("agent,eval,score\nx,e,1_0\n", ":2: score is '1_0'; it must be a number"),
        ("agent;eval;score\nx;e;0,5\n", "Write a point: 0.5."),
        ('{"agent": "x", "eval": "e", "score": NaN}', ":1: score is nan; it must be a number"),
        ('{"agent": "x", "eval": "e", "score": 1e999}', ":1: score is inf; it must be a number"),
        ('{"agent": "x", "eval": "e", "score": [1]}', ":1: score is an object or a list; it must be a number"),
        ('{"agent": "x", "eval": "e", "scores": {"a": {"b": 1}}}', ":1: a is an object or a list; it must be a number"),
        ('{"agent": "x", "eval": "e", "score": 1, "score": 0}', ":1: this is not a JSON object on one line: a key is"),
        ('{"agent": "x", "eval": "e", "score": 1, "scores": {"a": 1}}', "leave one out"),
        ('{"agent": 7, "eval": "e", "score": 1}', ":1: agent is 7; it must be a text."),
        ("[1]", ":1: a JSON list; write one object on each line"),
        ('{"agent": "x"}\n7\n', ":1: there is no eval."),
        ('{"agent": "x", "eval": "e", "score": 1}\n7\n', ":2: a line is an object with agent"),
        ('{"agent": "x", "eval": "e", "score": ' + "1" * 5000 + "}", ":1: "),
        (DEEP, ":1: this is not a JSON object on one line: it is nested too deeply."),
        ("agent,eval,scor\nx,e,1\n", ":1: unknown column 'scor'. Did you mean 'score'?"),
        ("agnet,eval,score\nx,e,1\n", ":1: unknown column 'agnet'. Did you mean 'agent'?"),
        ("agent,eval,zzz9\nx,e,1\n", "A metric is 'scores.zzz9'; to leave it out: --ignore 'zzz9'."),
        ("eval,score\ne,1\n", ":1: there is no column 'agent'"),
        ("agent,eval,score,score\nx,e,1,0\n", ":1: Duplicate column 'score'."),
        (WIDE, ":1: there are more than 100 metrics."),
        (MANY, ":102: there are more than 100 metrics."),
        ("agent,eval,scores.a_b,scores.a-b\nx,e,1,0\n", "'scores.a-b' is given twice."),
        ("agent,eval,score\nx,e\n", ":2: there are 2 values for 3 columns"),
        ("agent,eval,score\n,e,1\n", ":2: there is no agent."),
        ('agent,eval,score\nx,"e,1\n', "this is not CSV"),
        ("agent,eval,score\n", "has no results"),
        ("", "has no results"),
        ("agent,eval,score\n../../x,e,1\n", ":2: agent is named '../../x': it looks like a path or a flag."),
        ("agent,eval,score\n/etc,e,1\n", "it looks like a path or a flag."),
        ("agent,eval,score\na/b,e,1\n", "write '-' instead."),
        (
            "agent,model,eval,score\na,x/../../y,e,1\n",
            ":2: model is named 'x/../../y': it looks like a path or a flag.",
        ),
        ("agent,eval,score\n--yes,e,1\n", "it looks like a path or a flag."),
        ("agent,eval,score\nall,e,1\n", ":2: agent is named 'all': 'all' means all of them."),
        ('agent,eval,score\n"a,b",e,1\n', "a comma separates names there."),
        (
            "agent,eval,score\na\x1b[2Jb,e,1\n",
            ":2: agent is named 'a\\x1b[2Jb': it has control or invisible characters.",
        ),
        ("agent,eval,score\na\u202eb,e,1\n", "it has control or invisible characters."),
        (f"agent,eval,score\n{'a' * 201},e,1\n", "it must have 1 to 200 characters."),
        (f"agent,eval,score\n{'a' * (1 << 21)},e,1\n", ":2: the line is longer than"),
        ("agent,eval,episode,score\nx,e,0,1\n", ":2: episode is '0'; it must be a whole number from 1 up"),
        ("agent,eval,episode,score\nx,e,1.5,1\n", ":2: episode is '1.5'"),
        ("agent,eval,episode,score\nx,e,1e300,1\n", ":2: episode is '1e300'"),
        ("agent,eval,cost,score\nx,e,-1,1\n", ":2: cost is '-1'; it must be a number from 0 up"),
        ("agent,eval,seconds,score\nx,e,1e99,1\n", ":2: seconds is '1e99'"),
        ("agent,eval,episode,score\nx,e,1,0.5\nx,e,2,1\nx,e,1,0.7\n", ":4: episode 1 of x e is on line 2, too"),
    ],
)
def test_mistakes_have_their_line_and_leave_nothing_behind(project, text, said):
    (project.root / "r.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    done = project.orvl("import", "results", "r.csv")
    assert done.status == 2 and "Traceback" not in done.err
    assert said in done.err, done.err
    assert len(done.err) < 500
    assert not (project.root / ".orvl" / "orvl.db").exists()


def test_what_is_no_text_or_no_file(project):
    (project.root / "r.csv").write_bytes("agent,eval,score\nx,e,1\n".encode("utf-16"))
    assert "results are" not in project.orvl("import", "results", "r.csv").out
    assert "r.csv:1: this is not UTF-8 text" in project.orvl("import", "results", "r.csv").err
    assert "Cannot read nowhere.csv" in project.orvl("import", "results", "nowhere.csv").err
    assert "Cannot read ." in project.orvl("import", "results", ".").err


def test_names_of_a_spreadsheet_are_no_formulas_when_they_leave(project):
    give(project, "agent,model,eval,score\nx,=1+1,e,1\n")
    assert "'=1+1" in project.orvl("export", "runs", "-", "--format=csv").out


@pytest.mark.parametrize("evals", [100, pytest.param(1000, marks=pytest.mark.nightly)])
def test_very_many_lines(project, evals):
    lines = ["agent,model,provider,eval,episode,scores.a,scores.b,cost"]
    lines += [
        f"a{a},m,p,e{e},{k},{k / 10},{(a + e) % 11 / 10},0.01"
        for a in range(10)
        for e in range(evals)
        for k in range(1, 11)
    ]
    project.write("big.csv", "\n".join(lines))
    started = time.process_time(), time.monotonic()
    done = project.orvl("import", "results", "big.csv", timeout=120)
    assert done.out.startswith(f"Imported {100 * evals} runs of {10 * evals} cells from big.csv.")
    assert time.monotonic() - started[1] < 60
    rows = rows_of(project)
    expected = sum(sum((k / 10 + e % 11 / 10) / 2 for k in range(1, 11)) / 10 for e in range(evals)) / evals
    assert rows["imported:a0"]["R"] == pytest.approx(expected)

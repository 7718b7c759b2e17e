"""The commands around a run: init, list, doctor, report, show, score, export, gc."""

from __future__ import annotations

import csv
import io
import json
import subprocess

import pyarrow.parquet as pq
import pytest


def test_init_makes_a_project_that_runs_and_keeps_what_is_there(project):
    project.write("agents/my_agent.py", "models = {'none': ['m']}\ndef command(): return 'true'\n")
    made = project.orvl("init")
    assert made.status == 0
    assert "kept  agents/my_agent.py" in made.out
    assert "made  evals/greeting.md" in made.out
    assert project.orvl("doctor").status == 0
    assert (project.root / "orvl.toml").read_text().startswith("#:schema .orvl/orvl.schema.json")
    assert json.loads((project.root / ".orvl/orvl.schema.json").read_text())["properties"]["penalty"]["minimum"] == 0
    assert project.orvl("my-agent", "--eval=greeting").status == 0


def test_list_shows_everything_and_the_mistakes(small):
    small.agent("broken", "models = 3\ndef command(): return 'true'\n")
    listed = small.orvl("list", "--json").json
    agents = {row["name"]: row for row in listed["agents"]}
    assert agents["writer"]["from"] == "project"
    assert agents["dummy-good"]["from"] == "built-in"
    assert "agents/broken.py:1" in agents["broken"]["error"]
    assert {row["name"] for row in listed["evals"]} == {
        *("fix-slugs", "hello-world", "kitchen-converter", "one", "parse-logs", "room-bookings", "sales-report"),
        *("tidy-invoice", "todo-cli"),
    }
    assert {row["name"] for row in listed["metrics"]} == {
        *("checks", "speed", "tokens", "tool-calls", "functionality", "ui", "ux", "readability", "code-quality"),
        *("missing-cases", "bugs", "adherence", "semantic-similarity", "round-trip"),
    }
    assert next(row for row in listed["metrics"] if row["name"] == "tool-calls")["weight"] == 0
    text = small.orvl("list", "agents")
    assert text.status == 0
    assert "agents/broken.py:1" in text.out.replace("\n", "")


def test_doctor_finds_what_is_wrong(small):
    assert small.orvl("doctor").status == 0
    small.agent(
        "absent", 'models = {"none": ["m"]}\nversion = ["no-such-agent", "--version"]\ndef command(): return "x"\n'
    )
    found = small.orvl("doctor")
    assert found.status == 0
    assert "agent absent is not installed: 'no-such-agent' is not in PATH" in found.out
    small.eval("broken", "---\nmetrics: {nope: 1}\n---\nx")
    found = small.orvl("doctor")
    assert found.status == 1
    assert "evals/broken.md" in found.out


def test_report_by_agent_eval_and_run(small):
    small.eval("two", "---\nmetrics: {speed: 1}\n---\nSay bye.")
    assert small.orvl("writer", "--eval=one,two", "--episodes=2").status == 0
    whole = small.orvl("report", "--json").json["ratings"]
    assert [(row["eval"], row["runs"]["rated"]) for row in whole] == [(None, 4)]
    cells = small.orvl("report", "--by", "eval", "--json").json["ratings"]
    assert {row["eval"] for row in cells} == {"one", "two"}
    assert whole[0]["R"] == pytest.approx(sum(row["R"] for row in cells) / 2)
    low, high = whole[0]["interval"]
    assert low <= whole[0]["R"] <= high
    runs = small.orvl("report", "--by", "run", "--json").json["ratings"]
    assert len({row["run"] for row in runs}) == 4
    one = small.orvl("report", "--eval=one", "--by", "run", "--json").json["ratings"]
    assert len(one) == 2
    assert small.orvl("show", one[0]["run"][:12], "--json").json["eval"] == "one"
    wrong = small.orvl("report", "--eval=oen")
    assert wrong.status == 2
    assert "Did you mean 'one'?" in wrong.err


def test_report_shows_only_the_newest_identity(small):
    assert small.orvl("writer", "--eval=one").status == 0
    small.eval("one", "---\nmetrics: {speed: 1}\n---\nSay something else.")
    assert small.orvl("writer", "--eval=one").status == 0
    shown = small.orvl("report", "--json").json
    assert shown["ratings"][0]["runs"]["rated"] == 1
    assert "older" in shown["warnings"][0]
    assert small.rows("SELECT count(*) FROM attempt") == [(2,)]


def test_changed_weights_and_penalty_re_rate_at_once(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "touch a"\n')
    project.score("readable", 'items = ["a", "b"]\n')
    project.score("there", 'def score(run): return 1.0 if "a" in run.files else 0.0\n')
    project.toml('[judges.x]\nanswers = "yes"\n[judges.y]\nanswers = "no"\n')
    project.eval("e", "---\nmetrics: {readable: 1, there: 1}\n---\nx")
    first = project.orvl("mine", "--eval=e", "--json").json["ratings"][0]
    assert (first["R"], first["R_pen"]) == pytest.approx((0.75, 0.75 - 0.5 * 0.5 * 0.25))
    assert first["metrics"]["readable"]["judges"] == {"x": 1.0, "y": 0.0}
    project.eval("e", "---\nmetrics: {readable: 3, there: 1}\n---\nx")
    project.toml('penalty = 0\n[judges.x]\nweight = 3\nanswers = "yes"\n[judges.y]\nanswers = "no"\n')
    again = project.orvl("report", "--by", "eval", "--json").json["ratings"][0]
    assert (again["R"], again["R_pen"]) == pytest.approx((0.75 * 0.75 + 0.25, 0.75 * 0.75 + 0.25))
    plan = project.orvl("mine", "--eval=e", "--dry-run", "--json").json["plan"]
    assert (plan["reused"], plan["scored_again"], plan["to_run"]) == (1, 0, 0)


def test_score_takes_new_samples_and_keeps_the_old(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    project.score(
        "steps", 'from pathlib import Path\ndef score(run): return float((Path(__file__).parent / "n").read_text())\n'
    )
    project.write("scores/n", "0.2")
    project.eval("e", "---\nmetrics: {steps: 1}\n---\nx")
    assert project.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == pytest.approx(0.2)
    project.write("scores/n", "0.6")
    assert project.orvl("score", "mine", "--eval=e", "--json").json["ratings"][0]["R"] == pytest.approx(0.2)
    assert project.orvl("score", "mine", "--eval=e", "--fresh", "--json").json["ratings"][0]["R"] == pytest.approx(0.4)
    assert project.rows("SELECT sample, value FROM score ORDER BY sample") == [(1, 0.2), (2, 0.6)]
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]


def test_score_asks_again_where_nobody_answered(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    project.score(
        "flaky", 'from pathlib import Path\ndef score(run): return float((Path(__file__).parent / "n").read_text())\n'
    )
    project.eval("e", "---\nmetrics: {flaky: 1, speed: 1}\n---\nx")
    broken = project.orvl("mine", "--eval=e", "--json")
    assert broken.status == 1
    assert broken.json["ratings"][0]["missing"] == ["flaky"]
    assert "scores/flaky.py:2: FileNotFoundError" in broken.json["warnings"][0]
    project.write("scores/n", "0.5")
    mended = project.orvl("score", "mine", "--eval=e", "--json")
    assert mended.status == 0
    assert mended.json["ratings"][0]["missing"] == []


def test_export_in_three_forms(small):
    assert small.orvl("writer", "--eval=one", "--episodes=3").status == 0
    for form in ("csv", "jsonl", "parquet"):
        for what in ("runs", "scores"):
            written = small.orvl("export", what, f"{what}.{form}")
            assert (written.status, written.out) == (0, f"3 {what} written to {what}.{form}\n")
    rows = list(csv.DictReader(io.StringIO((small.root / "runs.csv").read_text())))
    lines = [json.loads(line) for line in (small.root / "runs.jsonl").read_text().splitlines()]
    table = pq.read_table(small.root / "runs.parquet").to_pylist()
    assert [row["run"] for row in rows] == [row["run"] for row in lines] == [row["run"] for row in table]
    assert lines == table
    assert table[0]["outcome"] == "finished"
    scores = pq.read_table(small.root / "scores.parquet").to_pylist()
    assert all(0 < row["value"] <= 1 for row in scores)
    assert small.orvl("export", "runs", "-", "--format=jsonl").out.count("\n") == 3
    wrong = small.orvl("export", "runs", "x.txt")
    assert wrong.status == 2
    assert "--format" in wrong.err
    assert small.orvl("export", "runs", "/no/such/folder/x.csv").status == 2


def test_gc_deletes_only_what_nobody_refers_to(small):
    assert small.orvl("writer", "--eval=one").status == 0
    stray = small.root / ".orvl/blobs/ab"
    stray.mkdir(exist_ok=True)
    (stray / "cdef.1234.part").write_text("half")
    (stray / f"{'0' * 62}.zst").write_text("unused")
    assert small.orvl("gc", "--dry-run").out.startswith("2 files")
    assert (stray / "cdef.1234.part").exists()
    assert small.orvl("gc").out.startswith("2 files")
    assert not list(stray.glob("cdef*"))
    assert small.orvl("doctor").status == 0
    assert small.orvl("show", "writer/one/1", "--file", "answer.txt").out == "Say hello."


def test_without_a_store_there_is_a_sentence(project):
    for words in (["report"], ["show", "abc"], ["export", "runs", "x.csv"]):
        result = project.orvl(*words)
        assert result.status == 2
        assert "There is no store" in result.err
        assert "Traceback" not in result.err


def test_show_names_what_is_not_there(small):
    assert small.orvl("writer", "--eval=one").status == 0
    assert "There is no run 'zzz'" in small.orvl("show", "zzz").err
    wrong = small.orvl("show", "writer/one/1", "--file", "answr.txt")
    assert wrong.status == 2
    assert "Did you mean 'answer.txt'?" in wrong.err


def test_a_budget_stops_cleanly_and_says_how_to_go_on(project):
    project.agent(
        "mine",
        """
        models = {"shop": ["m"]}
        def command(): return "true"
        def read(): return {"usage": {"cost_usd": 0.4}}
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    stopped = project.orvl("mine", "--eval=e", "--episodes=10", "--budget=1", "--concurrency=1", "--json")
    assert stopped.status == 3
    assert stopped.json["ratings"][0]["runs"]["rated"] == 3
    assert stopped.json["ratings"][0]["usage"]["cost_usd"] == pytest.approx(1.2)
    assert "To continue: orvl mine all all e --episodes 10" in stopped.err
    cost = project.orvl("mine", "--eval=e", "--episodes=10", "--dry-run", "--json").json["plan"]["cost_usd"]
    assert cost["likely"] == pytest.approx(7 * 0.4)
    rest = project.orvl("mine", "all", "all", "e", "--episodes=10", "--json")
    assert rest.status == 0
    assert rest.json["ratings"][0]["runs"]["rated"] == 10


def test_a_row_that_lacks_an_eval_is_marked_and_stands_below(project):
    project.agent("sound", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    project.agent(
        "lucky", 'models = {"none": ["m"]}\ndef command(prompt): return "true" if prompt == "easy" else 1 / 0\n'
    )
    project.score("half", "def score(run): return 0.5 if run.prompts[0] == 'hard' else 0.9\n")
    project.eval("easy", "---\nmetrics: {half: 1}\n---\neasy")
    project.eval("hard", "---\nmetrics: {half: 1}\n---\nhard")
    assert project.orvl("sound,lucky", "--eval=easy,hard").status == 1
    rows = {row["agent"]: row for row in project.orvl("report", "--json").json["ratings"]}
    assert (rows["sound"]["R"], rows["sound"]["missing"]) == (pytest.approx(0.7), [])
    assert (rows["lucky"]["R"], rows["lucky"]["missing"]) == (pytest.approx(0.9), ["eval hard"])
    table = project.orvl("report").out
    assert table.index("sound m none") < table.index("lucky m none")
    assert "* rated without eval hard" in table


def test_a_version_that_cannot_be_told_is_no_identity(small):
    small.agent(
        "odd",
        'models = {"none": ["m"]}\nversion = ["sh", "-c", "echo boom >&2; exit 3"]\ndef command(): return "true"\n',
    )
    named = small.orvl("odd", "--eval=one")
    assert named.status == 2
    assert "ended with status 3 and said: boom" in named.err
    among = small.orvl("odd,writer*", "--eval=one", "--json")
    assert among.status == 0
    assert "boom" in among.json["warnings"][0]


def test_show_lists_the_runs_that_a_short_name_stands_for(small):
    small.agent("two", 'models = {"none": ["m", "n"]}\ndef command(): return "true"\n')
    assert small.orvl("two", "--eval=one").status == 0
    told = small.orvl("show", "two/one/1")
    assert told.status == 2
    assert "(m none)" in told.err
    assert "(n none)" in told.err
    key = told.err.split(": ")[-1].split(" ")[0]
    assert small.orvl("show", key).status == 0
    assert small.orvl("show", "two/one/²").status == 2


def test_a_store_is_named_from_where_the_user_stands(small, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = small.orvl("writer", "--eval=one", "--project", str(small.root), "--store", "mine", cwd=elsewhere)
    assert done.status == 0
    assert (elsewhere / "mine" / "orvl.db").exists()


def test_the_newest_check_results_are_shown(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "touch a"\n')
    for number in range(6):
        project.eval("e", f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: look{number}, run: test -f a}}]\n---\nx")
        assert project.orvl("mine", "--eval=e").status == 0
        assert f"check look{number}: passed" in project.orvl("show", "mine/e/1").out
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]


def test_a_budget_that_cannot_see_the_cost_says_so(project):
    project.agent("mine", 'models = {"shop": ["m"]}\ndef command(): return "true"\n')
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    result = project.orvl("mine", "--eval=e", "--budget=1", "--json")
    assert result.status == 0
    assert "The cost of mine is unknown" in result.json["warnings"][0]


def test_a_damaged_capture_does_not_keep_other_runs_from_being_checked_again(project):
    project.agent(
        "mine", 'models = {"none": ["m"]}\ndef command(prompt): return ["sh", "-c", \'echo "$0" > f\', prompt]\n'
    )
    for name in ("a", "b", "c"):
        project.eval(name, f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: one, run: test -f f}}]\n---\n{name}")
    assert project.orvl("mine", "--eval=a,b,c").status == 0
    key = project.rows(
        "SELECT tree FROM attempt JOIN run ON run.id = run JOIN cell ON cell.id = cell WHERE eval = 'b'"
    )[0][0]
    (project.root / ".orvl/blobs" / key[:2] / f"{key[2:]}.zst").unlink()
    for name in ("a", "b", "c"):
        project.eval(name, f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: two, run: test -s f}}]\n---\n{name}")
    again = project.orvl("mine", "--eval=a,b,c", "--json")
    assert again.status == 1
    assert {row["eval"]: row["R"] for row in again.json["ratings"]} == {"a": 1.0, "b": None, "c": 1.0}
    assert "mine m none b #1 cannot be checked again" in again.err


def test_runs_that_errored_are_listed_with_their_reason(small):
    small.agent("absent", 'models = {"none": ["m"]}\ndef command(): return "no-such-program"\n')
    assert small.orvl("absent", "--eval=one").status == 2
    row = small.orvl("report", "--by", "run", "--json").json["ratings"][0]
    assert (row["outcome"], row["R"], row["runs"]["errored"]) == ("errored", None, 1)
    assert "no-such-program" in row["reason"]


def test_output_that_cannot_be_shown_or_written_is_no_traceback(small):
    assert small.orvl("writer", "--eval=one").status == 0
    latin = small.orvl("report", env={"PYTHONIOENCODING": "latin-1"})
    assert (latin.status, latin.err) == (0, "")
    for redirect, status in ((">&-", 0), (">/dev/full", 1)):
        command = " ".join(f"'{word}'" for word in small.command) + f" report {redirect}"
        done = subprocess.run(
            ["sh", "-c", command], cwd=small.root, env=small.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr


def test_commands_that_need_a_store_do_not_make_one(project):
    for words in (["gc"], ["score"]):
        assert project.orvl(*words).status == 2
    assert not (project.root / ".orvl").exists()

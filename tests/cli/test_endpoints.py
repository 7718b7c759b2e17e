"""Endpoints: what providers made of the same model, told from stored calls, and a run's calls one by one."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from orvl.rate.stats.shares import median, quantile_interval, wilson_interval
from orvl.store.sqlite import SqliteStore
from orvl.testing import Answer, Fault, ModelServer, Tokens, ToolCall
from orvl.types import Agent, Attempt, CallIssue, Cell, Eval, ModelCall, PlannedRun, Usage

TOOL = {"unknown tool": "'rm' is none of the agent's tools (write)", "invalid JSON": "write: {", "off the schema": "x"}


def good(number, **more):
    """A call that went well."""
    fields = {
        "status": 200,
        "seconds": 2.0,
        "served_model": "qwen3-coder",
        "input_tokens": 1000,
        "cached_tokens": 250,
        "cache_write_tokens": 0,
        "output_tokens": 100,
        "reasoning_tokens": 0,
        "cost_usd": 0.01,
        "cost_source": "metered",
        "tool_calls": 1,
    }
    return ModelCall(number, 1, "openai", "qwen3-coder", 0.0, **{**fields, **more})


def failed(number, status, trouble, **more):
    return ModelCall(number, 1, "openai", "qwen3-coder", 0.0, status=status, trouble=trouble, **more)


def cell(agent="pi", model="qwen3-coder", provider="zen", one="e"):
    made = Agent(agent, Path("a.py"), "project", "d", "", {}, command=print)
    what = Eval(one, Path("e.md"), "project", "d", "s", "c", "", ("Go.",))
    return Cell(f"{agent} {model} {provider} {one}", made, "1", provider, model, model, what)


@pytest.fixture
def kept(project):
    """Puts attempts with made-up calls into the project's store, each a run of its own or a further try of one."""
    episodes = {}

    def keep(where, *calls, episode=None, **fields):
        episodes[where.key] = episode or episodes.get(where.key, 0) + 1
        planned = PlannedRun(f"{where.key}-{episodes[where.key]}", where, episodes[where.key])
        made = replace(Attempt("finished", None, time.time(), Usage(1.0), calls=calls), **fields)
        with SqliteStore(project.root / ".orvl", write=True) as store:
            store.transaction([lambda s: s.add_attempt(planned, s.add_cell(where), s.add_call([], 1), made, "k")])
        return planned.key

    return keep


def endpoints(project, *words):
    shown = project.orvl("endpoints", *words, "--json")
    assert shown.status == 0, shown.err
    return shown.json


# -- numbers


def test_wilson_is_what_the_books_say():
    assert wilson_interval(0, 0) is None
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(10, 10) == pytest.approx((0.7225, 1), abs=1e-4)
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)


def test_the_interval_of_a_median_lies_between_two_values():
    """The ranks are those of the binomial table."""
    assert quantile_interval(range(1, 6)) is None
    assert quantile_interval([]) is None
    assert quantile_interval(range(1, 7)) == (1, 6)
    assert quantile_interval(range(1, 11)) == (2, 9)
    assert quantile_interval(range(1, 101)) == (40, 61)
    assert quantile_interval(range(1, 1001)) == (469, 532)
    assert quantile_interval(range(1, 1003)) == (470, 533)
    assert quantile_interval(range(1, 101), 0.9) == (84, 96)
    assert (median([]), median([3]), median([1, 2, 4, 9])) == (None, 3, 3)


def test_the_interval_of_a_median_holds_as_often_as_it_says():
    from random import Random

    random = Random(7)
    hits = 0
    for _ in range(2000):
        interval = quantile_interval(sorted(random.expovariate(1) for _ in range(25)))
        hits += interval[0] <= 0.6931 <= interval[1]
    assert 0.94 <= hits / 2000 <= 0.98


# -- counting


def test_every_number_is_counted(project, kept):
    calls = [good(n, stream=True, first_token=0.1 * n, reasoning_given=True) for n in range(1, 7)]
    bad = [CallIssue(kind, detail) for kind, detail in TOOL.items()]
    kept(cell(), *calls)
    kept(
        cell(),
        good(1, tool_calls=4, findings=tuple(bad), reasoning_back=False),
        good(2, findings=(CallIssue("empty", "nothing"),), tool_calls=0, reasoning_back=True),
        good(3, findings=(CallIssue("cut off", "length"), bad[0]), tries=3, waited=1.5),
        good(4, findings=(CallIssue("refusal", "no"), CallIssue("no usage", "-")), output_tokens=None, cost_usd=None),
        good(5, served_model="llama", findings=(CallIssue("another model", "llama answered"),), host="Together"),
        good(6, host="Fireworks", cost_source="provider"),
        failed(7, 429, "429 slow down"),
        failed(8, None, "it cannot be reached", tool_calls=2),
        failed(9, 200, "the stream was cut", tool_calls=3),
        failed(10, 400, None),
        failed(11, None, None, left=True),
        failed(12, 200, None, tool_calls=1, left=True),
    )
    (row,) = endpoints(project)["endpoints"]
    assert (row["model"], row["provider"], row["agents"]) == ("qwen3-coder", "zen", ["pi"])
    assert (row["runs"], row["calls"], row["answered"], row["left"], row["retries"]) == (2, 18, 12, 2, 2)
    assert row["waited_seconds"] == 1.5
    assert (row["failed"]["count"], row["failed"]["of"]) == (4, 16)
    assert row["failed"]["interval"] == pytest.approx(wilson_interval(4, 16))
    assert row["failed"]["kinds"] == {"status 429": 1, "no answer": 1, "broken off": 1, "status 400": 1}
    assert row["tool_calls"] == 6 + 4 + 1 + 1 + 1 + 1
    form = row["well_formed"]
    assert (form["count"], form["of"]) == (10, 14)
    assert (form["unknown tool"], form["invalid JSON"], form["off the schema"]) == (2, 1, 1)
    assert [row[name]["count"] for name in ("empty", "cut_off", "refused")] == [1, 1, 1]
    assert row["refused"]["of"] == 12
    assert (row["no_usage"], row["unreadable"]) == (1, 0)
    assert (row["another_model"]["count"], row["another_model"]["of"]) == (1, 12)
    assert row["another_model"]["models"] == {"llama": 1}
    assert row["served_models"] == {"qwen3-coder": 11, "llama": 1}
    assert row["hosts"] == {"Together": 1, "Fireworks": 1}
    assert row["reasoning"] == {"given": 6, "passed_back": 1, "lost": 1}
    assert row["cached_share"] == 0.25
    assert row["first_token_seconds"]["median"] == pytest.approx(0.35)
    assert row["first_token_seconds"]["interval"] == pytest.approx([0.1, 0.6])
    assert row["tokens_per_second"]["median"] == pytest.approx((100 / 1.7 + 100 / 1.6) / 2)
    assert row["tokens_per_second"]["of"] == 6
    usage = row["usage"]
    assert (usage["output_tokens"], usage["uncounted_calls"]) == (1100, 3)
    assert (usage["cost_usd"], usage["unpriced_calls"]) == (pytest.approx(0.11), 3)
    assert usage["cost_sources"] == ["metered", "provider"]


def test_the_json_page_has_the_real_keys(project, kept):
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    shown = next(
        json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if '"endpoints"' in text
    )
    kept(cell(), good(1), failed(2, 429, "429 slow down"))
    real = endpoints(project)

    def keys(value):
        named = ("kinds", "models", "served_models", "hosts")
        return (
            {key: None if key in named else keys(one) for key, one in value.items()} if isinstance(value, dict) else 0
        )

    assert shown.keys() == real.keys()
    assert keys(shown["endpoints"][0]) == keys(real["endpoints"][0])
    assert shown["failing"][0].keys() == real["failing"][0].keys()


def test_unknown_is_not_zero(project, kept):
    kept(cell(), failed(1, 500, "500 broken"))
    (row,) = endpoints(project)["endpoints"]
    for name in ("well_formed", "empty", "another_model"):
        assert (row[name]["of"], row[name]["share"], row[name]["interval"]) == (0, None, None)
    assert row["cached_share"] is None
    assert row["first_token_seconds"] == {"median": None, "interval": None, "of": 0}
    assert {row["usage"][name] for name in ("input_tokens", "output_tokens", "cost_usd")} == {None}
    line = next(line for line in project.orvl("endpoints").out.splitlines() if line.startswith(" qwen3-coder zen"))
    assert line.split() == ["qwen3-coder", "zen", "1", "1", "–", "–", "1:", "100", "%", "[21,", "100]", "–", "–", "–"]


def test_reasoning_that_is_not_streamed_and_bursts_have_no_part_in_the_rate(project, kept):
    kept(
        cell(),
        good(1, stream=True, first_token=1.0, output_tokens=1100, reasoning_tokens=1000),
        good(2, stream=True, first_token=1.0, output_tokens=300, reasoning_tokens=200, reasoning_given=True),
        good(3, stream=True, first_token=1.99, output_tokens=500),
        good(4, first_token=None),
    )
    (row,) = endpoints(project)["endpoints"]
    assert row["tokens_per_second"] == {"median": pytest.approx(200), "interval": None, "of": 2}
    assert row["first_token_seconds"]["of"] == 3


def test_words_choose_and_rows_of_one_model_stand_together(project, kept):
    for agent, model, provider, one in (
        ("pi", "b", "zen", "e"),
        ("pi", "a", "groq", "e"),
        ("codex", "b", "groq", "e"),
        ("pi", "a", "zen", "f"),
    ):
        kept(cell(agent, model, provider, one), good(1, served_model=model))
    kept(cell("silent", "a", "none"))

    def rows(*words):
        return [(row["model"], row["provider"]) for row in endpoints(project, *words)["endpoints"]]

    assert rows() == [("a", "groq"), ("a", "zen"), ("b", "groq"), ("b", "zen")]
    assert rows("pi", "b") == [("b", "zen")]
    assert rows("--provider=g*") == [("a", "groq"), ("b", "groq")]
    assert rows("all", "all", "all", "f") == [("a", "zen")]
    wrong = project.orvl("endpoints", "pii")
    assert wrong.status == 2
    assert "Did you mean 'pi'?" in wrong.err
    assert "no metric" in project.orvl("endpoints", "--metric=speed").err
    nothing = project.orvl("endpoints", "silent")
    assert nothing.status == 0
    assert "No stored model call matches these words" in nothing.out


def test_a_call_for_another_model_counts_for_that_model(project, kept):
    aside = CallIssue("agent asked for another model", "haiku instead of qwen3-coder")
    small = good(1, findings=(aside,), served_model="haiku", output_tokens=7)
    kept(cell(), replace(small, asked_model="haiku"), good(2))
    kept(cell(model="haiku"), good(1, served_model="haiku"))
    kept(cell(provider="groq"), replace(small, asked_model="small", findings=(aside, CallIssue("empty", "-"))), good(2))
    shown = endpoints(project)
    rows = {(row["model"], row["provider"]): row for row in shown["endpoints"]}
    assert {key: row["calls"] for key, row in rows.items()} == {
        ("haiku", "zen"): 2,
        ("qwen3-coder", "groq"): 1,
        ("qwen3-coder", "zen"): 1,
        ("small", "groq"): 1,
    }
    assert rows["haiku", "zen"]["usage"]["output_tokens"] == 107
    assert [(one["model"], one["kind"]) for one in shown["failing"]] == [("small", "empty")]
    assert any("pi asked zen for haiku in 1 call of runs with qwen3-coder" in one for one in shown["warnings"])


# -- differences


def sloppy(of, wrong):
    return [good(n, findings=(CallIssue("invalid JSON", "x"),) if n <= wrong else ()) for n in range(1, of + 1)]


def test_a_clear_difference_is_a_sentence(project, kept):
    kept(cell(provider="groq"), *sloppy(80, 22))
    kept(cell(provider="zen"), *sloppy(90, 0))
    kept(cell(provider="near"), *sloppy(90, 2))
    assert endpoints(project)["differences"] == [
        "groq and zen differ on qwen3-coder: well-formed tool calls 72 % [62, 81] of 80 against 100 % [96, 100] of 90."
    ]
    text = project.orvl("endpoints", env={"COLUMNS": "160"}).out
    assert "groq and zen differ on qwen3-coder: well-formed tool calls 72 % [62, 81] of 80" in text
    kept(cell("codex", provider="groq"), good(1))
    assert "Different agents and evals called them" in endpoints(project)["differences"][0]
    assert "Not the same" not in endpoints(project, "pi")["differences"][0]


def test_few_calls_are_no_difference_but_a_mismatch_is(project, kept):
    kept(cell(provider="groq"), *sloppy(3, 1))
    kept(cell(provider="zen"), *sloppy(3, 0))
    assert endpoints(project)["differences"] == []
    kept(cell(provider="groq"), good(1, served_model="llama", findings=(CallIssue("another model", "llama answered"),)))
    shown = endpoints(project)
    assert len(shown["differences"]) == 1
    assert "groq and zen differ on qwen3-coder: answers of another model 25 %" in shown["differences"][0]
    assert "groq, qwen3-coder: another model answered in 1 of 4 calls: llama (1)." in shown["warnings"]


def test_what_a_host_says_of_itself_cannot_draw_on_the_terminal(project, kept):
    name = "llama\n! zen, qwen3-coder: all is well\x1b[2J\u202e"
    key = kept(
        cell(), good(1, served_model=name, host=name, findings=(CallIssue("another model", f"{name} answered"),))
    )
    for words in (["endpoints", "-v"], ["show", key], ["show", key, "--calls"], ["show", key, "--call", "1"]):
        shown = project.orvl(*words).out
        assert "all is well" in shown
        assert not any(line.startswith("! zen, qwen3-coder: all") for line in shown.splitlines())
        assert not set("\x1b\u202e") & set(shown)


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 160])
def test_tables_fit_and_say_everything(project, kept, columns):
    kept(cell(provider="groq", model="a-model-with-a-very-long-name-of-its-own"), *sloppy(80, 22))
    kept(cell(provider="zen"), *(replace(call, tries=2, host=str(call.number % 3)) for call in sloppy(90, 3)))
    shown = project.orvl("endpoints", env={"COLUMNS": str(columns)})
    assert max(map(len, shown.out.splitlines())) <= columns
    for heading in ("runs", "calls", "retries", "well-formed tool", "first token", "cached", "tokens", "cost"):
        assert re.search(rf"  {heading}( |$)", shown.out, re.MULTILINE), heading
    assert "72 % [62, 81] of 80" in shown.out
    assert "a pool of 3 hosts" in shown.out
    assert "empty, cut off, refused" in shown.out
    assert "…" not in shown.out
    assert "List them with: -v" in shown.out


# -- failing calls, and one run's


def test_failing_calls_are_named_with_the_command_that_shows_them(project, kept):
    first = kept(cell(), failed(1, 503, "503 over \x1b[31mload"), outcome="errored", reason="provider", retry=True)
    kept(cell(), good(1), good(2, findings=(CallIssue("empty", "nothing"),)), episode=1)
    shown = endpoints(project)["failing"]
    assert [(one["run"], one["attempt"], one["call"], one["kind"], one["detail"]) for one in shown] == [
        (first, 1, 1, "status 503", "503 over \x1b[31mload"),
        (first, 2, 2, "empty", "nothing"),
    ]
    assert "went wrong in 2 calls" in project.orvl("endpoints").out
    listed = project.orvl("endpoints", "-v").out
    assert "\x1b" not in listed
    commands = re.findall(r"orvl (show .* --call \d+)  pi: ", listed)
    assert len(commands) == 2
    key = first[:12]
    assert [one["command"] for one in shown] == [f"orvl show {key} --attempt 1 --call 1", f"orvl show {key} --call 2"]
    seen = project.orvl("show", first, "--attempt", "1", "--call", "1")
    assert seen.status == 0
    assert "status: 503" in seen.out
    assert "503 over \\x1b[31mload" in seen.out
    assert "status: 200" in project.orvl("show", first, "--call", "2").out


def test_show_has_the_calls_of_a_run(project, kept):
    key = kept(
        cell(),
        good(1, stream=True, first_token=0.5, cache_write_tokens=40, reasoning_tokens=9, host="Together"),
        good(2, findings=(CallIssue("another model", "llama answered instead of qwen3-coder"),), host="Fireworks"),
        failed(3, 429, "429 slow down", tries=4, waited=3.2),
        failed(4, 200, None, left=True),
        usage=Usage(1.0, 2000, 500, 200, 2, 0.02, "metered"),
        told=Usage(1.0, 1500, 500, 200, None, 0.5, "agent"),
    )
    text = project.orvl("show", key).out
    assert "model calls: 4, 1 failed, 1 abandoned by the agent, 3 retries, delayed 3.2 s by rate limits" in text
    words = " ".join(text.split())
    assert "tokens 2,000 in (500 cached, 40 written to the cache), 200 out (9 of reasoning)" in words
    assert "plus 1 response without usage" in words
    assert "cost $0.0200 (metered)" in text
    assert "first token after 0.50 s (median of 1 stream)" in text
    assert "! several hosts answered: Fireworks, Together" in text
    assert "! call 2: another model: llama answered instead of qwen3-coder" in text
    assert "! call 3: status 429: 429 slow down" in text
    own = "input tokens 1,500 (gateway: 2,000), cost $0.5000 (gateway: $0.0200)"
    assert f"the agent's own figures differ: {own}" in words
    lines = project.orvl("show", key, "--calls").out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("#1, turn 1, openai, qwen3-coder, answered, 2.0 s, first token 0.50 s, tokens 1,000 in")
    assert lines[1].endswith("at Fireworks ! another model")
    assert "status 429" in lines[2]
    assert "abandoned by the agent" in lines[3]
    told = project.orvl("show", key, "--json").json["attempts"][0]["calls"]
    assert [call["number"] for call in told] == [1, 2, 3, 4]
    assert told[1]["findings"][0]["kind"] == "another model"
    wrong = project.orvl("show", key, "--call", "9")
    assert wrong.status == 2
    assert "There is no call 9: there are calls 1 to 4" in wrong.err
    assert "There is no attempt 2" in project.orvl("show", key, "--attempt", "2").err
    quiet = kept(cell("silent"))
    assert "model calls" not in project.orvl("show", quiet).out
    assert "made no model calls" in project.orvl("show", quiet, "--calls").out


# -- end to end

AGENT = '''
    """Asks its model twice, and prints nothing."""

    protocol = "openai"
    models = {"neat": ["twin"], "sloppy": ["twin"]}


    def command(endpoint, model):
        return ["/usr/bin/python3", "-c", ASK, endpoint.url, endpoint.key, model]


    ASK = """
    import json, sys, urllib.request
    url, key, model = sys.argv[1:]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [{"type": "function", "function": {"name": "write", "parameters": schema}}]
    for stream in (True, True, True, True, False, False):
        body = {"model": model, "messages": [{"role": "user", "content": "Go."}], "tools": tools, "stream": stream}
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), headers)
        urllib.request.urlopen(request).read()
    """
'''


def test_two_providers_of_one_model_are_told_apart(project):
    project.agent("asker", AGENT)
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    neat = [Answer(tool_calls=[ToolCall("write", {"path": "a"})], tokens=Tokens(1000, 400, output=50))] * 60
    wrong = [
        Answer(tool_calls=[ToolCall("wriite", {"path": "a"})], first_byte=0.3),
        Answer(tool_calls=[ToolCall("write", '{"path": ')], first_byte=0.3),
        Answer(tool_calls=[ToolCall("write", {"path": 3})], first_byte=0.3),
        Answer("Hello.", model="other-1b", first_byte=0.3),
        Answer(""),
        Answer("This is too lo", finish="length"),
    ] * 10
    with ModelServer(neat) as good_one, ModelServer(wrong) as bad_one:
        project.toml(
            f"""
            [providers.neat]
            base_url = "{good_one.base_url("openai")}"
            free = true
            [providers.sloppy]
            base_url = "{bad_one.base_url("openai")}"
            free = true
            """
        )
        ran = project.orvl("asker", "--eval=one", "--episodes=4", "--concurrency=1", "--json")
        assert ran.status == 0, ran.err
    shown = endpoints(project)
    neat_row, sloppy_row = shown["endpoints"]
    assert (neat_row["provider"], sloppy_row["provider"]) == ("neat", "sloppy")
    assert (neat_row["runs"], neat_row["calls"], neat_row["tool_calls"]) == (4, 24, 24)
    assert (neat_row["well_formed"]["count"], neat_row["cached_share"]) == (24, 0.4)
    form = sloppy_row["well_formed"]
    assert (form["count"], form["of"]) == (0, 12)
    assert (form["unknown tool"], form["invalid JSON"], form["off the schema"]) == (4, 4, 4)
    assert (sloppy_row["empty"]["count"], sloppy_row["cut_off"]["count"]) == (4, 4)
    assert sloppy_row["another_model"]["models"] == {"other-1b": 4}
    assert neat_row["first_token_seconds"]["median"] < 0.3 <= sloppy_row["first_token_seconds"]["interval"][0]
    (sentence,) = shown["differences"]
    assert sentence.startswith("sloppy and neat differ on twin: well-formed tool calls 0 % [0, 24] of 12 against 100 %")
    assert "answers of another model 17 %" in sentence
    assert {one["provider"] for one in shown["failing"]} == {"sloppy"}
    assert len(shown["failing"]) == 24
    broken = next(one for one in shown["failing"] if one["kind"] == "invalid JSON")
    one_call = project.orvl(*broken["command"].split()[1:])
    assert one_call.status == 0
    asked, answered = one_call.out.split("\nresponse, assembled from the stream:\n")
    assert '"name": "write"' in asked
    together, raw = answered.split("\nresponse (text/event-stream")
    assert json.loads(together)["tool_calls"] == [{"name": "write", "arguments": '{"path": '}]
    assert "data: [DONE]" in raw
    whole = next(one for one in shown["failing"] if one["kind"] == "cut off")
    kept_call = project.orvl(*whole["command"].split()[1:], "--json").json["call"]
    assert json.loads(kept_call["answered"])["choices"][0]["message"]["content"] == "This is too lo"
    assert "! call 4: another model: other-1b answered instead of twin" in project.orvl("show", broken["run"]).out


def test_a_failing_provider_is_counted_though_its_runs_are_errored(project):
    project.agent("asker", AGENT)
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    with ModelServer([Fault(401, "No such key.")] * 50) as server:
        project.toml(f'[providers.sloppy]\nbase_url = "{server.base_url("openai")}"\nfree = true\n')
        project.orvl("asker", "twin", "sloppy", "one")
    (row,) = endpoints(project)["endpoints"]
    assert row["failed"]["kinds"] == {"status 401": row["calls"]}
    assert row["answered"] == 0

"""A budget and models whose price nobody knows: refused with the fix, or called and left out, as the user says."""

from __future__ import annotations

from orvl.testing import Answer, ModelServer, Tokens

ASK = """
import json, sys, urllib.request

url, key, model = sys.argv[1:]
body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hi"}]}).encode()
request = urllib.request.Request(url + "/chat/completions", body, {"Authorization": "Bearer " + key})
print(urllib.request.urlopen(request).read().decode())
"""
AGENT = """
from pathlib import Path

protocol = "openai"
models = {"host": ["m", "n"]}

def command(prompt, endpoint, model):
    return ["python3", Path(__file__).parent.parent / "tool" / "ask.py", endpoint.url, endpoint.key, model]
"""
JUDGED = """
---
metrics: {neat: 1}
---
Say hello.
"""


def prepared(project, server: ModelServer, prices: str = "", judge: bool = False) -> None:
    project.write("tool/ask.py", ASK)
    project.agent("asker", AGENT)
    project.eval("one", JUDGED if judge else "---\nmetrics: {speed: 1}\n---\nSay hello.\n")
    project.score("neat", '"""Is it neat?"""\nitems = ["It is neat."]\n')
    judges = '[judges.strict]\nmodel = "j"\nprovider = "host"\n' if judge else ""
    project.toml(
        f'{judges}[providers.host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nkey = ""\n{prices}\n'
    )


def test_a_budget_refuses_models_without_a_price_and_says_what_to_do(project):
    with ModelServer() as server:
        prepared(project, server, "prices = {n = {input = 1, output = 1}}")
        done = project.orvl("asker", "--eval=one", "--budget=1")
        assert done.status == 2 and done.out == "" and server.requests == []
    said = done.err.strip()
    assert said.startswith("orvl: --budget cannot count m at host: no price is known.") and "n at host" not in said
    assert "[providers.host]" in said and "--allow-unpriced" in said and "\n" not in said
    assert not (project.root / ".orvl" / "orvl.db").exists() or project.rows("SELECT count(*) FROM attempt") == [(0,)]


def test_it_refuses_judges_without_a_price_too(project):
    with ModelServer() as server:
        prepared(project, server, "prices = {m = {input = 1, output = 1}, n = {input = 1, output = 1}}", judge=True)
        for more in ((), ("--dry-run",)):
            done = project.orvl("asker", "--eval=one", "--budget=1", *more)
            assert done.status == 2 and "cannot count j at host" in done.err and server.requests == []


def test_a_dry_run_refuses_what_the_run_would(project):
    with ModelServer() as server:
        prepared(project, server, "prices = {n = {input = 1, output = 1}}")
        run, dry = (project.orvl("asker", "--eval=one", "--budget=1", *more) for more in ((), ("--dry-run",)))
        assert dry.status == run.status == 2 and dry.err == run.err and dry.out == ""
        assert project.orvl("asker", "--eval=one", "--budget=1", "--allow-unpriced", "--dry-run").status == 0
        assert project.orvl("asker", "--eval=one", "--dry-run").status == 0


def test_such_models_may_be_allowed_and_are_then_not_counted(project):
    with ModelServer(lambda _: Answer("Hi", tokens=Tokens(input=10, output=10))) as server:
        prepared(project, server)
        words = ("asker", "--eval=one", "--budget=1", "--allow-unpriced", "--json")
        done = project.orvl(*words)
        assert done.status == 0, done.err
        assert len(server.requests) == 2
    assert {row["usage"]["cost_usd"] for row in done.json["ratings"]} == {None}, "unknown is not nothing"
    assert any("The cost of asker is unknown" in one for one in done.json["warnings"])


def test_without_a_budget_a_price_is_not_asked_for(project):
    with ModelServer() as server:
        prepared(project, server)
        assert project.orvl("asker", "--eval=one").status == 0


def test_what_is_done_needs_no_price(project):
    with ModelServer() as server:
        prepared(project, server)
        assert project.orvl("asker", "--eval=one").status == 0
        again = project.orvl("asker", "--eval=one", "--budget=1")
        assert again.status == 0, again.err


def test_scoring_again_heeds_it(project):
    with ModelServer() as server:
        prepared(project, server, judge=True)
        project.orvl("asker", "--eval=one")
        asked = len(server.requests)
        refused = project.orvl("score", "--fresh", "--budget=1")
        assert refused.status == 2 and "cannot count j at host" in refused.err and len(server.requests) == asked
        allowed = project.orvl("score", "--fresh", "--budget=1", "--allow-unpriced")
        assert allowed.status in (0, 1) and len(server.requests) > asked


def test_a_cost_that_nobody_knows_is_not_rated(project):
    with ModelServer(lambda _: Answer("Hi", tokens=Tokens(input=10, output=10))) as server:
        prepared(project, server)
        project.eval("one", "---\nmetrics: {cost: 1, speed: 1}\n---\nSay hello.\n")
        done = project.orvl("asker", "m", "--json")
    (row,) = done.json["ratings"]
    assert row["missing"] == ["cost"] and row["metrics"]["cost"]["mean"] is None
    assert row["R"] == row["metrics"]["speed"]["mean"], "it is neither 0 nor 1"

"""Agents that try to dodge their account beside honest ones, against a server that keeps its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import helpers
from orvl.testing import Answer, ModelServer, Tokens, ToolCall

TRICKS = (
    *("nested", "quitter", "suicide", "early", "stranger", "bomb", "twice", "silent", "pipelined", "flood"),
    "parallel",
)
AGENT = """
from pathlib import Path

protocol = "openai"
models = {{"host": ["m"]}}

def command(prompt, endpoint):
    return ["python3", Path(__file__).parent.parent / "dodger.py", endpoint.url, endpoint.key, "{name}"]
"""
PRICE = 10_000 / 1_000_000
LARGEST_CALL = (400 + 60) * PRICE
"""About what a call of these agents is reserved for: its bytes, and the output that it allows."""


class Accounts:
    """What the server itself counts, by the agent that it serves."""

    def __init__(self) -> None:
        self.input: Counter[str] = Counter()
        self.output: Counter[str] = Counter()

    def answer(self, request) -> Answer:
        name = request.headers.get("x-agent", "orvl")
        tokens = Tokens(input=40 + len(name), output=20 + 20 * request.body.get("n", 1))
        self.input[name] += tokens.input
        self.output[name] += tokens.output
        tools = [ToolCall("t", {"a": 1})] if request.body.get("tools") else []
        return Answer("Hello there.", tool_calls=tools, tokens=tokens, first_byte=0.3, between=0.05, pieces=8)

    @property
    def cost(self) -> float:
        return (self.input.total() + self.output.total()) * PRICE


def prepared(project, server: ModelServer, names: list[str]) -> None:
    script = Path(helpers.__file__).parent / "dodger.py"
    project.write("dodger.py", script.read_text())
    for name in names:
        project.agent(name, AGENT.format(name=name))
    project.eval("one", "---\nmetrics: {speed: 1}\nlimits: {turn: 60}\n---\nSay hello.\n")
    project.toml(
        f"""
        [providers.host]
        protocol = "openai"
        base_url = "{server.base_url("openai")}"
        concurrency = 8
        prices = {{m = {{input = 10000, output = 10000}}, big = {{input = 90000, output = 90000}}}}
        """
    )


def counted(project) -> dict[str, tuple[int, int, float, bool]]:
    """What orvl has counted, over all attempts."""
    rows = project.rows(
        "SELECT agent, sum(m.input_tokens), sum(m.output_tokens), sum(m.cost_usd), max(m.is_bound) FROM model_call m "
        "JOIN attempt ON attempt.id = m.attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell "
        "GROUP BY agent"
    )
    return {agent: (into, out, cost, bool(is_bound)) for agent, into, out, cost, is_bound in rows}


def check(project, tricks: tuple[str, ...], *, episodes: int = 1) -> None:
    accounts = Accounts()
    honest = [f"honest-{number}" for number in range(len(tricks))]
    with ModelServer(accounts.answer) as server:
        prepared(project, server, [*tricks, *honest])
        how = ("--eval=one", "--json", "--concurrency=6", f"--episodes={episodes}")
        alone = project.orvl(f"--agent={','.join(honest)}", *how, "--store=alone", timeout=300)
        assert alone.status == 0, alone.err
        accounts.input.clear()
        accounts.output.clear()
        done = project.orvl(f"--agent={','.join([*tricks, *honest])}", *how, timeout=300)
    rows, before = ({row["agent"]: row for row in one.json["ratings"]} for one in (done, alone))
    for name in honest:
        assert rows[name]["runs"]["rated"] == episodes, rows[name]
        assert rows[name]["usage"]["seconds"] <= 2 * before[name]["usage"]["seconds"], name
        assert "is_bound" not in rows[name]["usage"]
    calls = counted(project)
    for name in (*tricks, *honest):
        into, out, cost, is_bound = calls.get(name, (0, 0, 0.0, False))
        own = accounts.input[name], accounts.output[name]
        if is_bound:
            assert into >= own[0] and out >= own[1], name
        else:
            assert (into, out) == own and cost == pytest.approx(sum(own) * PRICE), name
    assert sum(calls[name][3] for name in calls) <= 1, "what can be read to its end is counted exactly"
    assert sum(own["runs"]["failed"] + own["runs"]["rated"] for own in rows.values()) >= len(rows) * episodes
    assert not accounts.input["orvl"], "nobody was in doubt about the provider"


def test_what_orvl_counts_is_what_the_server_counts(project):
    check(project, TRICKS[:6])


@pytest.mark.nightly
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_what_orvl_counts_of_all_tricks_is_what_the_server_counts(project, sandbox):
    project.sandbox = sandbox
    check(project, TRICKS, episodes=2)


def test_a_budget_holds_for_those_who_dodge(project):
    accounts = Accounts()
    tricks = ("quitter", "early", "parallel", "honest-1")
    with ModelServer(accounts.answer) as server:
        prepared(project, server, list(tricks))
        words = (f"--agent={','.join(tricks)}", "--eval=one", "--json", "--budget=6", "--concurrency=4")
        done = project.orvl(*words, timeout=200)
    assert done.status in (0, 3), done.err
    assert accounts.cost <= 6 + LARGEST_CALL


@pytest.mark.parametrize("allowed", [False, True])
def test_another_model_is_called_only_where_that_is_allowed_and_then_marked(project, allowed):
    accounts = Accounts()
    with ModelServer(accounts.answer) as server:
        prepared(project, server, ["stranger"])
        if allowed:
            with (project.root / "orvl.toml").open("a") as file:
                file.write("\n[agents.stranger]\nother_models = true\n")
        done = project.orvl("stranger", "--eval=one", "--json", timeout=200)
        asked = {request.model for request in server.requests}
    assert asked == ({"big", "M", "m-405b", "m:online", "host/m", "m"} if allowed else {"m"})
    marked = [one for one in done.json["warnings"] if "called another model than its own" in one]
    shown = project.orvl("show", "stranger/one/1").out
    assert bool(marked) is allowed
    assert ("agent asked for another model: big instead of m" in shown) is allowed
    assert ("5 requests of the agent refused: another model" in shown) is not allowed
    into, out, *_ = counted(project)["stranger"]
    assert (into, out) == (accounts.input["stranger"], accounts.output["stranger"])

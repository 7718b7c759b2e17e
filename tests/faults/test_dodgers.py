"""Agents that try to dodge their account beside honest ones, against a server that keeps its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import helpers
from orvl.gateway.wire import FORMATS
from orvl.testing import Answer, ModelServer, Tokens, ToolCall

TRICKS = {
    "nested": "openai",
    "quitter": "responses",
    "suicide": "anthropic",
    "early": "openai",
    "stranger": "openai",
    "bomb": "openai",
    "twice": "openai",
    "smuggler": "openai",
    "elsewhere": "anthropic",
    "parallel": "gemini",
}
SLOW_TRICKS = {"silent": "openai", "flood": "openai", "leftover": "responses", "hundreds": "openai"}
HONEST = {f"honest-{number}": list(FORMATS)[number % len(FORMATS)] for number in range(10)}
AGENT = """
from pathlib import Path

protocol = "{protocol}"
models = {{"host": ["m"]}}

def command(prompt, endpoint):
    script = Path(__file__).parent.parent / "dodger.py"
    return ["python3", script, endpoint.url, endpoint.key, "{name}", "{protocol}"]
"""
PRICE = 10_000 / 1_000_000
FLOOR = 3.0
"""Seconds: what takes less is measured by the machine's noise."""


class Accounts:
    """What the server itself counts, by the agent that it serves: each call that it begins to answer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.begin()

    def begin(self) -> None:
        self.input: Counter[str] = Counter()
        self.output: Counter[str] = Counter()
        self.calls: list[float] = []
        self.models: set[str] = set()

    def answer(self, request) -> Answer:
        name = request.headers.get("x-agent", "orvl")
        tokens = Tokens(input=40 + len(name), output=20 + 20 * request.body.get("n", 1))
        self.input[name] += tokens.input
        self.output[name] += tokens.output
        self.calls.append(tokens.total * PRICE)
        self.models.add(request.model)
        tools = [ToolCall("t", {"a": 1})] if request.body.get("tools") else []
        return Answer("Hello there.", tool_calls=tools, tokens=tokens, first_byte=self.seconds, between=0.05, pieces=8)

    @property
    def cost(self) -> float:
        return sum(self.calls)


def prepared(project, server: ModelServer, agents: dict[str, str]) -> None:
    script = Path(helpers.__file__).parent / "dodger.py"
    project.write("dodger.py", script.read_text())
    for name, protocol in agents.items():
        project.agent(name, AGENT.format(name=name, protocol=protocol))
    project.eval("one", "---\nmetrics: {speed: 1}\nlimits: {turn: 90}\n---\nSay hello.\n")
    addresses = ", ".join(f'{name} = "{server.base_url(name)}"' for name in FORMATS)
    project.toml(
        f"""
        [providers.host]
        protocol = {{{addresses}}}
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


def assert_equal(project, accounts: Accounts, agents: dict[str, str]) -> None:
    """Tokens and cost of everybody are the server's own, to the last one."""
    calls = counted(project)
    for name in agents:
        into, out, cost, is_bound = calls.get(name, (0, 0, 0.0, False))
        own = accounts.input[name], accounts.output[name]
        assert (into or 0, out or 0, is_bound) == (*own, False), name
        assert (cost or 0.0) == pytest.approx(sum(own) * PRICE), name
    assert not accounts.input["orvl"], "nobody was in doubt about the provider"
    assert accounts.models == {"m"}


def seconds_alone(project, names: list[str], how: tuple[str, ...]) -> dict[str, float]:
    """What each of them takes with nobody beside it."""
    taken = {}
    for name in names:
        done = project.orvl(name, *how, "--concurrency=1", "--store=alone", timeout=300)
        assert done.status == 0, done.err
        taken[name] = done.json["ratings"][0]["usage"]["seconds"]
    return taken


def check(project, tricks: dict[str, str], *, measured: int, episodes: int = 1, slower: float = 2.0) -> None:
    """All at once; as the honest ones are alike, only some of them are measured alone."""
    accounts, agents = Accounts(1.0), {**tricks, **HONEST}
    with ModelServer(accounts.answer) as server:
        prepared(project, server, agents)
        how = ("--eval=one", "--json", f"--episodes={episodes}")
        alone = seconds_alone(project, list(HONEST)[:measured], how)
        accounts.begin()
        done = project.orvl(f"--agent={','.join(agents)}", *how, f"--concurrency={len(agents)}", timeout=400)
    rows = {row["agent"]: row for row in done.json["ratings"]}
    for name in HONEST:
        assert rows[name]["runs"] == {"planned": episodes, "rated": episodes, "failed": 0, "errored": 0}, rows[name]
        assert rows[name]["usage"]["seconds"] <= slower * max(alone.get(name, max(alone.values())), FLOOR), (
            name,
            alone,
        )
    for name in tricks:
        assert rows[name]["runs"]["rated"] == episodes, rows[name]
    assert_equal(project, accounts, agents)
    assert all(accounts.input[name] for name in agents), "everybody was served"


def test_what_orvl_counts_of_twenty_is_what_the_server_counts(project):
    check(project, TRICKS, measured=1)


@pytest.mark.nightly
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_what_orvl_counts_of_all_tricks_is_what_the_server_counts(project, sandbox):
    project.sandbox = sandbox
    check(project, {**TRICKS, **SLOW_TRICKS}, measured=len(HONEST), episodes=2, slower=3.0)


@pytest.mark.parametrize("budget", [15, pytest.param(60, marks=pytest.mark.nightly)])
def test_a_budget_holds_for_those_who_dodge(project, budget):
    """It is passed by no more than the dearest of all calls."""
    accounts, agents = Accounts(0.02), {**TRICKS, **HONEST}
    with ModelServer(accounts.answer) as server:
        prepared(project, server, agents)
        words = (f"--agent={','.join(agents)}", "--eval=one", "--json", f"--budget={budget}", "--concurrency=20")
        done = project.orvl(*words, timeout=300)
    assert done.status == (3 if accounts.cost >= budget else 0), done.err
    assert accounts.cost <= budget + max(accounts.calls)
    assert_equal(project, accounts, agents)


@pytest.mark.parametrize("allowed", [False, True])
def test_another_model_is_called_only_where_that_is_allowed_and_then_marked(project, allowed):
    accounts = Accounts(0.0)
    with ModelServer(accounts.answer) as server:
        prepared(project, server, {"stranger": "openai"})
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
    assert ("6 requests of the agent refused: another model" in shown) is not allowed
    into, out, *_ = counted(project)["stranger"]
    assert (into, out) == (accounts.input["stranger"], accounts.output["stranger"])

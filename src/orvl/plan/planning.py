"""Words → cells → runs, in an order that is fair to all: what is done, what is left, what it may cost."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.install import installed
from orvl.plan.selection import chosen_agents, chosen_evals, chosen_metrics, chosen_models, is_named
from orvl.project.endpoints import Endpoint, continues, host_for, without_key
from orvl.project.providers import provider_of
from orvl.sandbox.version import NoVersion, printed_version
from orvl.types import Cell, PlannedRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.plan.selection import Words
    from orvl.project import Project
    from orvl.types import Agent, Eval, Judge, Metric

FORMAT = 1
ASK_ABOVE = 20


@dataclass(frozen=True)
class Panel:
    """How the runs of one eval are scored: its metrics with their weights, and the judges."""

    eval: Eval
    metrics: tuple[Metric, ...]
    weights: tuple[float, ...]
    judges: tuple[Judge, ...]


@dataclass
class Plan:
    """All runs that were asked for, in the order in which they are to be carried out."""

    cells: list[Cell]
    runs: list[PlannedRun]
    panels: dict[str, Panel]
    seed: int
    hosts: dict[str, Endpoint] = field(default_factory=dict)
    """Where the model of each cell is reached, by the cell's key; none for agents that need no gateway."""
    warnings: list[str] = field(default_factory=list)


def make_plan(
    project: Project,
    words: Words,
    *,
    episodes: Sequence[int],
    judges: Sequence[str] = (),
    seed: int = 0,
    ask_version: AskVersion | None = None,
) -> Plan:
    """Resolves the words against the project. Nothing is run but the agents' version commands."""
    plan = Plan([], [], {}, seed)
    agents = chosen_agents(project, words)
    pairs = chosen_models(project, words, agents)
    evals = chosen_evals(project, words)
    metrics = chosen_metrics(project, words)
    plan.panels = {one.name: panel_of(project, one, metrics, judges) for one in evals}
    ask = ask_version or version_of
    named = all(map(is_named, (words.agent, words.model, words.provider)))
    hosts = {agent.name: _hosts(project, plan, agent, pairs[agent.name], must_be_there=named) for agent in agents}
    versions = _versions(agents, plan, ask, hosts, must_be_there=is_named(words.agent))
    for agent in agents:
        if not pairs[agent.name]:
            plan.warnings.append(f"{agent.name} is left out: it has no '{words.model}' from '{words.provider}'.")
        elif agent.name in versions:
            _add_cells(plan, agent, versions[agent.name], hosts[agent.name], evals)
    if not plan.cells:
        raise UserError(
            plan.warnings[0] if plan.warnings else "Nothing is left to plan with these words. See: orvl list"
        )
    plan.runs = ordered(plan.cells, episodes, seed)
    return plan


def panel_of(project: Project, one: Eval, only: Mapping[str, bool] | None, judges: Sequence[str]) -> Panel:
    """An eval's metrics and weights, narrowed to those asked for. One that is named always counts; a glob chooses
    among the eval's own, or among all where the eval has none of them."""
    panel = project.panel(judges)
    weights = project.weights(one, has_judges=bool(panel))
    if only is not None:
        own = [name for name, named in only.items() if named or name in weights] or list(only)
        weights = {name: weights.get(name, 0.0 if only[name] else project.metric(name).weight) for name in own}
        weights = {name: weight or (1.0 if only[name] else 0.0) for name, weight in weights.items()}
    if panel and not any(judge.weight for judge in panel):
        weights = {name: 0.0 if project.metric(name).judged else weight for name, weight in weights.items()}
    if not any(weights.values()):
        weights = dict.fromkeys(weights, 1.0)
    names = sorted(weights)
    metrics = tuple(project.metric(name) for name in names)
    return Panel(one, metrics, tuple(weights[name] for name in names), tuple(panel))


def _hosts(
    project: Project, plan: Plan, agent: Agent, pairs: Iterable[tuple[str, str]], *, must_be_there: bool
) -> dict[tuple[str, str], Endpoint | None]:
    """Where each of an agent's models is reached; one that cannot be is refused, or left out with a warning."""
    hosts: dict[tuple[str, str], Endpoint | None] = {}
    for provider, model in pairs:
        try:
            hosts[provider, model] = host_for(project, agent, provider, agent.models[provider][model])
        except UserError as error:
            if must_be_there:
                raise
            plan.warnings.append(f"{agent.name} {model} {provider} is left out: {error}")
    return hosts


def _add_cells(
    plan: Plan,
    agent: Agent,
    version: str,
    hosts: Mapping[tuple[str, str], Endpoint | None],
    evals: Iterable[Eval],
) -> None:
    without: list[str] = []
    for one in evals:
        if agent.control and agent.control not in one.control_digests:
            without.append(one.name)
            continue
        for (provider, model), host in hosts.items():
            model_id = agent.models[provider][model]
            key = cell_key(agent, version, provider, model, model_id, one)
            plan.cells.append(Cell(key, agent, version, provider, model, model_id, one))
            if host is not None:
                plan.hosts[key] = host
    if without:
        more = f" and {len(without) - 5} more" if len(without) > 5 else ""
        plan.warnings.append(
            f"{agent.name} is left out on {', '.join(without[:5])}{more}: "
            f"an eval needs a folder controls/{agent.control} for it."
        )
    longer = [one.name for one in evals if len(one.prompts) > 1]
    if longer and any(hosts.values()) and not continues(agent):
        plan.warnings.append(
            f"{agent.name} cannot continue a session: on {', '.join(longer[:5])} each prompt after the first comes "
            "with the conversation so far."
        )


def cell_key(agent: Agent, version: str, provider: str, model: str, model_id: str, one: Eval) -> str:
    """Identity by content: never a path, a time or orvl's own version."""
    control = one.control_digests.get(agent.control, "") if agent.control else ""
    parts = [FORMAT, agent.name, agent.digest, version, provider, model, model_id, one.name, one.digest, control]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def run_key(cell: str, episode: int) -> str:
    return hashlib.sha256(f"{cell}:{episode}".encode()).hexdigest()


def ordered(cells: Sequence[Cell], episodes: Iterable[int], seed: int) -> list[PlannedRun]:
    """Episode by episode, eval by eval in a shuffled order; on each eval all contestants, shuffled, side by side."""
    shuffle = random.Random(seed).shuffle
    by_eval: dict[str, list[Cell]] = {}
    for cell in cells:
        by_eval.setdefault(cell.eval.name, []).append(cell)
    runs = []
    for episode in episodes:
        blocks = list(by_eval.values())
        shuffle(blocks)
        for block in blocks:
            contestants = list(block)
            shuffle(contestants)
            runs += [PlannedRun(run_key(cell.key, episode), cell, episode) for cell in contestants]
    return runs


def _versions(
    agents: Sequence[Agent],
    plan: Plan,
    ask: AskVersion,
    hosts: Mapping[str, Mapping[tuple[str, str], Endpoint | None]],
    *,
    must_be_there: bool,
) -> dict[str, str]:
    """What each agent's `version` command prints; an agent that is not installed is refused or left out."""
    asked = [agent for agent in agents if agent.version or agent.at]
    found = {agent.name: "" for agent in agents if not (agent.version or agent.at)}
    if not asked:
        return found
    missing: list[str] = []
    with ThreadPoolExecutor(8) as pool:
        for agent, version in zip(asked, pool.map(partial(_asked, ask), asked), strict=True):
            if isinstance(version, str):
                found[agent.name] = version
                continue
            sentence = f"The agent {agent.name} {version.why} ({agent.path})."
            if agent.install:
                sentence += f" Install it with: orvl install {agent.name}"
            if must_be_there:
                keys = without_key(host for host in hosts[agent.name].values() if host)
                raise UserError(" ".join([*keys.values(), sentence]))
            missing.append(agent.name) if agent.origin == "built-in" else plan.warnings.append(sentence)
    if missing:
        plan.warnings.append(f"Left out, for they are not installed: {', '.join(missing)}. See: orvl install")
    return found


AskVersion = Callable[["Agent"], "str | NoVersion"]


def _asked(ask: AskVersion, agent: Agent) -> str | NoVersion:
    """An agent's version. One that was asked for by name has to be the one that is there, whatever is in PATH."""
    if agent.at and ask is version_of and installed(agent) is None:
        return NoVersion(f"is not installed at version {agent.at}")
    version = ask(agent) if agent.version else ""
    if not agent.at or ask is version_of or isinstance(version, NoVersion):
        return version
    is_it = re.search(rf"(?<![0-9.]){re.escape(agent.at)}(?![\w.+-])", version)
    return version if is_it else NoVersion(f"is not there at version {agent.at}: it says '{version}'")


def version_of(agent: Agent) -> str | NoVersion:
    """The first line that the version command prints, where the agent's own installation comes before PATH."""
    own = installed(agent)
    program = own.bin / agent.version[0] if own else None
    return _printed_version((str(program) if program and program.exists() else agent.version[0], *agent.version[1:]))


def _run_here(argv: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=kept, check=False)


@lru_cache(maxsize=256)
def _printed_version(argv: tuple[str, ...]) -> str | NoVersion:
    return printed_version(argv, _run_here)


def is_paid(project: Project, name: str) -> bool:
    """Whether runs at a provider may cost money: all but `none`, loopback addresses and those that are free."""
    if name == "none":
        return False
    own, provider = project.settings.providers.get(name), provider_of(project.settings, name)
    if provider is None:
        return not (own and own.free)
    return not provider.free and not provider.is_local


def may_cost(project: Project, name: str, model: str) -> bool:
    """Whether runs of a model may cost money: a paid provider's, and those on this machine that have a price."""
    provider = provider_of(project.settings, name)
    price = provider.price(model) if provider else None
    return is_paid(project, name) or (price is not None and max(price.input, price.output) > 0)

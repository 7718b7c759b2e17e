"""A selection becomes cells, and cells become runs, in an order that is fair to all contestants."""

from __future__ import annotations

import hashlib
import json
import os
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.plan.layout import Panel, panel_of
from orvl.plan.named_files import named_files
from orvl.plan.private import sent_to_models
from orvl.plan.selection import chosen_agents, chosen_evals, chosen_metrics, chosen_models, is_named
from orvl.plan.versions import version_of, versions_of
from orvl.plan.weights import weight_notes
from orvl.project.endpoints import Endpoint, continues, host_for
from orvl.project.providers import provider_of, unknown_provider
from orvl.types import Cell, PlannedRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.plan.selection import Selection
    from orvl.plan.versions import AskVersion
    from orvl.project import Project
    from orvl.types import Agent, Eval

FORMAT = 1
"""Part of every cell's identity: raise it only if all runs must be run again."""
NAMED_IN_WARNINGS = 5


@dataclass(frozen=True)
class Plan:
    """All requested runs, in the order in which they are to be carried out."""

    cells: tuple[Cell, ...]
    runs: tuple[PlannedRun, ...]
    panels: Mapping[str, Panel]
    seed: int
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    """Where the model of each cell is reached, by the cell's key; none for agents that need no gateway."""
    warnings: tuple[str, ...] = ()

    def with_episodes(self, episodes: Iterable[int]) -> Plan:
        """The same cells with other episodes."""
        return replace(self, runs=ordered(self.cells, episodes, self.seed))

    def with_keys(self, keys: Mapping[str, str]) -> Plan:
        """The same plan with other keys for some of its cells."""
        cells = {cell.key: replace(cell, key=keys.get(cell.key, cell.key)) for cell in self.cells}
        runs = [(cells[run.cell.key], run.episode) for run in self.runs]
        return replace(
            self,
            cells=tuple(cells.values()),
            runs=tuple(PlannedRun(run_key(cell.key, episode), cell, episode) for cell, episode in runs),
            endpoints={keys.get(key, key): endpoint for key, endpoint in self.endpoints.items()},
        )

    @property
    def episodes(self) -> range:
        numbers = {run.episode for run in self.runs}
        return range(min(numbers), max(numbers) + 1) if numbers else range(0)


def make_plan(
    project: Project,
    selection: Selection,
    *,
    episodes: Sequence[int],
    judges: Sequence[str] = (),
    seed: int = 0,
    ask_version: AskVersion = version_of,
) -> Plan:
    """Resolves a selection against the project. Nothing is run but the agents' version commands."""
    agents = chosen_agents(project, selection)
    pairs = chosen_models(project, selection, agents)
    evals = chosen_evals(project, selection)
    metrics = chosen_metrics(project, selection)
    panels = {eval_.name: panel_of(project, eval_, metrics, judges) for eval_ in evals}
    is_exact = all(map(is_named, (selection.agent, selection.model, selection.provider)))
    hosts: dict[str, dict[tuple[str, str], Endpoint | None]] = {}
    warnings: list[str] = []
    for agent in agents:
        hosts[agent.name], skipped = _hosts(project, agent, pairs[agent.name], required=is_exact)
        warnings += skipped
    versions, not_installed = versions_of(agents, ask_version, hosts, required=is_named(selection.agent))
    warnings += not_installed
    cells: list[Cell] = []
    endpoints: dict[str, Endpoint] = {}
    for agent in agents:
        if not pairs[agent.name]:
            warnings.append(f"Skipped {agent.name}: it has no '{selection.model}' from '{selection.provider}'.")
        elif agent.name in versions:
            for cell, host in _cells(project, agent, versions[agent.name], hosts[agent.name], evals):
                cells.append(cell)
                endpoints |= {cell.key: host} if host else {}
            notes = [named_files(project, agent, *_id(agent, pair)).notes for pair in hosts[agent.name]]
            warnings += dict.fromkeys(f"{agent.name}: {note}" for some in notes for note in some)
            warnings += _limits_of(agent, hosts[agent.name], evals)
            warnings += _unknown_providers(project, agent, hosts[agent.name])
    if not cells:
        raise UserError(warnings[0] if warnings else "These words select nothing. See: orvl list")
    if metrics is None:
        warnings += weight_notes(project, panels)
    warnings += sent_to_models(project.settings, panels)
    runs = ordered(cells, episodes, seed)
    return Plan(tuple(cells), runs, panels, seed, endpoints, tuple(warnings))


def _hosts(
    project: Project, agent: Agent, pairs: Iterable[tuple[str, str]], *, required: bool
) -> tuple[dict[tuple[str, str], Endpoint | None], list[str]]:
    """Where each of an agent's models is reached; one that cannot be is skipped with a warning, or refused."""
    hosts: dict[tuple[str, str], Endpoint | None] = {}
    skipped = []
    for provider, model in pairs:
        try:
            hosts[provider, model] = host_for(project, agent, provider, agent.models[provider][model], os.environ)
        except UserError as error:
            if required:
                raise
            skipped.append(f"Skipped {agent.name} {model} {provider}: {error}")
    return hosts, skipped


def _id(agent: Agent, pair: tuple[str, str]) -> tuple[str, str]:
    """A provider, and its own id of the model."""
    provider, model = pair
    return provider, agent.models[provider][model]


def _cells(
    project: Project,
    agent: Agent,
    version: str,
    hosts: Mapping[tuple[str, str], Endpoint | None],
    evals: Iterable[Eval],
) -> Iterable[tuple[Cell, Endpoint | None]]:
    for eval_ in evals:
        if _lacks_control(agent, eval_):
            continue
        for (provider, model), host in hosts.items():
            model_id = agent.models[provider][model]
            files = named_files(project, agent, provider, model_id).on(agent, eval_)
            key = cell_key(agent, version, provider, model, model_id, eval_, files)
            yield Cell(key, agent, version, provider, model, model_id, eval_, files), host


def _lacks_control(agent: Agent, eval_: Eval) -> bool:
    """The control `empty`, whose folder has no name, is there on every eval."""
    return bool(agent.control) and agent.control not in eval_.control_digests


def _limits_of(agent: Agent, hosts: Mapping[tuple[str, str], Endpoint | None], evals: Sequence[Eval]) -> Iterable[str]:
    """What an agent cannot do on some of the evals."""
    if without := [eval_.name for eval_ in evals if _lacks_control(agent, eval_)]:
        yield f"Skipped {agent.name} on {_few(without)}: an eval needs a folder controls/{agent.control} for it."
    longer = [eval_.name for eval_ in evals if len(eval_.prompts) > 1]
    if longer and any(hosts.values()) and not continues(agent):
        yield (
            f"{agent.name} cannot continue a session: on {', '.join(longer[:NAMED_IN_WARNINGS])} each prompt after the "
            "first comes with the conversation so far."
        )


def _unknown_providers(
    project: Project, agent: Agent, hosts: Mapping[tuple[str, str], Endpoint | None]
) -> Iterable[str]:
    """Providers that an agent reaches by itself and that orvl has never heard of: often a slip of the pen."""
    names = dict.fromkeys(provider for (provider, _), host in hosts.items() if host is None and provider != "none")
    for name in names:
        if not agent.control and name not in project.settings.providers and provider_of(project.settings, name) is None:
            yield f"{agent.name}: {unknown_provider(project.settings, name)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED_IN_WARNINGS} more" if len(names) > NAMED_IN_WARNINGS else ""
    return ", ".join(names[:NAMED_IN_WARNINGS]) + more


def cell_key(
    agent: Agent,
    version: str,
    provider: str,
    model: str,
    model_id: str,
    eval_: Eval,
    files: Mapping[str, str] | None = None,
) -> str:
    """Identity by content: never an absolute path, a time or orvl's own version."""
    names = (agent.name, agent.digest, version, provider, model, model_id, eval_.name, eval_.digest)
    # Only where there are files, so that the keys of all other cells stay what they always were.
    parts = [FORMAT, *names, control_digest(agent, eval_), *([sorted(files.items())] if files else [])]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def control_digest(agent: Agent, eval_: Eval) -> str:
    return eval_.control_digests.get(agent.control, "") if agent.control else ""


def run_key(cell: str, episode: int) -> str:
    return hashlib.sha256(f"{cell}:{episode}".encode()).hexdigest()


def ordered(cells: Sequence[Cell], episodes: Iterable[int], seed: int) -> tuple[PlannedRun, ...]:
    """Episode by episode, eval by eval in a shuffled order; on each eval all contestants, shuffled, side by side, so
    that a provider's bad hour hits all alike."""
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
    return tuple(runs)

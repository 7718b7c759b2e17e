"""The five words: agent, model, provider, eval, metric; each a name, a comma list, a glob, or `all`.

An agent may have a version and overlays: `AGENT@VERSION+OVERLAY`. They are used only where they are written: `all` and
`opencode*` are agents as they are, `opencode+*` is opencode with each overlay that fits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from orvl.errors import OrvlError, UserError
from orvl.project.names import RESERVED, Contestant, closest, did_you_mean, is_pattern, matching

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from orvl.project import Project
    from orvl.store import StoredCell
    from orvl.types import Agent, Eval

ORDER = ("agent", "model", "provider", "eval", "metric")
ORDER_SENTENCE = "the order is agent model provider eval metric"


@dataclass(frozen=True)
class Selection:
    """What the user asked for; a word that was left out means all."""

    agent: str = "all"
    model: str = "all"
    provider: str = "all"
    eval: str = "all"
    metric: str = "all"

    @property
    def given(self) -> list[str]:
        """The words without those at the end that mean all."""
        words = [getattr(self, place) for place in ORDER]
        while len(words) > 1 and words[-1] == "all":
            words.pop()
        return words

    def __str__(self) -> str:
        return " ".join(self.given)


def parts(word: str) -> list[str]:
    return [part.strip() for part in word.split(",") if part.strip()]


def is_named(word: str) -> bool:
    """Whether every part of a word is a plain name."""
    return all("all" not in re.split("[@+]", part) and not is_pattern(part) for part in parts(word))


def chosen_agents(project: Project, selection: Selection) -> list[Agent]:
    def match(part: str, known: Iterable[str]) -> list[str]:
        return _contestants(project, selection, part) if {"+", "@"} & set(part) else matching(part, known)

    return [project.agent(name) for name in _chosen(project, selection, "agent", project.agent_files, match)]


def chosen_evals(project: Project, selection: Selection) -> list[Eval]:
    def match(part: str, _: Iterable[str]) -> list[str]:
        return project.evals_matching(part)

    return [project.eval(name) for name in _chosen(project, selection, "eval", project.eval_files, match)]


def chosen_metrics(project: Project, selection: Selection, stored: Iterable[StoredCell] = ()) -> dict[str, bool] | None:
    """The metrics asked for, and whether by name; None where the eval decides. Imported results have their own."""
    imported = (name for cell in stored if (origin := cell.imported) for name in origin.metrics)
    names = _chosen(project, selection, "metric", dict.fromkeys((*project.metric_files, *imported)))
    named = parts(selection.metric)
    return None if "all" in named else {name: name in named for name in names}


def stored_matcher(
    project: Project, selection: Selection, known: Iterable[tuple[str, str, str, str]]
) -> Callable[[Sequence[str]], bool]:
    """Says whether a stored cell's names fit the selection; a word that fits nothing in the store is refused."""
    if "control:" not in selection.agent:
        known = [names for names in known if not names[0].startswith("control:")]
    known, chosen = list(known), []
    for i, place in enumerate(ORDER[:4]):
        names = sorted({row[i] for row in known})
        wanted: set[str] = set()
        for part in parts(getattr(selection, place)) or ["all"]:
            matches = matching(part, names) or (_of_tier(project, part, names) if place == "eval" else [])
            if not matches and part != "all":
                raise UserError(_not_stored(project, place, part, names))
            wanted.update(matches)
        chosen.append(wanted)
    return lambda names: all(name in wanted for name, wanted in zip(names, chosen, strict=True))


def _of_tier(project: Project, word: str, stored: Collection[str]) -> list[str]:
    """The stored evals of a tier; a name comes before a tier of the same name."""
    if word in project.eval_files:
        return []
    return [name for name in project.tiers.get(word, ()) if name in stored]


def _not_stored(project: Project, place: str, word: str, stored: Sequence[str]) -> str:
    if place != "eval":
        return f"The store has no {place} '{word}'. {did_you_mean(word, stored)}"
    if word in project.tiers:
        return f"The store has no run of the tier '{word}'. Make some: orvl run --eval {word}"
    tiers = [tier for tier in project.tiers if _of_tier(project, tier, stored)]
    return f"The store has no eval '{word}'. {did_you_mean(word, [*stored, *tiers])}"


def chosen_models(project: Project, selection: Selection, agents: Iterable[Agent]) -> dict[str, list[tuple[str, str]]]:
    """For each agent, the (provider, model) pairs that the words stand for."""
    agents = list(agents)
    models = _chosen(project, selection, "model", _names(agents, "model"))
    providers = _chosen(project, selection, "provider", _names(agents, "provider"))
    pairs = {
        agent.name: [
            (provider, model)
            for provider, listed in agent.models.items()
            for model in listed
            if provider in providers and model in models
        ]
        for agent in agents
    }
    if not any(pairs.values()):
        there = sorted(
            {f"{m} from {p}" for a in agents for p, listed in a.models.items() for m in listed if m in models}
        )
        names = ", ".join(agent.name for agent in agents)
        have, it = ("has", "it has") if len(agents) == 1 else ("have", "they have")
        raise UserError(
            f"{names} {have} no '{selection.model}' from '{selection.provider}'; {it} {', '.join(there[:6])}."
        )
    return pairs


def _names(agents: Iterable[Agent], place: str) -> list[str]:
    """All models, or all providers, that these agents list."""
    if place == "provider":
        return sorted({provider for agent in agents for provider in agent.models})
    return sorted({model for agent in agents for listed in agent.models.values() for model in listed})


def _contestants(project: Project, selection: Selection, part: str) -> list[str]:
    """The names that an agent with a version or overlays stands for; a glob leaves out what does not fit."""
    asked, known = Contestant.of(part), list(project.agent_files)
    agents = matching(asked.agent, known)
    if not agents:
        raise UserError(_unknown(project, selection, "agent", asked.agent, known))
    every = (one for name in agents for one in _laid_over(project, replace(asked, agent=name)))
    found = [str(one) for one in every if is_named(asked.agent) or _can_be(project, one)]
    if not found:
        raise UserError(f"Nothing fits '{part}'. See: orvl list overlays")
    return found


def _laid_over(project: Project, asked: Contestant) -> Iterator[Contestant]:
    """One agent with every choice of overlays that its words stand for."""
    from orvl.project.overlays import fits

    agent = project.agent(asked.agent)
    choices = []
    for word in asked.overlays:
        if is_named(word):
            choices.append([project.overlay(word).name])
        else:
            there = matching(word, project.overlay_files)
            choices.append(
                [name for name in there if fits(project.overlay(name), agent) and name not in asked.overlays]
            )
    for chosen in product(*choices):
        if len(set(chosen)) == len(chosen) or all(map(is_named, asked.overlays)):
            yield replace(asked, overlays=chosen)


def _can_be(project: Project, one: Contestant) -> bool:
    from orvl.project.overlays import fits

    agent = project.agent(one.agent)
    return (one.version is None or bool(agent.install)) and all(
        fits(project.overlay(name), agent) for name in one.overlays
    )


def _chosen(
    project: Project,
    selection: Selection,
    place: str,
    names: Iterable[str],
    match: Callable[[str, Iterable[str]], list[str]] = matching,
) -> list[str]:
    known = list(names)
    found: dict[str, None] = {}
    for part in parts(getattr(selection, place)) or ["all"]:
        matches = match(part, known)
        if not matches and part != "all":
            raise UserError(_unknown(project, selection, place, part, known))
        found.update(dict.fromkeys(matches))
    if not found:
        raise UserError(f"There is no {place} here yet. Make a project with: orvl init")
    return list(found)


def _unknown(project: Project, selection: Selection, place: str, word: str, known: list[str]) -> str:
    if is_pattern(word):
        return f"No {place} matches '{word}'. {did_you_mean(word, known)}"
    if place in ("model", "provider") and word in _all_names(project, place):
        return f"{selection.agent} does not list the {place} '{word}'. It has: {', '.join(known[:8])}."
    elsewhere = [other for other in ORDER if other != place and word in _all_names(project, other)]
    if elsewhere:
        other = elsewhere[0]
        article = "an" if other[0] in "ae" else "a"
        instead = _moved(project, selection, place, other, word)
        return f"'{word}' is {article} {other}; {ORDER_SENTENCE}. Try: orvl {instead}"
    if place in ("model", "provider") and selection.agent != "all":
        return f"{selection.agent} has no {place} '{word}'. {did_you_mean(word, known)}"
    if place == "agent" and word in RESERVED:
        return f"'{word}' is a word of orvl that this version does not know as a command. See: orvl --help"
    command = closest(word, RESERVED) if place == "agent" and not closest(word, known) else None
    known = [*known, *project.tiers] if place == "eval" else known
    hint = f"Did you mean the command '{command}'?" if command else did_you_mean(word, known)
    return f"There is no {place} '{word}'. {hint} See: orvl list {place}s"


def _moved(project: Project, selection: Selection, place: str, other: str, word: str) -> str:
    """The same words with the misplaced one in its place, and what stood there in its own."""
    given = {name: getattr(selection, name) for name in ORDER}
    kept = [part for part in parts(given[place]) if part != word]
    displaced = given[other]
    fits = displaced != "all" and all(part in _all_names(project, place) for part in parts(displaced))
    given[place] = ",".join(kept) or (displaced if fits else "all")
    given[other] = word if displaced == "all" or (fits and not kept) else f"{displaced},{word}"
    return str(Selection(**given))


def _all_names(project: Project, place: str) -> list[str]:
    files = {"agent": project.agent_files, "eval": project.eval_files, "metric": project.metric_files}
    if place in files:
        return list(files[place])
    agents = []
    for name in project.agent_files:
        try:
            agents.append(project.agent(name))
        except OrvlError:
            continue
    return _names(agents, place)

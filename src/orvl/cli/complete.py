"""Completion of the five words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from click.shell_completion import CompletionItem

from orvl.errors import OrvlError
from orvl.plan.selection import ORDER, parts
from orvl.project.names import Contestant, matching

if TYPE_CHECKING:
    import click

    from orvl.project import Project
    from orvl.types import Agent


def first_word(incomplete: str) -> list[CompletionItem]:
    return _items([*names_of("agent", {}), *with_overlays({}, incomplete)], incomplete)


def word(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes a word from those before it; after a comma, the next name of the list."""
    from orvl.cli import COMMANDS

    place = (param.name or "").removesuffix("_word")
    commands = list(COMMANDS) if param.name == "agent_word" else []
    laid_over = with_overlays(ctx.params, incomplete) if place == "agent" else []
    return _items([*names_of(place, ctx.params), *commands, *laid_over], incomplete)


def _items(names: list[str], incomplete: str) -> list[CompletionItem]:
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(before + comma + name) for name in names if name.startswith(last)]


def names_of(place: str, given: dict[str, Any]) -> list[str]:
    """The names that fit a place; nothing where the project cannot be read."""
    from orvl.project import open_project

    try:
        project = open_project(given.get("project"))
        files = {"agent": project.agent_files, "eval": project.eval_files, "metric": project.metric_files}
        if place in files:
            return [*files[place], *(["all"] if place != "agent" else [])]
        found = _models_or_providers(project, place, given) if place in ORDER else []
        return [*found, "all"] if found else []
    except OrvlError:
        return []


def with_overlays(given: dict[str, Any], incomplete: str) -> list[str]:
    """The agent that is being written with each further overlay that fits it, once there is a `+`."""
    from orvl.project import open_project

    before, plus, _ = incomplete.rpartition(",")[2].rpartition("+")
    if not plus:
        return []
    from orvl.project.overlays import fits

    try:
        project, asked = open_project(given.get("project")), Contestant.of(before)
        agent = project.agent(asked.agent) if asked.agent in project.agent_files else None
        names = [name for name in project.overlay_files if name not in asked.overlays]
        return [f"{before}+{name}" for name in names if agent and fits(project.overlay(name), agent)]
    except OrvlError:
        return []


def _that_load(project: Project, word: str) -> list[Agent]:
    """The agents that a word stands for, without those whose file is broken."""
    found = []
    for name in project.agent_files:
        if any(matching(Contestant.of(part).agent, [name]) for part in parts(word)):
            try:
                found.append(project.agent(name))
            except OrvlError:
                continue
    return found


def _models_or_providers(project: Project, place: str, given: dict[str, Any]) -> list[str]:
    agent = given.get("agent_word") or ",".join(given.get("agent") or ()) or "all"
    model = given.get("model_word") or ",".join(given.get("model") or ()) or "all"
    agents = _that_load(project, agent)
    if place == "model":
        return sorted({name for one in agents for listed in one.models.values() for name in listed})
    return sorted(
        {
            p
            for one in agents
            for p, listed in one.models.items()
            if any(matching(part, listed) for part in parts(model))
        }
    )

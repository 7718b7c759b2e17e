"""`orvl list`: the names that commands take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console
from orvl.errors import OrvlError, UserError
from orvl.project import open_project
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.project import Project

KINDS = ("agents", "overlays", "models", "providers", "evals", "metrics", "judges")
FEW = 4


@click.command()
@click.argument("kind", required=False, metavar="[KIND]")
@as_json
@click.option("--project", metavar="DIR", help="The project's folder (default: this one).")
def command(kind: str | None, json_: bool, project: str | None) -> int:
    """List agents, overlays, models, providers, evals, metrics and judges.

    KIND is one of these. A file that cannot be loaded is listed with its error.
    """
    if kind is not None and kind not in KINDS:
        if f"{kind}s" not in KINDS:
            raise UserError(f"There is no kind '{kind}' to list. {did_you_mean(kind, KINDS)}")
        kind = f"{kind}s"
    out = JsonOut() if json_ else None
    opened = open_project(project)
    found = {name: rows(opened, name) for name in ([kind] if kind else KINDS)}
    if out:
        out.write({"schema": 1, **found})
        return 0
    _print(found)
    return 0


def rows(project: Project, kind: str) -> list[dict[str, Any]]:
    """One dict per thing; a broken file has an `error`."""
    files = {
        "agents": project.agent_files,
        "overlays": project.overlay_files,
        "evals": project.eval_files,
        "metrics": project.metric_files,
    }
    describe = {"agents": _agent, "overlays": _overlay, "evals": _eval, "metrics": _metric}
    if kind in files:
        return [_row(project, name, found.origin, describe[kind]) for name, found in files[kind].items()]
    if kind == "judges":
        return [
            {"name": judge.name, "model": judge.model, "provider": judge.provider, "weight": judge.weight}
            for judge in project.panel()
        ]
    return _models(project, kind)


def _row(
    project: Project, name: str, origin: str, describe: Callable[[Project, str], dict[str, Any]]
) -> dict[str, Any]:
    try:
        return {"name": name, "from": origin, **describe(project, name)}
    except OrvlError as error:
        return {"name": name, "from": origin, "error": str(error)}


def _agent(project: Project, name: str) -> dict[str, Any]:
    agent = project.agent(name)
    models = {provider: list(names) for provider, names in agent.models.items()}
    return {"models": models, "description": agent.description}


def _overlay(project: Project, name: str) -> dict[str, Any]:
    one = project.overlay(name)
    return {
        "has": [part for part in ("workspace", "home", "env", "arguments") if getattr(one, part)],
        "agents": list(one.agents) or ["all"],
        "description": one.description,
    }


def _eval(project: Project, name: str) -> dict[str, Any]:
    one = project.eval(name)
    return {
        "tier": one.tier,
        **({"imported": one.imported.get("from", "another tool")} if one.imported else {}),
        "all": "yes" if name in project.all_evals else "",
        **({"private": "yes"} if one.private else {}),
        "turns": len(one.prompts),
        "metrics": project.weights(one, project.panel()),
        "weights_from": project.weights_from(one),
        "checks": len(one.checks),
        "controls": list(one.control_digests),
        "description": one.description,
    }


def _metric(project: Project, name: str) -> dict[str, Any]:
    metric = project.metric(name)
    return {"weight": metric.weight, "judged": metric.judged, "description": metric.description}


def _models(project: Project, kind: str) -> list[dict[str, Any]]:
    """Models with their providers and agents, or providers with their models and agents."""
    other = "providers" if kind == "models" else "models"
    found: dict[str, dict[str, set[str]]] = {}
    for name in project.agent_files:
        try:
            agent = project.agent(name)
        except OrvlError:
            continue
        for provider, listed in agent.models.items():
            for model in listed:
                key, value = (model, provider) if kind == "models" else (provider, model)
                row = found.setdefault(key, {other: set(), "agents": set()})
                row[other].add(value)
                row["agents"].add(name)
    return [{"name": key, **{k: sorted(v) for k, v in row.items()}} for key, row in sorted(found.items())]


def _print(found: dict[str, list[dict[str, Any]]]) -> None:
    from orvl.report.terminal import TextCell, TextColumn, TextTable
    from orvl.report.text import plain

    terminal = console()
    for kind, things in found.items():
        if not things:
            terminal.print(f"{kind}: none")
            continue
        names = [name for name in dict.fromkeys(key for thing in things for key in thing) if name != "error"]
        rows = [[TextCell(plain(_text(thing.get(name, "")))) for name in names] for thing in things]
        for row, thing in zip(rows, things, strict=True):
            if "error" in thing:
                row[-1] = TextCell("has an error, see below", "red")
        terminal.print(kind, "bold")
        terminal.print(TextTable([TextColumn(name, words=True) for name in names], rows))
        for thing in things:
            if "error" in thing:
                terminal.print(plain(thing["error"]), "red")


def _text(value: Any) -> str:
    if isinstance(value, dict) and sum(isinstance(one, list) and len(one) for one in value.values()) > FEW:
        return ", ".join(f"{key} ({len(one)})" for key, one in value.items())
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

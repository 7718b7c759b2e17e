"""`orvl install`: agents at the versions that their files pin."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from orvl.cli.common import console
from orvl.cli.complete import word as complete
from orvl.errors import OrvlError, UserError
from orvl.plan.selection import Selection, chosen_agents, is_named, parts
from orvl.project import open_project
from orvl.report.text import plain, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.install import AgentInstallation
    from orvl.project import Project
    from orvl.types import Agent


@click.command()
@click.argument("agent", nargs=-1, shell_complete=complete, metavar="[AGENT]...")
@click.option("--fresh", is_flag=True, help="Install again even if installed.")
@click.option("--remove", is_flag=True, help="Delete the installation.")
@click.option("--project", metavar="DIR", help="The project's folder (default: this one).")
def command(agent: tuple[str, ...], fresh: bool, remove: bool, project: str | None) -> int:
    """Install agents at the versions that their files pin, outside of the project.

    AGENT is a name, a comma list, a glob or `all`. Without one, lists what can be installed and what is installed.
    """
    opened = open_project(project)
    if fresh and remove:
        raise UserError("--fresh and --remove exclude each other.")
    if not agent:
        if fresh or remove:
            raise UserError(f"Name the agents, or write: orvl install all --{'fresh' if fresh else 'remove'}")
        return _print_list(opened)
    from orvl.install.make import check_pins

    agents = chosen(opened, agent)
    for one in agents:
        check_pins(one)
    failed = 0
    for one in agents:
        try:
            _remove(one) if remove else _install(one, fresh)
        except OrvlError as error:
            failed += 1
            sys.stderr.write(f"orvl: {plain(str(error), lines=True)}\n")
    return 1 if failed else 0


def chosen(project: Project, words: tuple[str, ...]) -> list[Agent]:
    """The agents that the words stand for, without those of a glob that have nothing to install."""
    word = ",".join(words)
    if not parts(word):
        raise UserError(f"The agent is empty: '{word}'. Write `all` to mean all.")
    agents = chosen_agents(project, Selection(agent=word))
    named = {part for part in parts(word) if is_named(part)}
    for one in agents:
        if not one.install and one.name in named:
            raise UserError(f"{one.name} has nothing to install: {one.path} has no 'install'.")
    if not any(one.install for one in agents):
        raise UserError(f"No agent that matches '{word}' has anything to install. See: orvl install")
    return [one for one in agents if one.install]


def _install(agent: Agent, fresh: bool) -> None:
    from time import monotonic

    from orvl.install.make import install

    began = monotonic()
    found, made = install(agent, _say(agent), fresh=fresh)
    if made:
        click.echo(f"{agent.name}: installed {_what(found)} in {seconds(monotonic() - began)}, in {found.folder}")
    else:
        click.echo(f"{agent.name}: {_what(found)} is already installed; --fresh installs it again")


def _remove(agent: Agent) -> None:
    from orvl.install.make import uninstall

    was_there = uninstall(agent, _say(agent))
    click.echo(f"{agent.name}: {'deleted' if was_there else 'was not installed'}")


def _say(agent: Agent) -> Callable[[str], None]:
    def say(sentence: str) -> None:
        sys.stderr.write(plain(f"{agent.name}: {sentence}") + "\n")
        sys.stderr.flush()

    return say


def _what(found: AgentInstallation) -> str:
    return f"{', '.join(found.packages)} ({mebibytes(found.size)})"


def mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB" if size < 10 << 20 else f"{size / (1 << 20):.0f} MiB"


def _print_list(project: Project) -> int:
    from orvl.report.terminal import TextCell, TextColumn, TextTable

    rows: list[list[str | TextCell]] = []
    for name in project.agent_files:
        try:
            agent = project.agent(name)
        except OrvlError as error:
            rows.append([name, "", TextCell(plain(str(error)), "red")])
            continue
        if agent.install:
            packages = " ".join(f"{kind}: {' '.join(them)}" for kind, them in agent.install.items())
            rows.append([name, plain(packages), plain(_state(agent))])
    columns = [TextColumn(name, words=True) for name in ("agent", "packages", "installed")]
    console().print(TextTable(columns, rows) if rows else "No agent's file names packages in `install`.")
    return 0


def _state(agent: Agent) -> str:
    """Whether an agent's packages are installed, or how to get there."""
    from orvl.install import installed, obstacle

    if found := installed(agent):
        return f"since {found.installed_at[:10]}, {mebibytes(found.size)}"
    return f"no: {obstacle(agent) or f'orvl install {agent.name}'}"

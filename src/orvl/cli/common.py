"""What the commands share: the words, the project, the store, and where to print."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.complete import word as complete
from orvl.errors import StoreBusy, UserError
from orvl.plan.selection import ORDER, ORDER_SENTENCE, Selection, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.project import Project
    from orvl.report.terminal import Terminal
    from orvl.store import Store


def by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """The words by name."""
    for place in reversed(ORDER):
        help_text = f"The {place}: a name, a comma list, a glob or `all`."
        function = click.option(f"--{place}", multiple=True, shell_complete=complete, metavar="WORD", help=help_text)(
            function
        )
    return function


def five_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """The words by place and by name."""
    function = by_name(function)
    function = click.argument("too_many", nargs=-1, metavar="")(function)
    for place in reversed(ORDER):
        function = click.argument(
            f"{place}_word", required=False, shell_complete=complete, metavar=f"[{place.upper()}]"
        )(function)
    return function


def where(function: Callable[..., Any]) -> Callable[..., Any]:
    """--project and --store."""
    store = click.option("--store", metavar="DIR", help="Where results are kept (default: .orvl in the project).")
    project = click.option("--project", metavar="DIR", help="The project's folder (default: this one).")
    return project(store(function))


def as_json(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "json_", is_flag=True, help="Write one JSON object to standard output.")(function)


def selection_from(given: dict[str, Any]) -> Selection:
    """The five words, each taken from its place or from its flag, and taken out of `given`."""
    if extra := given.pop("too_many", ()):
        raise UserError(f"There are {5 + len(extra)} words; {ORDER_SENTENCE}. Use commas for several of one kind.")
    chosen = {}
    for place in ORDER:
        by_place, by_name = given.pop(f"{place}_word", None), given.pop(place, ())
        if by_place is not None and by_name:
            raise UserError(f"The {place} is given twice: '{by_place}' and --{place}={by_name[0]}.")
        word = ",".join(by_name) if by_name else by_place
        if word is not None and not parts(word):
            raise UserError(f"The {place} is empty: '{word}'. Leave it out, or write `all`, to mean all.")
        chosen[place] = word or "all"
    return Selection(**chosen)


def open_with_keys_hidden(folder: str | None) -> Project:
    """The project, for commands that start programs of agents and evals: what they could read of keys is wiped."""
    from orvl.cli.keys import hide_keys
    from orvl.project import open_project

    project = open_project(folder)
    keys = [provider.key for provider in project.settings.providers.values() if provider.key]
    hide_keys(keys, os.environ)
    return project


def open_to_read(project: Project, flag: str | None) -> Store:
    from orvl.store import open_store, store_url

    return open_store(store_url(flag, project.settings.store, project.root), write=False)


def open_to_write(project: Project, flag: str | None, *, wait: bool = True) -> Store:
    """Waits for another command that writes to the store, and says so: what that one does is not done again."""
    from orvl.store import BUSY_WAIT, open_store, store_url

    url, seen = store_url(flag, project.settings.store, project.root), None
    while True:
        try:
            return open_store(url, write=True)
        except StoreBusy as busy:
            if not wait:
                raise
            if busy.owner != seen:
                sys.stderr.write(f"{busy.waiting}\n")
                sys.stderr.flush()
            seen = busy.owner
        time.sleep(BUSY_WAIT)


def store_exists(project: Project, flag: str | None) -> bool:
    from orvl import store

    return store.store_exists(store.store_url(flag, project.settings.store, project.root))


def console() -> Terminal:
    """Standard output: as wide as the terminal, or COLUMNS; elsewhere nothing is folded."""
    from shutil import get_terminal_size

    from orvl.report.terminal import PIPE, Terminal

    is_terminal = sys.stdout.isatty()
    width = get_terminal_size().columns if is_terminal or "COLUMNS" in os.environ else PIPE
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") in ("dumb", "unknown")
    return Terminal(sys.stdout, width, styles=is_terminal and not plain)


class JsonOut:
    """Keeps standard output for one JSON object: whatever else is printed goes to standard error."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._fd = os.dup(1)
        os.dup2(2, 1)

    def write(self, value: Any) -> None:
        sys.stdout.flush()
        with open(self._fd, "w", encoding="utf-8") as file:
            if not file.isatty():
                json.dump(value, file, indent=2, allow_nan=False)
            else:
                from orvl.report.text import escaped

                file.write(escaped(json.dumps(value, indent=2, allow_nan=False)))
            file.write("\n")

"""Questions with a default: asked on a terminal; elsewhere the default is the answer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def has_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


@dataclass(frozen=True)
class Questions:
    """Asks for what no flag has said."""

    is_asking: bool

    def line(self, said: str | None, question: str, default: str, hint: str = "") -> str:
        """One line; `hint` says what an empty one means, where that is the default."""
        if said is not None or not self.is_asking:
            return default if said is None else said
        text = f"{question} ({hint})" if hint else question
        return str(click.prompt(text, default=default, show_default=bool(default))).strip()

    def lines(self, said: Iterable[str], questions: Iterable[str], default: str) -> tuple[str, ...]:
        """Several lines: the first has a default, and an empty one ends them."""
        if (given := tuple(said)) or not self.is_asking:
            return given or (default,)
        found: list[str] = []
        for question in questions:
            line = self.line(None, question, "" if found else default, "Enter: nothing more" if found else "")
            if not line:
                break
            found.append(line)
        return tuple(found)

    def choice(self, said: str | None, question: str, choices: Mapping[str, str], default: str) -> str:
        """One of several, each with what it means."""
        if said is not None or not self.is_asking:
            return default if said is None else said
        width = max(map(len, choices))
        for name, meaning in choices.items():
            click.echo(f"  {name.ljust(width)}  {meaning}")
        return str(click.prompt(question, type=click.Choice(list(choices)), default=default, show_choices=False))

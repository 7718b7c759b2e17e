"""A person's answers: single keys on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import click

from orvl.report.terminal import trusted

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

END = "\x04"
"""Ctrl-D, and the end of a file."""
ENTER = "\n"
ERASE = ("\x7f", "\b")
LONGEST = 64
PAUSE = 0.02
"""Seconds within which the signs of one key arrive, as of an arrow."""


class Asker(Protocol):
    """Prints a question, and gives the answer: a word, ENTER or END."""

    def ask(self, question: str, keys: Container[str] | None = None, *, has_enter: bool = False) -> str:
        """With `keys`, a word may be typed that begins with none of them; without, any single key is an answer.

        Enter alone is none, unless it `has_enter`: people press it after a key.
        """
        ...


def asker() -> Asker:
    return KeyAsker(sys.stdin.fileno()) if sys.stdin.isatty() else LineAsker()


class LineAsker:
    """A line for each answer, whatever it is."""

    def ask(self, question: str, _: Container[str] | None = None, *, has_enter: bool = False) -> str:
        click.echo(f"{question} ", nl=False)
        line = sys.stdin.readline()
        while line.isspace() and not has_enter:
            line = sys.stdin.readline()
        click.echo(line.strip())
        return line.strip() or (ENTER if line else END)


class KeyAsker:
    """A key for each answer; words are typed, and end with Enter."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def ask(self, question: str, keys: Container[str] | None = None, *, has_enter: bool = False) -> str:
        with self._key_by_key():
            self._show(f"{question} ")
            answer = ENTER
            while answer == ENTER:
                answer = self._key() if keys is None else self._word(keys)
                if has_enter:
                    break
        self._show("\n" if keys is not None or not answer.isprintable() else f"{answer}\n")
        return answer

    def _word(self, keys: Container[str]) -> str:
        typed = ""
        while True:
            key = self._key()
            if key == END or (key in keys and not typed):
                return key
            if key == ENTER:
                return typed or ENTER
            if key in ERASE and typed:
                typed = typed[:-1]
                self._show("\b \b")
            elif len(key) == 1 and key.isprintable() and len(typed) < LONGEST:
                typed += key
                self._show(key)

    def _show(self, text: str) -> None:
        """What is typed is one sign that can be printed, and questions are plain."""
        out = trusted(sys.stdout)
        out.write(text)
        out.flush()

    def _key(self) -> str:
        """One key; of one that sends several signs, such as an arrow, all of them."""
        read = os.read(self._fd, 1)
        if not read:
            return END
        if read == b"\x1b" or read >= b"\x80":
            while select.select([self._fd], [], [], PAUSE)[0]:
                read += os.read(self._fd, 1)
        key = read.decode("utf-8", "replace")
        return ENTER if key == "\r" else key

    @contextmanager
    def _key_by_key(self) -> Iterator[None]:
        """The terminal gives each key at once, and does not show it; signals work as ever."""
        before = termios.tcgetattr(self._fd)
        try:
            tty.setcbreak(self._fd, termios.TCSADRAIN)
            yield
        finally:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, before)

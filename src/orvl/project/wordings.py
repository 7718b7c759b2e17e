r"""The conversation of an eval: turns between lines of `---`, wordings of a turn between lines of `--- or`, `{{key}}`.

`\---`, `\--- or` and `\{{` are the same as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import FileError, InvalidPrompt
from orvl.project.names import did_you_mean
from orvl.types import Placeholder, Wording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

MOST_TURNS = 1000
MOST_WORDINGS = 100
BETWEEN_TURNS, BETWEEN_WORDINGS = "---", "--- or"
BRACES = re.compile(r"\\\{\{|\{\{")


@dataclass(frozen=True)
class WrittenPrompt:
    """A wording as it is written, and the line on which it begins."""

    line: int
    text: str


def split_turns(path: Path, body: str, first_line: int) -> tuple[tuple[WrittenPrompt, ...], ...]:
    """The wordings of each turn."""
    turns: list[list[tuple[int, list[str]]]] = [[(first_line, [])]]
    for number, line in enumerate(lines_of(body), first_line):
        sign = line.rstrip()
        if sign == BETWEEN_TURNS:
            turns.append([(number + 1, [])])
        elif sign == BETWEEN_WORDINGS:
            turns[-1].append((number + 1, []))
        else:
            is_escaped = sign in (f"\\{BETWEEN_TURNS}", f"\\{BETWEEN_WORDINGS}")
            turns[-1][-1][1].append(line[1:] if is_escaped else line)
    if len(turns) > MOST_TURNS:
        raise FileError(path, turns[MOST_TURNS][0][0], f"a conversation has at most {MOST_TURNS} turns.")
    return tuple(tuple(_wordings(path, turn, number, len(turns))) for number, turn in enumerate(turns, 1))


def escaped(line: str) -> str:
    """A line of a prompt as it is written, so that it separates nothing."""
    return f"\\{line}" if line.rstrip() in (BETWEEN_TURNS, BETWEEN_WORDINGS) else line


def lines_of(text: str) -> list[str]:
    """Lines as editors count them: `splitlines` would also break at form feeds and the like."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _wordings(path: Path, turn: list[tuple[int, list[str]]], number: int, turns: int) -> Iterator[WrittenPrompt]:
    if len(turn) > MOST_WORDINGS:
        raise FileError(path, turn[MOST_WORDINGS][0], f"a turn has at most {MOST_WORDINGS} wordings.")
    for line, lines in turn:
        text = "".join(lines).strip("\n")
        if not text.strip():
            raise FileError(path, line, _no_prompt(number, turns, len(turn)))
        if "\0" in text:
            sentence = f"the prompt of turn {number} contains a NUL byte, which no argument can carry."
            raise FileError(path, line, sentence)
        yield WrittenPrompt(line, text)


def _no_prompt(number: int, turns: int, wordings: int) -> str:
    if wordings > 1:
        return f"a wording of turn {number} is empty; write it, or remove a line of '--- or'."
    if turns == 1:
        return "the eval has no prompt; write it after the front matter."
    return f"the prompt of turn {number} is empty; write it, or remove a line of '---'."


def as_written(turn: tuple[WrittenPrompt, ...]) -> str:
    """A turn with all of its wordings."""
    return f"\n{BETWEEN_WORDINGS}\n".join(wording.text for wording in turn)


def parsed(path: Path, written: WrittenPrompt, keys: Collection[str]) -> Wording:
    """A wording in its parts. Where nothing varies, braces are text."""
    try:
        return Wording(parts_of(written.text, keys) if keys else (written.text,))
    except InvalidPrompt as error:
        raise FileError(path, written.line + written.text.count("\n", 0, error.place), f"{error}") from error


def parts_of(text: str, keys: Collection[str]) -> tuple[str | Placeholder, ...]:
    r"""A text in its parts; all between `{{` and `}}` must be a key."""
    parts: list[str | Placeholder] = []
    done = 0
    while braces := BRACES.search(text, done):
        parts.append(text[done : braces.start()])
        if braces[0] != "{{":
            parts.append("{{")
            done = braces.end()
            continue
        end = text.find("}}", braces.end())
        name = text[braces.end() : end].strip() if end >= 0 else ""
        if name not in keys:
            raise InvalidPrompt(_unknown(name, keys, is_closed=end >= 0), braces.start())
        parts.append(Placeholder(name))
        done = end + 2
    return (*parts, text[done:])


def _unknown(name: str, keys: Collection[str], *, is_closed: bool) -> str:
    if not is_closed or "\n" in name:
        return r"'{{' has no '}}' on its line; write '\{{' for the braces themselves."
    return f"'vary' has no '{name[:100]}'. {did_you_mean(name, keys)} Write '\\{{{{' for the braces themselves."

r"""The conversation of an eval: turns between lines of `---`, wordings of a turn between lines of `--- or`.

A wording may begin with `when: {failed: CHECK}`, and have `{{key}}` and `{{output: COMMAND}}` in it. After a backslash,
all of these are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import FileError, InvalidPrompt, InvalidYaml
from orvl.project.names import did_you_mean
from orvl.project.yaml_text import read_yaml
from orvl.types import Paste, Placeholder, When, Wording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

MOST_TURNS = 1000
MOST_WORDINGS = 100
BETWEEN_TURNS, BETWEEN_WORDINGS = "---", "--- or"
MOST_PASTES = 10
BRACES = re.compile(r"(?P<escape>\\)?\{\{(?P<output>[ \t]*output:)?")
NAME = re.compile(r"\{\{([^\n]*?)\}\}")
OUTPUT = re.compile(r"\{\{[ \t]*output:((?>\{\{[^{}\n]*\}\}|(?!\}\}(?!\}))[^\n])*+)\}\}")
"""A command may have braces of its own in it: a value, or those of a shell."""
UNCLOSED = r"'{{' has no '}}' on its line; write '\{{' for the braces themselves."
CONDITION = re.compile(r"(\\)?when:[ \t]*(\{.*\})[ \t]*")
Part = str | Placeholder | Paste


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
    """A wording in its parts. Where nothing varies, only `{{output: …}}` is more than text."""
    when, text = _condition(path, written)
    first_line = written.line + written.text[: len(written.text) - len(text)].count("\n")
    try:
        wording = Wording(parts_of(text, keys, may_paste=True), when)
    except InvalidPrompt as error:
        raise FileError(path, first_line + text.count("\n", 0, error.place), f"{error}") from error
    if len(wording.pastes) > MOST_PASTES:
        raise FileError(path, written.line, f"a prompt has at most {MOST_PASTES} outputs of commands.")
    return wording


def _condition(path: Path, written: WrittenPrompt) -> tuple[When | None, str]:
    """The condition above a wording, and the rest."""
    first, _, rest = written.text.partition("\n")
    if not (found := CONDITION.fullmatch(first)):
        return None, written.text
    if found[1]:
        return None, written.text[1:]
    try:
        _, value = read_yaml(found[2])
    except InvalidYaml:
        value = None
    pairs = [*value.items()] if isinstance(value, dict) else []
    if len(pairs) != 1 or pairs[0][0] not in ("failed", "passed") or not isinstance(pairs[0][1], str):
        raise FileError(path, written.line, "write 'when: {failed: CHECK}' or 'when: {passed: CHECK}'.")
    if not rest.strip():
        raise FileError(path, written.line, "nothing is said below this 'when'.")
    return When(pairs[0][1], pairs[0][0] == "passed"), rest.lstrip("\n")


def parts_of(text: str, keys: Collection[str], *, may_paste: bool = False) -> tuple[Part, ...]:
    r"""A text in its parts. Where there are keys, all between `{{` and `}}` must be one of them, or an output."""
    parts: list[Part] = []
    done = 0
    while braces := BRACES.search(text, done):
        parts.append(text[done : braces.start()])
        place, done = braces.start(), braces.end()
        is_output = may_paste and bool(braces["output"])
        if not keys and not is_output:
            parts.append(braces[0])
        elif braces["escape"]:
            parts.append(braces[0][1:])
        else:
            found = (OUTPUT if is_output else NAME).match(text, place)
            if found is None:
                raise InvalidPrompt(UNCLOSED, place)
            parts.append(Paste(_command(found[1].strip(), keys, place)) if is_output else _key(found[1], keys, place))
            done = found.end()
    return tuple(part for part in (*parts, text[done:]) if part != "")


def _key(name: str, keys: Collection[str], place: int) -> Placeholder:
    name = name.strip()
    if name not in keys:
        sentence = f"'vary' has no '{name[:100]}'. {did_you_mean(name, keys)} Write '\\{{{{' for the braces themselves."
        raise InvalidPrompt(sentence, place)
    return Placeholder(name)


def _command(text: str, keys: Collection[str], place: int) -> tuple[str | Placeholder, ...]:
    if not text:
        raise InvalidPrompt("'{{output:' needs a command, such as {{output: python3 app.py}}.", place)
    parts = parts_of(text, keys)
    return tuple(part for part in parts if not isinstance(part, Paste))

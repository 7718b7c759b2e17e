"""YAML that somebody else may have written: a few lines of it can stand for more than any memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from orvl.errors import InvalidYaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LONGEST = 256 << 10
"""Characters: libyaml reads a MiB in about two seconds."""
DEEPEST = 50
MOST_VALUES = 10_000
"""Values in all, with those that an alias stands for counted again."""


def read_yaml(text: str) -> tuple[Any, Any]:
    """A text as YAML's nodes, which know their lines, and as values; both are None where it is empty."""
    if len(text) > LONGEST:
        raise InvalidYaml(f"it has more than {LONGEST >> 10} KiB")
    try:
        _check_size(yaml.parse(text, Loader=Loader))
        return yaml.compose(text, Loader=Loader), yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        line = _line(error, text.split("\n"))
        raise InvalidYaml(_problem(error, text), None if line is None else line + 1) from error
    except InvalidYaml:
        raise
    except (ValueError, OverflowError) as error:
        raise InvalidYaml(str(error)) from error


def _line(error: yaml.YAMLError, lines: Sequence[str]) -> int | None:
    """The line of the mistake, from 0: where something was begun, if it was never ended; else where YAML gave up."""
    where, begun = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if where is None:
        return None
    line: int = where.line
    what = getattr(error, "context", None) or ""
    is_begun = what.startswith(("while parsing a flow", "while scanning"))
    ran_over = line >= len(lines) or not lines[line].strip() or lines[line][:1] not in "\t \"'{}[],"
    return int(begun.line) if begun is not None and is_begun and ran_over else line


def _problem(error: yaml.YAMLError, text: str) -> str:
    """What is wrong, with what is usually meant by it."""
    problem = getattr(error, "problem", None) or "it is not YAML"
    mark = getattr(error, "problem_mark", None)
    if problem == "found character that cannot start any token" and mark is not None:
        sign = text.split("\n")[mark.line][mark.column : mark.column + 1]
        return "a tab cannot indent; use spaces" if sign == "\t" else f"a value that begins with {sign} needs quotes"
    if problem.startswith("mapping values are not allowed"):
        return f"{problem}; a value with ': ' in it needs quotes, and keys of one level begin in the same column"
    return str(problem)


def _check_size(events: Iterator[Any]) -> None:
    """Refuses what is too deep or too much before anything is made of it: composing deep nodes ends the process."""
    begun: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    values = 0
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = begun.pop()
            if anchor:
                sizes[anchor] = values - before
            continue
        if isinstance(event, yaml.AliasEvent):
            # One inside of what it names has no size yet, and no end; one that names nothing is refused later.
            is_endless = any(event.anchor == anchor for anchor, _ in begun)
            values += MOST_VALUES if is_endless else sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            values += 1
            if isinstance(event, yaml.CollectionStartEvent):
                sizes.pop(event.anchor or "", None)
                begun.append((event.anchor, values))
            elif event.anchor:
                sizes[event.anchor] = 1
        line = event.start_mark.line + 1
        if len(begun) > DEEPEST:
            raise InvalidYaml(f"it is nested more than {DEEPEST} deep", line)
        if values > MOST_VALUES:
            raise InvalidYaml(f"it has more than {MOST_VALUES} values, with aliases written out", line)

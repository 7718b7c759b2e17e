"""YAML that somebody else may have written: a few lines of it can stand for more than any memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from orvl.errors import InvalidYaml

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        mark = getattr(error, "problem_mark", None)
        raise InvalidYaml(
            getattr(error, "problem", None) or "it is not YAML", mark.line + 1 if mark else None
        ) from error
    except InvalidYaml:
        raise
    except (ValueError, OverflowError) as error:
        raise InvalidYaml(str(error)) from error


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
            # An alias inside of what it names has no size yet.
            values += sizes.get(event.anchor or "", MOST_VALUES)
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

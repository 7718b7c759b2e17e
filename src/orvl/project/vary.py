"""`vary` of an eval: what is drawn anew for each episode, and the folders that are laid over its workspace then."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError
from orvl.project.names import did_you_mean
from orvl.types import Paste

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from orvl.project.front_matter import FrontMatter
    from orvl.types import Choices, Wording

KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
LONGEST_VALUE = 1000
LONGEST_PROMPT = 1 << 20
"""Characters: a few lines with many long values could fill any memory."""
LARGEST = 1 << 53
"""Whole numbers that every program can read."""
FORM = "a list such as [Lyon, Ghent], or {from: 6, to: 40} for a whole number"


def choices_of(front: FrontMatter) -> dict[str, Choices]:
    """By name, what a value is drawn from."""
    found: dict[str, Choices] = {}
    for key, written in front.settings.vary.items():
        place = ("vary", key)
        if not KEY.fullmatch(key) or key == "output":
            raise front.wrong(place, f"'{key}' cannot be the name of something that varies; use letters, digits, _, -.")
        if isinstance(written, dict):
            found[key] = _range(front, key, written)
        elif isinstance(written, list) and written:
            found[key] = tuple(_value(front, key, value) for value in written)
            names = [str(value) for value in found[key]]
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise front.wrong(place, f"'vary.{key}' has '{twice}' twice.")
        else:
            raise front.wrong(place, f"'vary.{key}' must be {FORM}.")
    return found


def _range(front: FrontMatter, key: str, written: Mapping[Any, Any]) -> range:
    first, last = written.get("from"), written.get("to")
    is_whole = all(type(end) is int and abs(end) <= LARGEST for end in (first, last))
    if written.keys() != {"from", "to"} or not is_whole:
        raise front.wrong(("vary", key), f"'vary.{key}' must be {FORM}.")
    assert isinstance(first, int) and isinstance(last, int)
    if first > last:
        raise front.wrong(("vary", key), f"'vary.{key}' goes from {first} down to {last}; 'to' must not be less.")
    return range(first, last + 1)


def _value(front: FrontMatter, key: str, value: Any) -> str | int:
    if type(value) is int and abs(value) <= LARGEST:
        return value
    if not isinstance(value, str):
        raise front.wrong(("vary", key), f"'vary.{key}' has {value!r:.100}; put it into quotes, if it is a text.")
    why = "is empty" if not value.strip() else "has a NUL byte" if "\0" in value else ""
    if len(value) > LONGEST_VALUE:
        why = f"has more than {LONGEST_VALUE} characters"
    elif not why and not _is_text(value):
        why = "is not UTF-8"
    if why:
        raise front.wrong(("vary", key), f"a value of 'vary.{key}' {why}.")
    return value


def _is_text(value: str) -> bool:
    try:
        return bool(value.encode())
    except UnicodeEncodeError:
        return False


def check_sizes(path: Path, line: int, wording: Wording, vary: Mapping[str, Choices]) -> None:
    """Refuses a prompt that could become longer than any agent takes."""
    longest = {key: _longest(choices) for key, choices in vary.items()}
    parts = [part for part in wording.parts if not isinstance(part, Paste)]
    size = sum(len(part) if isinstance(part, str) else longest[part.key] for part in parts)
    if vary and size > LONGEST_PROMPT:
        raise FileError(
            path, line, f"with its values this prompt can have {size} characters; {LONGEST_PROMPT} at most."
        )


def _longest(choices: Choices) -> int:
    ends = (choices[0], choices[-1]) if isinstance(choices, range) else choices
    return max(len(str(value)) for value in ends)


def variants_of(
    folder: Path | None, vary: Mapping[str, Choices], digest: Callable[[Path, Path], str]
) -> dict[str, dict[str, str]]:
    """The digests of `variants/KEY/VALUE/`, in the order of `vary`; `digest` takes a folder and what it must lie in."""
    root = folder / "variants" if folder else None
    if root is None or not os.path.lexists(root):
        return {}
    keys = _folders(root, list(vary), "'vary' has no")
    found: dict[str, dict[str, str]] = {}
    for key in (key for key in vary if key in keys):
        values = _folders(root / key, _names(vary[key]), f"'vary.{key}' has no")
        found[key] = {value: digest(root / key / value, root / key) for value in values}
    return found


def _names(choices: Choices) -> list[str] | range:
    return choices if isinstance(choices, range) else [str(value) for value in choices]


def _folders(path: Path, known: list[str] | range, lacks: str) -> list[str]:
    """The names in a folder, which must all be known ones; READMEs and hidden files are allowed."""
    if path.is_symlink() or not path.is_dir():
        raise FileError(path, None, "this must be a folder, not a link.")
    names = []
    for entry in sorted(path.iterdir()):
        if entry.name.lower().startswith((".", "readme")):
            continue
        if not _is_known(entry.name, known):
            choices = [str(known[0]), str(known[-1])] if isinstance(known, range) else known
            raise FileError(entry, None, f"{lacks} '{entry.name}'. {did_you_mean(entry.name, choices)}")
        names.append(entry.name)
    return names


def _is_known(name: str, known: list[str] | range) -> bool:
    if not isinstance(known, range):
        return name in known
    return bool(re.fullmatch(r"-?[0-9]{1,17}", name)) and str(int(name)) == name and int(name) in known

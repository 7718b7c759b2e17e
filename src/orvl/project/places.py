"""Absolute paths at which an eval wants its workspace, and other folders that are kept with it; and its variables."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orvl.project.overlays import no_variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEPT = ".places"
"""The folder of the workspace in which all other places are kept."""
TESTS, LOGS, SETUP, SOLUTION = "/tests", "/logs", "/setup", "/solution"
"""Where checks, the setup and controls get what is theirs."""
TAKEN = (
    *("/bin", "/boot", "/dev", "/etc", "/home/agent", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc"),
    *("/run", "/sbin", "/sys", "/tmp", "/usr", TESTS, LOGS, SETUP, SOLUTION),
)
"""What a sandbox has of its own, with all that is below."""
PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[\w.+@-]+)+", re.ASCII)
LONGEST = 200
VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


def wrong_place(path: str) -> str | None:
    """Why a folder cannot be shown at a path; None if it can."""
    if not PATH.fullmatch(path) or len(path) > LONGEST:
        return "it must be an absolute path of letters, digits and . _ - + @, such as /app"
    inside = PurePosixPath(path)
    for taken in map(PurePosixPath, TAKEN):
        if inside.is_relative_to(taken) or taken.is_relative_to(inside):
            return f"a sandbox has {taken} of its own"
    return None


def wrong_places(workdir: str, places: Sequence[str]) -> str | None:
    """Why these paths cannot be had together; None if they can."""
    for place in [*([workdir] if workdir else []), *places]:
        if why := wrong_place(place):
            return f"'{place}' cannot be a folder of a run: {why}."
    for number, place in enumerate(places):
        for other in [*places[:number], *([workdir] if workdir else [])]:
            if PurePosixPath(place).is_relative_to(other) or (
                other != workdir and PurePosixPath(other).is_relative_to(place)
            ):
                return f"'{place}' and '{other}' are in each other; name the outer one alone."
    return None


def kept_at(place: str) -> str:
    """The path in the workspace of what is shown at a place."""
    return KEPT + place


def wrong_variable(name: str, value: str) -> str | None:
    """Why an eval may not set a variable; None if it may."""
    if name.startswith("LD_"):
        return "it decides what every program loads, the agent's own too"
    return None if name == "PATH" and "\0" not in value else no_variable(name, value)


def expanded(variables: Mapping[str, str], base: Mapping[str, str]) -> dict[str, str]:
    """An eval's variables; `$NAME` in them is what NAME is without them."""
    return {
        name: VARIABLE.sub(lambda match: base.get(match[1] or match[2], ""), value) for name, value in variables.items()
    }

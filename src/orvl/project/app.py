"""An eval's app, and the steps through it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orvl.errors import InvalidAppConfig

FORMS = {
    "open": r"open (?P<text>/\S*)",
    "click": r"click (?P<text>.+)",
    "type": r"type (?P<text>.+) into (?P<field>.+)",
    "choose": r"choose (?P<text>.+) in (?P<field>.+)",
    "press": r"press (?P<text>\S+)",
    "view": r"view (?P<text>phone|desktop|dark|light)",
    "expect value": r"expect value (?P<text>.+) in (?P<field>.+)",
    "expect no value": r"expect no value in (?P<field>.+)",
    "expect no sideways scrolling": r"expect no sideways scrolling",
    "expect dark background": r"expect dark background",
    "expect light background": r"expect light background",
    "expect text": r"expect text (?P<text>.+)",
    "expect no text": r"expect no text (?P<text>.+)",
    "expect url": r"expect url (?P<text>/\S*)",
    "expect no error": r"expect no error",
    "screenshot": r"screenshot (?P<text>[A-Za-z0-9][A-Za-z0-9_-]{0,39})",
}
SHOWN = {
    "open": "open /PATH",
    "click": "click TEXT or SELECTOR",
    "type": "type TEXT into FIELD",
    "choose": "choose OPTION in FIELD",
    "press": "press KEY",
    "view": "view phone, view desktop, view dark or view light",
    "expect value": "expect value TEXT in FIELD",
    "expect no value": "expect no value in FIELD",
    "expect no sideways scrolling": "expect no sideways scrolling",
    "expect dark background": "expect dark background",
    "expect light background": "expect light background",
    "expect text": "expect text TEXT",
    "expect no text": "expect no text TEXT",
    "expect url": "expect url /PATH",
    "expect no error": "expect no error",
    "screenshot": "screenshot NAME",
}
MOST_STEPS, LONGEST_STEP = 40, 1000
EXPECTS = "expect "
"""How a step begins that can pass; the others are actions, which are done or fail."""


@dataclass(frozen=True)
class AppStep:
    """One step: what to do, with which text, in which field."""

    line: str
    verb: str
    text: str = ""
    field: str = ""


def check_app(app: Mapping[str, str]) -> None:
    """Checks that an app is either started by a command or a page among the files."""
    if ("start" in app) == ("files" in app):
        raise InvalidAppConfig(
            "'app' needs either 'start', a command that serves at $PORT, or 'files', such as index.html."
        )
    if "files" in app and "path" in app:
        raise InvalidAppConfig("'app.path' goes with 'start'; 'files' already names the page.")
    if not app.get("path", "/").startswith("/"):
        raise InvalidAppConfig(f"'app.path' is {app['path']!r}; it must begin with '/'.")
    files = app.get("files", "")
    if files.startswith("/") or ".." in files.split("/"):
        raise InvalidAppConfig(f"'app.files' is {files!r}; it must be a path inside the workspace.")


def check_steps(steps: Sequence[str]) -> tuple[AppStep, ...]:
    """Parses steps; the error on a line that is not a step shows the form that it needs."""
    if len(steps) > MOST_STEPS:
        raise InvalidAppConfig(f"'steps' has {len(steps)} steps; at most {MOST_STEPS} are allowed.")
    return tuple(_step(line, number) for number, line in enumerate(steps, 1))


def check_expectations(steps: Sequence[str]) -> None:
    """Checks that steps expect something: actions alone show nothing about the app."""
    if steps and not any(step.verb.startswith(EXPECTS) for step in check_steps(steps)):
        raise InvalidAppConfig(
            "'steps' expect nothing: only a step such as 'expect text Saved' can pass. Add one after the actions."
        )


def _step(line: str, number: int) -> AppStep:
    if not isinstance(line, str) or not line.strip():
        raise InvalidAppConfig(
            f"'steps[{number}]' is {line!r}; it must be text such as 'click Add': put quotes around it."
        )
    words = line.strip()
    if len(words) > LONGEST_STEP:
        raise InvalidAppConfig(f"'steps[{number}]' has {len(words)} characters; at most {LONGEST_STEP} are allowed.")
    for verb in sorted(FORMS, key=len, reverse=True):
        if match := re.fullmatch(FORMS[verb], words):
            parts = {name: _unquoted(value) for name, value in match.groupdict().items()}
            return AppStep(words, verb, parts.get("text", ""), parts.get("field", ""))
        if words.split() == verb.split() or words.startswith(f"{verb} "):
            is_cut = words == verb or words.endswith((" into", " in"))
            hint = " (YAML drops what follows ' #': put quotes around the step)" if is_cut else ""
            raise InvalidAppConfig(f"'steps[{number}]' is {words!r}; it must be '{SHOWN[verb]}'{hint}.")
    raise InvalidAppConfig(f"'steps[{number}]' is {words!r}; a step is one of: {'; '.join(SHOWN.values())}.")


def _unquoted(text: str) -> str:
    """Quotes around a text are not part of it."""
    text = text.strip()
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else text

"""Dockerfile → instructions, each with its line. Nothing is looked up and nothing is run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from orvl.errors import TaskRefused

MOST_INSTRUCTIONS = 1000
WORDS = frozenset(
    (
        *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER"),
        *("ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
    )
)
DIRECTIVE = re.compile(r"#\s*(\w+)\s*=\s*(\S+)")
HEREDOC = re.compile(r"(?:^|\s)\d*<<(-?)(?:\"([A-Za-z_]\w*)\"|'([A-Za-z_]\w*)'|([A-Za-z_]\w*))")
FLAG = re.compile(r"--([a-z-]+)(?:=(\S*))?(?:\s+|$)")
VARIABLE = re.compile(r"\\\$|\$(?:(\w+)|\{(\w+)(?:(:?[-+])([^{}]*))?\})", re.ASCII)


@dataclass(frozen=True)
class Heredoc:
    """A text in the lines below an instruction; `is_plain` where no variable in it is replaced."""

    name: str
    text: str
    is_plain: bool


@dataclass(frozen=True)
class Instruction:
    """One instruction, its lines joined, its flags taken off."""

    line: int
    word: str
    rest: str
    flags: tuple[tuple[str, str], ...] = ()
    heredocs: tuple[Heredoc, ...] = ()

    def wrong(self, why: str) -> TaskRefused:
        return TaskRefused(f"environment/Dockerfile:{self.line}: {why}")

    def words(self) -> list[str]:
        """The words of an instruction that takes paths: separated by spaces, or a JSON list."""
        if (listed := self.json()) is not None:
            return listed
        return self.rest.split()

    def json(self) -> list[str] | None:
        """What an instruction in the exec form holds; None for the shell form."""
        if not self.rest.startswith("["):
            return None
        try:
            listed = json.loads(self.rest)
        except (ValueError, RecursionError):
            return None
        return listed if isinstance(listed, list) and all(isinstance(word, str) for word in listed) else None


def parse(text: str) -> list[Instruction]:
    """The instructions of a Dockerfile, in order."""
    lines = text.split("\n")
    _check_directives(lines)
    found: list[Instruction] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        begun = at
        joined, at = _joined(lines, at)
        word, _, rest = joined.strip().partition(" ")
        if word.upper() not in WORDS:
            raise TaskRefused(f"environment/Dockerfile:{begun + 1}: '{word[:40]}' is no instruction")
        heredocs: list[Heredoc] = []
        if word.upper() in ("RUN", "COPY", "ADD"):
            heredocs, at = _heredocs(rest, lines, at, begun)
        flags, rest = _flags(rest.strip()) if word.upper() in ("RUN", "COPY", "ADD", "FROM") else ((), rest.strip())
        found.append(Instruction(begun + 1, word.upper(), rest, flags, tuple(heredocs)))
        if len(found) > MOST_INSTRUCTIONS:
            raise TaskRefused(f"environment/Dockerfile has more than {MOST_INSTRUCTIONS} instructions")
    return found


def _check_directives(lines: list[str]) -> None:
    for line in lines:
        match = DIRECTIVE.fullmatch(line.strip())
        if match is None:
            return
        if match[1].lower() == "escape" and match[2] != "\\":
            raise TaskRefused("environment/Dockerfile:1: it has another escape character than a backslash")


def _joined(lines: list[str], at: int) -> tuple[str, int]:
    """An instruction's lines as one; comments and empty lines between them do not end it."""
    parts: list[str] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if parts and (not line.strip() or line.lstrip().startswith("#")):
            continue
        if not line.rstrip().endswith("\\"):
            parts.append(line)
            break
        parts.append(line.rstrip()[:-1])
    return re.sub(r"^(\s*\S+)\s+", r"\1 ", "".join(parts)), at


def _heredocs(rest: str, lines: list[str], at: int, begun: int) -> tuple[list[Heredoc], int]:
    """The texts that an instruction announces. Two `<` in a shell's command mean the same there."""
    found = []
    for match in HEREDOC.finditer(rest):
        name = next(filter(None, match.groups()[1:]))
        text: list[str] = []
        while True:
            if at >= len(lines):
                raise TaskRefused(f"environment/Dockerfile:{begun + 1}: the text up to '{name}' has no end")
            line = lines[at].lstrip("\t") if match[1] else lines[at]
            at += 1
            if line == name:
                break
            text.append(line)
        found.append(Heredoc(name, "".join(f"{line}\n" for line in text), is_plain=match[4] is None))
    return found, at


def _flags(rest: str) -> tuple[tuple[tuple[str, str], ...], str]:
    flags = []
    while match := FLAG.match(rest):
        flags.append((match[1], match[2] or ""))
        rest = rest[match.end() :]
    return tuple(flags), rest.strip()


def replaced(text: str, variables: dict[str, str], keep: tuple[str, ...] = ()) -> str:
    """A text with Docker's variables replaced; those in `keep` stay as they are, unknown ones are empty."""

    def value(match: re.Match[str]) -> str:
        if match[0] == "\\$":
            return "$"
        name = match[1] or match[2]
        if name in keep and match[3] is None:
            return f"${{{name}}}"
        found = variables.get(name)
        if match[3] is None:
            return found or ""
        is_set = found is not None and (found or not match[3].startswith(":"))
        if match[3].endswith("+"):
            return match[4] if is_set else ""
        return found or "" if is_set else match[4]

    return VARIABLE.sub(value, text)

"""What a cheat knows: the names of the programs that are asked for, the words of the prompts, and what is there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import splitext
from typing import TYPE_CHECKING

from orvl.trust.mutate.syntax import is_test, language_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.trust.mutate.source import ControlSource

QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|^ {4}([^\n]+)$", re.MULTILINE)
SHELL = (".sh", ".bash")


@dataclass(frozen=True)
class Cheat:
    """Files, links and a command instead of work."""

    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()
    command: str = ""
    is_beside: bool = False
    """Whether it leaves programs as they are, so that it can be laid over bad work."""


@dataclass(frozen=True)
class Scene:
    """An eval as somebody sees it who wants its points without the work."""

    source: ControlSource

    @cached_property
    def programs(self) -> dict[str, str]:
        """The files of code that are asked for, and their languages. Prompts name them, so anybody knows them."""
        found = {path: _language(path) for path in self.source.good.files if not is_test(path)}
        return {path: language for path, language in found.items() if language}

    @cached_property
    def prompts(self) -> str:
        return "\n".join(self.source.eval.prompts)

    @cached_property
    def quotes(self) -> list[str]:
        """What prompts have in code or quotes: commands, names, outputs."""
        found = ["".join(match).strip() for match in QUOTED.findall(self.prompts)]
        return [text for text in dict.fromkeys(found) if text]

    @cached_property
    def words(self) -> list[str]:
        return sorted(self.source.spoken)

    def every(self, **by_language: str) -> dict[str, str]:
        """The same text for each program, by its language; programs in other languages are left out."""
        return {path: by_language[language] for path, language in self.programs.items() if language in by_language}


def _language(path: str) -> str | None:
    if splitext(path)[1] in SHELL:
        return "shell"
    found = language_of(path)
    return "javascript" if found in ("typescript", "tsx") else found

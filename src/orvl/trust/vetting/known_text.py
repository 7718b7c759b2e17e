"""What the agent is told or given: prompts up to a turn, and the files of the workspace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.types import Eval

WORD = re.compile(r"[^\W_][\w.-]*|_[\w.-]+")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def readable(content: bytes) -> str | None:
    """A text as people still send them: in UTF-8, UTF-16 with its mark, or Windows-1252; None for anything else."""
    if content.startswith(UTF_16):
        return content.decode("utf-16", "replace")
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


@dataclass(frozen=True)
class KnownText:
    """Prompts and files, as one text to look things up in."""

    prompts: Sequence[str]
    files: Mapping[str, bytes]

    @cached_property
    def text(self) -> str:
        texts = [text for content in self.files.values() if (text := readable(content)) is not None]
        return "\n".join([*self.prompts, *self.files, *texts])

    @cached_property
    def _squeezed(self) -> str:
        return " ".join(self.text.split())

    def holds(self, piece: str) -> bool:
        """Whether a text stands there, whatever blanks are between its words."""
        return " ".join(piece.split()) in self._squeezed

    def says(self, word: str) -> bool:
        """Whether a word stands there by itself; plain words in any case."""
        flags = re.IGNORECASE if word.isalnum() else 0
        return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", self.text, flags) is not None


def told_by(eval_: Eval, turn: int) -> tuple[str, ...]:
    """The prompts up to a turn, and what the user tells by then to an agent that asks."""
    facts = eval_.user.in_turn(turn).facts.values() if eval_.user else ()
    return (*eval_.prompts[:turn], *facts)

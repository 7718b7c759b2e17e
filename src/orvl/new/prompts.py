"""Prompts for turns that were commits: what a user would have asked, by a model, in an editor, or as a draft."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from orvl.new.suite import is_of_tests
from orvl.new.unsaid import added_lines, unsaid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.new.history import History

TRAILER = re.compile(
    r"(Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Tested-by|Change-Id|Cc|Reported-by|Helped-by): .*",
    re.IGNORECASE,
)
TELLING = 24
"""Signs of a line of code from which on nobody writes it by chance."""
MOST_SHOWN = 60_000
CUT = "------------------------ everything from this line on is left out ------------------------"


@dataclass(frozen=True)
class Ask:
    """What a prompt is written from: one commit, and the prompts before it."""

    history: History
    turn: int
    before: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        return self.history.steps[self.turn - 1].commit.message

    def unsaid(self, prompt: str) -> list[str]:
        """What the hidden tests need, and nobody says with this prompt either."""
        return unsaid(self.history, self.turn, [*self.before, prompt])

    def quoted(self, prompt: str) -> str | None:
        """A line of the solution that a prompt has in it, or None."""
        said = " ".join(prompt.split())
        lines = (" ".join(line.split()) for line in added_lines(self.history, self.turn, tests=False))
        return next((line for line in lines if len(line) >= TELLING and line in said), None)

    def diff(self) -> str:
        """What the commit changed, but for its tests, as text."""
        before, step = self.history.tree(self.turn - 1), self.history.steps[self.turn - 1]
        parts = [f"deleted: {path}\n" for path in step.deleted if not is_of_tests(path)]
        for path, entry in step.changed.items():
            if is_of_tests(path):
                continue
            old = self.history.text(before[path]) if path in before else ""
            new = self.history.text(entry)
            if old is None or new is None:
                parts.append(f"changed: {path} (no text)\n")
                continue
            rows = difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
            parts.append("\n".join(rows) + "\n")
        return "".join(parts)[:MOST_SHOWN]


@dataclass(frozen=True)
class Prompt:
    """A prompt; a draft is still to be written by somebody."""

    text: str
    is_draft: bool = False


class PromptWriter(Protocol):
    """Writes the prompt of a turn."""

    async def write(self, ask: Ask, /) -> Prompt: ...


class Drafts:
    """The commit's message, until somebody writes what a user would have asked."""

    async def write(self, ask: Ask) -> Prompt:
        return Prompt(drafted(ask.message), is_draft=True)


def drafted(message: str) -> str:
    """A commit's message without the lines that only tools read."""
    lines = [line.rstrip() for line in message.replace("\0", "").strip().splitlines()]
    kept = [line for line in lines if not TRAILER.fullmatch(line)]
    return "\n".join(kept).strip() or "(This commit has no message.)"


async def all_prompts(history: History, writer: PromptWriter) -> list[Prompt]:
    """The prompts of all turns, one after the other."""
    prompts: list[Prompt] = []
    for turn in range(1, len(history.steps) + 1):
        prompts.append(await writer.write(Ask(history, turn, tuple(prompt.text for prompt in prompts))))
    return prompts


def comments(history: History, prompts: Sequence[Prompt]) -> list[str]:
    """What the eval's author is told about its prompts, in its front matter, which no agent sees."""
    lines = []
    for turn, prompt in enumerate(prompts, 1):
        ask = Ask(history, turn, tuple(one.text for one in prompts[: turn - 1]))
        if prompt.is_draft:
            lines.append(f"DRAFT: turn {turn} is the commit's message. Write what a user would have asked instead.")
        if lacking := ask.unsaid(prompt.text):
            lines.append(f"Turn {turn} does not say what its hidden tests need: {', '.join(map(_shown, lacking))}")
        if line := ask.quoted(prompt.text):
            lines.append(f"Turn {turn} quotes the solution: {_shown(line)}")
    return lines


def _shown(text: str) -> str:
    """A text as part of a comment, which YAML wants to be printable."""
    return f"`{text}`" if text.isprintable() else repr(text)


# -- in an editor


def editor_text(ask: Ask) -> str:
    """What an editor opens: the draft, and below a line what is not part of it."""
    draft = drafted(ask.message)
    lacking = ask.unsaid(draft)
    told = [
        f"Turn {ask.turn} of {len(ask.history.steps)}, commit {ask.history.steps[ask.turn - 1].short}.",
        "Write what a user would ask: what is wanted, not how it is done. Say every name that the hidden tests need.",
        *([f"Not said so far: {', '.join(lacking)}"] if lacking else []),
        "",
        ask.diff(),
    ]
    return "\n".join([draft, "", CUT, *told]) + "\n"


def from_editor(text: str | None, ask: Ask) -> Prompt:
    """What was written; an editor that was left without a word, or without saving, leaves the draft."""
    prompt = (text or "").partition(CUT)[0].strip()
    draft = drafted(ask.message)
    return Prompt(prompt or draft, is_draft=prompt in ("", draft))

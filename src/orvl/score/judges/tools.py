"""What a judge may look at by itself, read-only and so many times: files, a search, and steps in the browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.score.judges.clean import clean, name_of
from orvl.score.judges.names import without_names
from orvl.score.judges.plain import plain_text
from orvl.score.judges.select import LARGEST_FILE, OF_AGENTS, lines_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from orvl.capture.captured_run import CapturedRun
    from orvl.score.judges.evidence import View

    Browse = Callable[[Sequence[str]], Awaitable[str]]

LONGEST = 8_000
MOST_LISTED = 200
MOST_FOUND = 40
MOST_READ = 2 << 20
LOOK = re.compile(r"(list|read|search|browse)\b\s*(.*)", re.DOTALL)


class Looks:
    """The looks that a judge has left at one view of a run."""

    def __init__(self, run: CapturedRun, view: View, browse: Browse | None, most: int) -> None:
        self._run, self._view, self._browse = run, view, browse
        self.left = most

    @property
    def instruction(self) -> str:
        """What the judge is told that it may do."""
        browse = "; `browse STEP; STEP; …` does steps in the browser, such as `click Add; expect text milk`"
        return (
            f"Before you answer you may look {self.left} times: give `looks`, a list of lines, with no items, and you "
            "get what they show. `list FOLDER` lists files; `read PATH FIRST-LAST` shows lines of a file; "
            f"`search WORDS` shows the lines that hold these words{browse if self._browse else ''}. "
            "When you answer, leave `looks` empty."
        )

    async def take(self, asked: Sequence[str]) -> str:
        """What the looks show, each once, between marks."""
        told = []
        for line in asked:
            if self.left <= 0:
                told.append("No looks are left: answer now.")
                break
            self.left -= 1
            told.append(f"> {name_of(line)}\n{(await self._one(line))[:LONGEST]}")
        mark = self._view.nonce
        shown = "\n\n".join(told)
        return f"<<<evidence {mark}>>>\n{shown}\n<<<end of evidence {mark}>>>\nLooks left: {self.left}. Go on."

    async def _one(self, line: str) -> str:
        found = LOOK.fullmatch(line.strip())
        if found is None:
            return "That is no look: write list, read, search or browse."
        verb, rest = found[1], found[2].strip()
        if verb == "browse":
            if self._browse is None:
                return "There is no app to browse."
            return clean(await self._browse([step.strip() for step in rest.split(";") if step.strip()]))
        return {"list": self._list, "read": self._read, "search": self._search}[verb](rest)

    @property
    def _names(self) -> dict[str, str]:
        """What files are called in this view, by path; in the plain view only those that it shows."""
        shown = {path: name for name, path in self._view.names.items()}
        if self._view.is_plain:
            return shown
        others = (path for path in self._run.files if path not in shown and not OF_AGENTS.search(path))
        return shown | {path: self._blind(name_of(path)) for path in others}

    def _blind(self, text: str) -> str:
        return without_names(text, self._run.hidden_names, self._run.prompts)

    def _list(self, folder: str) -> str:
        prefix = folder.removeprefix("./").strip("/")
        prefix = "" if prefix == "." else prefix
        names = sorted(name for name in self._names.values() if not prefix or name.startswith(f"{prefix}/"))
        more = [f"and {len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
        return "\n".join([*names[:MOST_LISTED], *more]) or "There is no file."

    def _read(self, rest: str) -> str:
        found = re.fullmatch(r"(.+?)(?:\s+(\d{1,7})(?:-(\d{1,7}))?)?", rest)
        path = next((path for path, name in self._names.items() if found and name == found[1]), None)
        if found is None or path is None:
            return f"There is no file '{name_of(rest)}'."
        lines = self._lines(path)
        first = int(found[2] or 1)
        last = min(len(lines), int(found[3] or (found[2] and first + 200) or 200))
        return "\n".join(f"{number}| {lines[number - 1][:400]}" for number in range(max(1, first), last + 1))

    def _search(self, words: str) -> str:
        wanted, read = words.strip("\"'`").lower(), 0
        hits: list[str] = []
        for path, name in self._names.items():
            if not wanted or self._run.size(path) > LARGEST_FILE:
                continue
            read += self._run.size(path)
            if read > MOST_READ or len(hits) >= MOST_FOUND:
                hits.append("There is more: not all files were searched.")
                break
            lines = enumerate(self._lines(path), 1)
            hits += [f"{name}:{number}| {line[:200]}" for number, line in lines if wanted in line.lower()]
        return "\n".join(hits[: MOST_FOUND + 1]) or "Nothing was found."

    def _lines(self, path: str) -> Sequence[str]:
        if self._run.size(path) > LARGEST_FILE:
            return ("This file is too large to be shown.",)
        text = self._blind(clean(self._run.read(path)))
        if "\\x00" in text:
            return ("This file is not text.",)
        return lines_of(plain_text(path, text) if self._view.is_plain else text)

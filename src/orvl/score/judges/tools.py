"""What a judge may look up by itself, read-only and a limited number of times: files, a search, the browser.

The texts here are part of what judges are asked: when one changes, raise `WORDING` in project/judges.py.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from orvl.score.judges.file_selection import AGENT_FILES, MAX_FILE, lines_of
from orvl.score.judges.redaction import bare_code, escape, one_line, without_names

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from orvl.capture.captured_run import CapturedRun
    from orvl.score.judges.evidence import EvidenceView

    Browse = Callable[[Sequence[str]], Awaitable[str]]

MAX_RESULT = 8_000
MAX_REQUEST = 2_000
MAX_LISTED = 200
MAX_HITS = 40
MAX_SEARCHED = 2 << 20
REQUEST = re.compile(r"(list|read|search|browse)\b\s*(.*)", re.DOTALL)


class JudgeTools:
    """The tools of one judge for one view of a run, and how many calls it has left."""

    def __init__(self, run: CapturedRun, view: EvidenceView, browse: Browse | None, calls: int) -> None:
        self._run, self._view, self._browse = run, view, browse
        self.left = calls

    @property
    def instruction(self) -> str:
        browse = "; `browse STEP; STEP; …` does steps in the browser, such as `click Add; expect text milk`"
        return (
            f"Before you answer you may look {self.left} times: give `looks`, a list of lines, with no items, and you "
            "get what they show. `list FOLDER` lists files; `read PATH FIRST-LAST` shows lines of a file; "
            f"`search WORDS` shows the lines that hold these words{browse if self._browse else ''}. "
            "When you answer, leave `looks` empty."
        )

    async def call(self, requests: Sequence[str], known: str | None = None) -> str:
        """The results of requests, each counted as a call, between evidence marks; or those that are known already."""
        if known is not None:
            self.left = max(0, self.left - len(requests))
            return known
        results = []
        for request in requests:
            if self.left <= 0:
                results.append("No looks are left: answer now.")
                break
            self.left -= 1
            results.append(f"> {one_line(request)}\n{(await self._result(request))[:MAX_RESULT]}")
        mark = self._view.nonce
        shown = "\n\n".join(results)
        return f"<<<evidence {mark}>>>\n{shown}\n<<<end of evidence {mark}>>>\nLooks left: {self.left}. Go on."

    async def _result(self, request: str) -> str:
        match = REQUEST.fullmatch(request.strip()) if len(request) <= MAX_REQUEST else None
        if match is None:
            return "That is no look: write list, read, search or browse."
        verb, rest = match[1], match[2].strip()
        if verb == "browse":
            if self._browse is None:
                return "There is no app to browse."
            return self._blind(escape(await self._browse([step.strip() for step in rest.split(";") if step.strip()])))
        # Large files take a while to read, in which other runs go on.
        look = {"list": self._list, "read": self._read, "search": self._search}[verb]
        return await asyncio.to_thread(look, rest)

    @property
    def _names(self) -> dict[str, str]:
        """What files are called in this view, by path.

        The plain view offers only the files that it shows: any other name may be a sentence to the judge.
        """
        shown = {path: name for name, path in self._view.names.items()}
        if self._view.is_plain:
            return shown
        others = (path for path in self._run.files if path not in shown and not AGENT_FILES.search(path))
        return shown | {path: self._blind(one_line(path)) for path in others}

    def _blind(self, text: str) -> str:
        return without_names(text, self._run.hidden_names, self._run.own_words)

    def _list(self, folder: str) -> str:
        prefix = folder.removeprefix("./").strip("/")
        prefix = "" if prefix == "." else prefix
        names = sorted(name for name in self._names.values() if not prefix or name.startswith(f"{prefix}/"))
        more = [f"and {len(names) - MAX_LISTED} more"] if len(names) > MAX_LISTED else []
        return "\n".join([*names[:MAX_LISTED], *more]) or "There is no file."

    def _read(self, rest: str) -> str:
        name, _, lines_wanted = rest.rpartition(" ")
        wanted = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", lines_wanted) if name else None
        path = self._path(name.rstrip() if wanted else rest)
        if path is None:
            return f"There is no file '{one_line(rest)}'."
        lines = self._lines(path)
        first = int(wanted[1]) if wanted else 1
        last = min(len(lines), int(wanted[2] or first + 200) if wanted else 200)
        return "\n".join(f"{number}| {lines[number - 1][:400]}" for number in range(max(1, first), last + 1))

    def _path(self, shown: str) -> str | None:
        return next((path for path, name in self._names.items() if name == shown), None)

    def _search(self, words: str) -> str:
        wanted, searched = words.strip("\"'`").lower(), 0
        hits: list[str] = []
        for path, name in self._names.items():
            if not wanted or self._run.size(path) > MAX_FILE:
                continue
            searched += self._run.size(path)
            if searched > MAX_SEARCHED or len(hits) >= MAX_HITS:
                hits.append("There is more: not all files were searched.")
                break
            lines = enumerate(self._lines(path), 1)
            hits += [f"{name}:{number}| {line[:200]}" for number, line in lines if wanted in line.lower()]
        return "\n".join(hits[: MAX_HITS + 1]) or "Nothing was found."

    def _lines(self, path: str) -> Sequence[str]:
        if self._run.size(path) > MAX_FILE:
            return ("This file is too large to be shown.",)
        text = self._blind(escape(self._run.read(path)))
        if "\\x00" in text:
            return ("This file is not text.",)
        return lines_of(bare_code(path, text, self._view.known) if self._view.is_plain else text)

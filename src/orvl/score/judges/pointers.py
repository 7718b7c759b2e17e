"""Checks by program what an answer points to: the line exists, the check ran, the words are nowhere.

An answer that speaks for the work needs a place in it that is really there, and no failed check. One that speaks
against it may also point to a failed check, or say `nowhere:WORDS` of something that is missing.

A model that must name a place, and knows that it is looked up, makes up less. The sentences here are sent back to
judges: when one changes, raise `WORDING` in project/judges.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.capture.captured_run import CapturedRun
    from orvl.gateway.wire.format import Image
    from orvl.score.judges.evidence import EvidenceView

MAX_LISTED = 24
MIN_WORDS = 3
QUOTES = "`'\"<> "
PLACE = re.compile(r"(.+?)(?:[:#]L?(\d{1,9})(?:[-–]L?(\d{1,9})|:\d{1,9})?)?", re.DOTALL)


class Pointers:
    """What the pointers of one view may name."""

    def __init__(
        self, run: CapturedRun, view: EvidenceView, images: Sequence[Image] = (), *, has_further: bool = False
    ) -> None:
        self._run, self._view, self._has_further = run, view, has_further
        self._images = {image.name for image in images}
        self._checks = {check.name: check.passed for check in run.checks}
        page = run.page
        self._steps = {str(step.number): step.passed for step in page.steps} if page else {}
        self._shots = {shot.name for shot in page.shots} if page else set()

    @property
    def kinds(self) -> list[str]:
        """How pointers are written, in the words of the instruction."""
        kinds = ["`path:line` or `path:first-last` of a file above", "`path` where a whole file is meant"]
        if self._checks:
            kinds.append("`check:NAME`")
        if self._steps:
            kinds.append("`step:NUMBER`")
        if self._images:
            kinds.append("`screenshot:NAME`")
        if self._run.page is not None:
            kinds.append("`page` for what the browser found")
        if self._run.lint:
            kinds.append("`lint` for what the linters found")
        if self._has_further:
            kinds.append("`further` for the evidence that stands between marks of its own")
        kinds.append("`nowhere:WORDS` where something is missing: words that would be in the files, and are in none")
        return kinds

    @property
    def listed(self) -> list[str]:
        """Pointers that resolve, for a small model that has to choose one."""
        passed = [f"check:{name}" for name, is_passed in self._checks.items() if is_passed]
        return [*self._view.names, *passed][:MAX_LISTED] or ["none"]

    def problem(self, pointer: str, verdict: str = "yes", favours: bool = True) -> str | None:
        """Why a pointer does not support an answer; None where it does. Of several pointers, one that does is enough.

        `favours` says whether the answer is the one that good work gets.
        """
        written = pointer.strip()
        bare = written.strip(QUOTES)
        if not favours and not self._view.names:
            return None  # Where there is nothing, nothing can be pointed to.
        if not bare:
            return f"a {verdict} without a pointer"
        if bare.lower().startswith("nowhere"):
            return self._missing(bare, favours=favours)
        candidates = [written, bare, bare.strip("[]()" + QUOTES), *re.split(r"\s*[,;]\s*", bare)]
        problems: dict[str, str] = {}
        for part in dict.fromkeys(candidates):
            problem = self._problem(part, favours=favours) if part else "nothing"
            if problem is None:
                return None
            problems[part] = problem
        return problems[bare]

    def _missing(self, pointer: str, *, favours: bool) -> str | None:
        words = pointer.partition(":")[2].strip(QUOTES)
        if favours:
            return "'nowhere' shows nothing of the work: point to what was looked at"
        if len(words) < MIN_WORDS:
            return "'nowhere' needs the words that are missing: nowhere:WORDS"
        found = next((line for line in self._view.work.split("\n") if words.lower() in line.lower()), None)
        return f"'{words[:60]}' is there: {found.strip()[:80]}" if found is not None else None

    def _problem(self, pointer: str, *, favours: bool) -> str | None:
        kind, _, name = pointer.partition(":")
        kind, name = kind.strip().lower(), name.strip()
        if kind == "check" and name:
            missing = f"there is no check '{name[:60]}'"
            return _passed(self._checks, name, missing, f"the check {name[:60]} failed", favours=favours)
        if kind == "step" and name:
            missing = f"there is no step {name[:20]}"
            return _passed(self._steps, name, missing, f"step {name[:20]} did not pass", favours=favours)
        if kind == "screenshot" and name:
            known = name in self._shots or name in self._images
            return None if known else f"there is no screenshot '{name[:60]}'"
        if (pointer == "page" and self._run.page is not None) or (pointer == "lint" and self._run.lint):
            return None
        if kind == "further" and self._has_further:
            return None
        return self._place(pointer, favours=favours)

    def _place(self, pointer: str, *, favours: bool) -> str | None:
        names = self._view.names
        if pointer in names:
            return self._emptied(pointer, names[pointer]) if favours else None
        match = PLACE.fullmatch(pointer)
        assert match is not None
        known = {path: path for path in self._view.lengths} | dict(names)
        path = known.get(match[1]) or known.get(match[1].removeprefix("./"))
        if path is None:
            return f"there is no file '{match[1][:80]}'"
        lines = self._view.lengths[path]
        first, last = int(match[2] or 1), int(match[3] or match[2] or 1)
        wrong = next((line for line in (first, last) if not 1 <= line <= lines), None) if match[2] else None
        if wrong is not None:
            return f"{match[1][:80]} has {lines} lines, and no line {wrong}"
        return self._emptied(match[1], path) if favours else None

    def _emptied(self, name: str, path: str) -> str | None:
        """In the view without words a yes needs something that is left: a file that was nothing but words is not."""
        return f"nothing is left of {name[:80]}" if path in self._view.emptied else None


def _passed(known: Mapping[str, bool | None], name: str, missing: str, failed: str, *, favours: bool) -> str | None:
    if name not in known:
        return missing
    return None if known[name] or not favours else failed

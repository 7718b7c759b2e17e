"""Inspects a capture with programs, once each: a browser for its app, and the project's own linters."""

from __future__ import annotations

import asyncio
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orvl.capture.browser.find import trouble
from orvl.capture.browser.patient import patient_look
from orvl.capture.browser.result import Look
from orvl.capture.captured_run import Inspections
from orvl.capture.lint.registry import roots_of
from orvl.capture.lint.report import LintReport
from orvl.capture.lint.rules import rules_of
from orvl.capture.lint.run import lint
from orvl.capture.lint.workspace import Workspace
from orvl.capture.take import tree_after, turns_reached
from orvl.errors import NotStarted
from orvl.project.app import check_steps
from orvl.store import tree
from orvl.types import LINT_BY_TURN, WEAKENED, Inspection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from orvl.capture.lint.rules import ProjectRule
    from orvl.plan.layout import Panel
    from orvl.project.settings import Limits
    from orvl.sandbox.backends import Slot
    from orvl.sandbox.workdir import WorkDir
    from orvl.store import Store
    from orvl.store.writer import Writer
    from orvl.types import Attempt, Eval

FORMAT = 3
"""Raise it when inspections change, so that they are repeated."""


@dataclass(frozen=True)
class Known:
    """The stored inspections of one attempt, in the order in which they were made."""

    stored: Sequence[Inspection]
    is_fresh: bool

    def get(self, kind: str, key: str) -> Inspection | None:
        """The newest one, unless it is to be repeated."""
        found = self._of(kind, key)
        return found[-1] if found and not self.is_fresh else None

    def next_key(self, kind: str, key: str) -> str:
        """The key of one more: each is kept under its own."""
        number = len(self._of(kind, key)) + 1
        return key if number == 1 else f"{key}.{number}"

    def _of(self, kind: str, key: str) -> list[Inspection]:
        return [one for one in self.stored if one.kind == kind and one.key.partition(".")[0] == key]


@dataclass
class Inspector:
    """Inspects captures and stores the results."""

    store: Store
    work: WorkDir
    limits: Limits
    writer: Writer
    is_fresh: bool = False
    """Whether stored inspections are repeated, too; the old ones are kept."""
    _rules_of: dict[str, Sequence[ProjectRule]] = field(default_factory=dict)
    _has_linters: dict[str, bool] = field(default_factory=dict)

    async def inspect(
        self, number: int, attempt: Attempt, panel: Panel, slot: Slot, stored: Sequence[Inspection]
    ) -> Inspections:
        """All that the panel's metrics may ask for; stored inspections are repeated only where that is asked for."""
        known = Known(stored, is_fresh=self.is_fresh)
        reports = any(metric.judged for metric in panel.metrics)
        report, unlinted = None, None
        try:
            report = await self._lint(attempt, number, known, slot) if reports else None
        except NotStarted as error:
            unlinted = f"the linters: {error}"
        rules = await self._rules(attempt.start_tree) if reports and attempt.start_tree else ()
        seen = await self._page(panel.eval, attempt, number, known, slot)
        return replace(seen, lint=report, lint_trouble=unlinted, rules=rules)

    async def _rules(self, start: str) -> Sequence[ProjectRule]:
        """Extracted once for all runs with the same starting tree."""
        if start not in self._rules_of:
            self._rules_of[start] = await asyncio.to_thread(lambda: rules_of(self._workspace(start)))
        return self._rules_of[start]

    def _workspace(self, manifest: str) -> Workspace:
        return Workspace(tree.entries_of(self.store.blobs, manifest), self.store.blobs.get)

    async def _configures_linters(self, start: str) -> bool:
        if start not in self._has_linters:
            self._has_linters[start] = await asyncio.to_thread(lambda: bool(roots_of(self._workspace(start))))
        return self._has_linters[start]

    # -- linters

    async def _lint(self, attempt: Attempt, number: int, known: Known, slot: Slot) -> LintReport | None:
        start, end = attempt.start_tree, attempt.tree
        if not start or not end:
            return None
        blobs = self.store.blobs
        if inspection := known.get("lint", str(FORMAT)):
            return LintReport.from_json(json.loads(await asyncio.to_thread(blobs.get, inspection.results)))
        if not await self._configures_linters(start):
            return None
        before, after = await asyncio.to_thread(lambda: list(map(self._workspace, (start, end))))
        report = await lint(before, after, slot.walled, self.work.new, self.limits, blobs.write_to)
        if report.tools:
            await self._keep(number, "lint", known.next_key("lint", str(FORMAT)), report.to_json(), {})
            await self._lint_by_turn(attempt, number, known, slot, before)
        if report.cap:
            await self._keep(number, WEAKENED, known.next_key(WEAKENED, str(FORMAT)), report.cap, {})
        return report if report.tools else None

    async def _lint_by_turn(self, attempt: Attempt, number: int, known: Known, slot: Slot, before: Workspace) -> None:
        """Counts new findings after each turn but the last. No score rests on it."""
        found: dict[int, int] = {}
        stored = {turn: tree_after(attempt, turn) for turn in range(1, turns_reached(attempt))}
        with suppress(NotStarted):
            for turn, key in stored.items():
                if key is None:
                    continue
                after = await asyncio.to_thread(self._workspace, key)
                blobs = self.store.blobs
                report = await lint(before, after, slot.walled, self.work.new, self.limits, blobs.write_to)
                found[turn] = report.new_count
        if found:
            await self._keep(number, LINT_BY_TURN, known.next_key(LINT_BY_TURN, str(FORMAT)), found, {})

    # -- the browser

    async def _page(self, eval_: Eval, attempt: Attempt, number: int, known: Known, slot: Slot) -> Inspections:
        if not eval_.app:
            return Inspections()
        key = hashlib.sha256(json.dumps([FORMAT, sorted(eval_.app.items()), eval_.steps]).encode()).hexdigest()[:16]
        if inspection := known.get("page", key):
            results = json.loads(await asyncio.to_thread(self.store.blobs.get, inspection.results))
            return Inspections(page=Look.from_json(results), pictures=inspection.pictures)
        if why := trouble():
            return Inspections(page_trouble=why)
        try:
            page, pictures = await self._look(eval_, attempt, slot)
        except NotStarted as error:
            return Inspections(page_trouble=f"the browser: {error}", page_is_missed=True)
        if page.status == "unavailable":
            return Inspections(page_trouble=page.reason, page_is_missed=True)
        kept = await self._keep(number, "page", known.next_key("page", key), page.as_json(), pictures)
        return Inspections(page=page, pictures=kept.pictures)

    def browser_of(
        self, eval_: Eval, attempt: Attempt, slot: Slot
    ) -> Callable[[Sequence[str]], Awaitable[Look]] | None:
        """Does a judge's own steps on a fresh copy of an app; None if there is no app, or no browser."""
        if not eval_.app or trouble():
            return None

        async def browse(steps: Sequence[str]) -> Look:
            check_steps(steps)
            page, _ = await self._look(replace(eval_, steps=tuple(steps)), attempt, slot)
            return page

        return browse

    async def _look(self, eval_: Eval, attempt: Attempt, slot: Slot) -> tuple[Look, dict[str, bytes]]:
        def lay_out(workspace: Path) -> None:
            entries = tree.entries_of(self.store.blobs, attempt.tree)
            tree.restore(entries, workspace, self.store.blobs.write_to)

        return await patient_look(eval_.app, eval_.steps, lay_out, self.work.new, slot, self.limits)

    async def _keep(
        self, number: int, kind: str, key: str, results: object, pictures: Mapping[str, bytes]
    ) -> Inspection:
        def put() -> Inspection:
            with self.store.blobs.batch() as batch:
                kept = {name: batch.put(png) for name, png in pictures.items()}
                return Inspection(kind, key, batch.put(json.dumps(results).encode()), kept)

        inspection = await asyncio.to_thread(put)
        await self.writer.write(lambda store: store.add_inspection(number, inspection))
        return inspection

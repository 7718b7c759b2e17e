"""A captured run as score functions and judges see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from orvl.capture import diff
from orvl.capture.turn_scores import checks_score
from orvl.errors import Missed, OrvlError, StoreError
from orvl.store import tree
from orvl.store.tree import Entry
from orvl.types import LINT_BY_TURN, Attempt, CheckResult, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.browser.result import Look
    from orvl.capture.lint.report import LintReport
    from orvl.capture.lint.rules import ProjectRule
    from orvl.store import Blobs
    from orvl.types import Inspection


MOST_REPLY = 4_000
"""Characters of what an agent says at the end of a turn."""
SHOWN_SHOTS = ("desktop-light", "desktop-dark", "phone-light", "phone-dark")


@dataclass(frozen=True)
class Inspections:
    """What programs found out about a capture, and what judges must not learn."""

    lint: LintReport | None = None
    lint_by_turn: Mapping[int, int] = field(default_factory=dict)
    """How many new findings there were after each turn whose workspace is stored."""
    lint_trouble: str | None = None
    """Why no linter could look, if that is not the agent's fault."""
    rules: Sequence[ProjectRule] = ()
    page: Look | None = None
    page_trouble: str | None = None
    """Why no browser could look at an eval's app, if that is not the agent's fault."""
    page_is_missed: bool = False
    """Whether that may be over soon: the same command looks again."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Blobs by file name."""
    hidden_names: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    """The sentences of all checklists."""

    @classmethod
    def of(cls, stored: Sequence[Inspection], blobs: Blobs) -> Inspections:
        """The newest of each kind."""
        from orvl.capture.browser.result import Look
        from orvl.capture.lint.report import LintReport

        kinds = ("lint", LINT_BY_TURN, "page")
        newest = {inspection.kind: inspection for inspection in stored if inspection.kind in kinds}
        try:
            results = {kind: json.loads(blobs.get(inspection.results)) for kind, inspection in newest.items()}
            return cls(
                lint=LintReport.from_json(results["lint"]) if "lint" in results else None,
                lint_by_turn={int(turn): int(number) for turn, number in results.get(LINT_BY_TURN, {}).items()},
                page=Look.from_json(results["page"]) if "page" in results else None,
                pictures=newest["page"].pictures if "page" in newest else {},
            )
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise StoreError(f"What a program found out about a run is damaged in the store: {error}.") from error

    def as_json(self) -> dict[str, Any]:
        """What was found, by kind."""
        page = self.page.as_json() if self.page else None
        return {"lint": self.lint.to_json() if self.lint else None, "page": page}


def _read_only(entry: Entry) -> Entry:
    return replace(entry, mode=entry.mode & ~0o222 | (0o500 if entry.kind == "folder" else 0o400))


class CapturedRun:
    """A run as a score sees it; everything is read from the capture when it is first used."""

    def __init__(
        self,
        attempt: Attempt,
        prompts: Sequence[str],
        blobs: Blobs,
        scratch: Path,
        inspections: Inspections | None = None,
    ) -> None:
        self._attempt = attempt
        self._blobs = blobs
        self._scratch = scratch
        self._lock = Lock()
        self._inspections = inspections or Inspections()
        self.prompts: tuple[str, ...] = tuple(prompts)

    @property
    def outcome(self) -> str:
        return self._attempt.outcome

    @property
    def seconds(self) -> float:
        taken = self._attempt.usage.seconds
        assert taken is not None, "only imported runs have no time, and they have no capture"
        return taken

    @property
    def usage(self) -> Usage:
        return self._attempt.usage

    @property
    def checks(self) -> Sequence[CheckResult]:
        """Of what was there at the end."""
        return [check for check in self._attempt.checks or () if not check.turn]

    @property
    def checks_score(self) -> float | None:
        """The results of all checks as one number: after each turn that is checked, and at the end."""
        return checks_score(self._attempt.checks or ())

    @cached_property
    def tree(self) -> list[Entry]:
        return tree.entries_of(self._blobs, self._attempt.tree)

    @property
    def files(self) -> list[str]:
        """The paths of all files that were kept, without those in `.git`."""
        kept = [entry.path for entry in self.tree if entry.kind == "file" and entry.hash]
        return sorted(path for path in kept if ".git" not in path.split("/"))

    @cached_property
    def _by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.tree if entry.hash}

    def read_bytes(self, path: str) -> bytes:
        """A file as it was left."""
        entry = self._by_path.get(path)
        if entry is None or not entry.hash:
            raise FileNotFoundError(f"the run left no file '{path}'")
        return self._blobs.get(entry.hash, entry.size)

    def size(self, path: str) -> int:
        """How many bytes a file has."""
        return self._by_path[path].size

    def read(self, path: str) -> str:
        """A file's text; bytes that are not UTF-8 become �."""
        return self.read_bytes(path).decode("utf-8", "replace")

    @property
    def path(self) -> Path:
        """A read-only copy of the workspace on disk, which exists while the run is scored."""
        root = self._scratch / "copy"
        with self._lock:
            if not root.exists():
                root.mkdir(parents=True)
                tree.restore([_read_only(entry) for entry in self.tree], root, self._blobs.write_to)
                root.chmod(0o500)
        return root

    @cached_property
    def _before(self) -> list[Entry]:
        return tree.entries_of(self._blobs, self._attempt.start_tree)

    @cached_property
    def _changes(self) -> list[diff.FileChange]:
        return diff.changes(self._before, self.tree)

    @cached_property
    def made(self) -> list[str]:
        """The paths of the files that the agent made or changed."""
        return [one.path for one in self._changes if one.after and one.after.kind == "file" and one.after.hash]

    @property
    def did_something(self) -> bool:
        """Whether the agent left anything new that has content, or removed anything."""
        return any(one.after is None or one.after.size or one.after.target for one in self._changes)

    @property
    def removed(self) -> list[str]:
        """The paths of the files that the agent removed."""
        return [one.path for one in self._changes if one.before and one.before.kind == "file" and not one.after]

    @cached_property
    def renamed(self) -> dict[str, str]:
        """New files that are, byte for byte, files which the agent removed: the old path by the new one."""
        gone = {one.before.hash: one.path for one in self._changes if one.before and one.before.size and not one.after}
        new = [one for one in self._changes if one.after and not one.before and one.after.hash]
        return {one.path: gone[one.after.hash] for one in new if one.after and one.after.hash in gone}

    def read_before(self, path: str, most: int) -> str | None:
        """The text that a file had at the start; None if it did not exist, is larger than `most` or is not text."""
        entry = self._before_by_path.get(path)
        if entry is None or not entry.hash or entry.size > most:
            return None
        data = self._blobs.get(entry.hash, entry.size)
        return None if b"\0" in data else data.decode("utf-8", "replace")

    @cached_property
    def _before_by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self._before if entry.kind == "file"}

    @cached_property
    def started_with(self) -> frozenset[str]:
        """The paths of the files that the agent started with."""
        return frozenset(self._before_by_path)

    @cached_property
    def diff(self) -> str:
        """What the agent changed, as a unified diff."""
        return diff.unified(self._before, self.tree, lambda key: self._blobs.get(key, diff.MAX_FILE))

    @cached_property
    def output(self) -> list[str]:
        """What the agent printed on standard output, turn by turn."""
        turns = self._attempt.turns
        return [self._blobs.get(turn.stdout).decode("utf-8", "replace") if turn.stdout else "" for turn in turns]

    @cached_property
    def trajectory(self) -> list[Mapping[str, Any]]:
        """The agent's steps, as its `read` returned them."""
        return list(json.loads(self._blobs.get(self._attempt.steps))) if self._attempt.steps else []

    @cached_property
    def replies(self) -> list[str]:
        """What the agent told the user last in each turn: its last message, else the end of what it printed."""
        said = [""] * len(self._attempt.turns)
        turn = -1
        for step in self.trajectory:
            message = step.get("message")
            if step.get("source") == "user" and self.prompts[turn + 1 : turn + 2] == (message,):
                turn += 1
            elif step.get("source") == "agent" and isinstance(message, str) and 0 <= turn < len(said):
                said[turn] = message.strip() or said[turn]
        return [(reply or printed).strip()[-MOST_REPLY:] for reply, printed in zip(said, self.output, strict=True)]

    # -- what programs found out about it

    @property
    def hidden_names(self) -> tuple[str, ...]:
        """What judges must not learn: the names of the agent, its model and its provider."""
        return self._inspections.hidden_names

    @cached_property
    def own_words(self) -> tuple[str, ...]:
        """What the eval itself says: its prompts and checklists, and the names of its checks and steps."""
        steps = self.page.steps if self.page else ()
        return (
            *self.prompts,
            *self._inspections.items,
            *(check.name for check in self.checks),
            *(step.step for step in steps),
        )

    @property
    def lint(self) -> LintReport | None:
        """What the project's own linters and formatters say; None if it has none."""
        return self._inspections.lint

    def linted(self) -> LintReport | None:
        """The same, with an error if linters could not be started."""
        if self._inspections.lint_trouble:
            raise OrvlError(self._inspections.lint_trouble)
        return self._inspections.lint

    @property
    def rules(self) -> Sequence[ProjectRule]:
        """The rules for agents in the starting workspace, such as those of AGENTS.md."""
        return self._inspections.rules

    @property
    def page(self) -> Look | None:
        """What a browser saw; None if the eval has no app or no browser could look."""
        return self._inspections.page

    def look(self) -> Look | None:
        """What a browser saw; None if the eval has no app. It is an error if no browser could look."""
        if self._inspections.page_trouble:
            raise (Missed if self._inspections.page_is_missed else OrvlError)(self._inspections.page_trouble)
        return self._inspections.page

    @cached_property
    def screenshots(self) -> tuple[Path, ...]:
        """Pictures of the page at two sizes, light and dark, as files that exist while the run is scored."""
        shots = [shot for shot in (self.page.shots if self.page else ()) if shot.name in SHOWN_SHOTS]
        folder = self._scratch / "screenshots"
        with self._lock:
            folder.mkdir(parents=True, exist_ok=True)
            for shot in shots:
                (folder / shot.file).write_bytes(self._picture(shot.file))
        return tuple(folder / shot.file for shot in shots)

    @cached_property
    def plain_shots(self) -> dict[str, bytes]:
        """The same without images and long texts, by name, if that differs."""
        shots = self.page.shots if self.page else ()
        return {shot.name.removesuffix("-plain"): self._picture(shot.file) for shot in shots if shot.plain}

    def _picture(self, file: str) -> bytes:
        return self._blobs.get(self._inspections.pictures[file])

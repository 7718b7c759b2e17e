"""What a run left behind → one immutable capture, and the view of it that scores get."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from orvl import diff, tree
from orvl.tree import Entry, TreeLimits
from orvl.types import MEBI, Attempt, CheckResult, Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.gateway.account import Account
    from orvl.project.settings import Limits
    from orvl.run import Conversation, TurnEnd
    from orvl.store.blobs import Batch, Blobs
    from orvl.types import Eval
    from orvl.workdir import RunFolders


def start_tree(one: Eval, batch: Batch, prepared: Path | None = None) -> str:
    """The manifest of what an eval's runs start from: the folder prepared for them, else the eval's `workspace/`."""
    start = prepared or one.part("workspace")
    skip = () if prepared else tree.NOT_GIVEN
    unlock = prepared is not None
    entries = tree.scan(start, batch.put_fd, TreeLimits(), unlock=unlock, skip=skip)[0] if start else []
    return batch.put(tree.encode(entries))


def take(
    talk: Conversation,
    start_tree: str,
    folders: RunFolders,
    batch: Batch,
    limits: Limits,
    sandbox: str,
    account: Account | None = None,
) -> Attempt:
    """Puts all that a conversation left into the blobs; called when every process of the run is gone."""
    gone = folders.mend()
    bounds = TreeLimits(limits.files, limits.file * MEBI, limits.capture * MEBI)
    entries, cut = tree.scan(folders.workspace, batch.put_fd, bounds)
    return Attempt(
        outcome=talk.outcome,
        reason=talk.reason,
        started=talk.started,
        usage=talk.usage,
        turns=tuple(_turn(turn, batch) for turn in talk.turns),
        steps=batch.put(json.dumps(talk.steps, default=str).encode()) if talk.steps else None,
        start_tree=start_tree,
        tree=batch.put(tree.encode(entries)),
        cut=(*gone, *cut),
        sandbox=sandbox,
        retry=talk.retry,
        calls=tuple(account.calls) if account else (),
        record=_record(account, folders, batch) if account and account.calls else None,
        told=talk.told,
    )


def _record(account: Account, folders: RunFolders, batch: Batch) -> str:
    """All that passed the gateway, a line for each call, in one blob: what calls repeat is kept once."""
    path = folders.logs / "calls.jsonl"
    with path.open("wb") as file:
        file.writelines(account.record.lines(account.calls))
    return batch.put_file(path)


def _turn(turn: TurnEnd, batch: Batch) -> Turn:
    ended = turn.ended
    return Turn(
        seconds=ended.seconds,
        cpu_seconds=ended.cpu_seconds,
        status=ended.status,
        cut=ended.cut,
        session=turn.session,
        stdout=batch.put_file(ended.stdout.path) if ended.stdout.path else None,
        stderr=batch.put_file(ended.stderr.path) if ended.stderr.path else None,
        output_bytes=ended.stdout.size + ended.stderr.size,
        left_out_bytes=ended.stdout.left_out + ended.stderr.left_out,
    )


def _read_only(entry: Entry) -> Entry:
    return replace(entry, mode=entry.mode & ~0o222 | (0o500 if entry.kind == "folder" else 0o400))


class CapturedRun:
    """A run as a score sees it: everything is read from the capture, when it is asked for."""

    def __init__(self, attempt: Attempt, prompts: Sequence[str], blobs: Blobs, scratch: Path) -> None:
        self._attempt = attempt
        self._blobs = blobs
        self._scratch = scratch
        self._lock = Lock()
        self.prompts: tuple[str, ...] = tuple(prompts)
        self.screenshots: tuple[Path, ...] = ()

    @property
    def outcome(self) -> str:
        return self._attempt.outcome

    @property
    def seconds(self) -> float:
        return self._attempt.usage.seconds

    @property
    def usage(self) -> Usage:
        return self._attempt.usage

    @property
    def checks(self) -> Sequence[CheckResult]:
        return self._attempt.checks or ()

    @cached_property
    def tree(self) -> list[Entry]:
        return tree.decode(self._blobs.get(self._attempt.tree)) if self._attempt.tree else []

    @property
    def files(self) -> list[str]:
        """The paths of all files that were kept, without what lies in `.git`."""
        kept = [entry.path for entry in self.tree if entry.kind == "file" and entry.hash]
        return sorted(path for path in kept if ".git" not in path.split("/"))

    def read_bytes(self, path: str) -> bytes:
        """A file as it was left."""
        for entry in self.tree:
            if entry.path == path and entry.hash:
                return self._blobs.get(entry.hash)
        raise FileNotFoundError(f"the run left no file '{path}'")

    def read(self, path: str) -> str:
        """A file's text; bytes that are not UTF-8 become �."""
        return self.read_bytes(path).decode("utf-8", "replace")

    @property
    def path(self) -> Path:
        """A read-only copy of the workspace on disk, there while the run is scored."""
        root = self._scratch / "copy"
        with self._lock:
            if not root.exists():
                root.mkdir(parents=True)
                tree.restore([_read_only(entry) for entry in self.tree], root, self._blobs.write_to)
                root.chmod(0o500)
        return root

    @cached_property
    def _before(self) -> list[Entry]:
        return tree.decode(self._blobs.get(self._attempt.start_tree)) if self._attempt.start_tree else []

    @property
    def made(self) -> list[str]:
        """The paths of the files that the agent made or changed."""
        changed = diff.changes(self._before, self.tree)
        return [change.path for change in changed if change.after and change.after.kind == "file"]

    @cached_property
    def diff(self) -> str:
        """What the agent changed, as a unified diff."""
        return diff.unified(self._before, self.tree, self._blobs.get)

    @cached_property
    def output(self) -> list[str]:
        """What the agent printed on standard output, turn by turn."""
        turns = self._attempt.turns
        return [self._blobs.get(turn.stdout).decode("utf-8", "replace") if turn.stdout else "" for turn in turns]

    @cached_property
    def trajectory(self) -> list[Mapping[str, Any]]:
        """The agent's steps, as its `read` told them."""
        return list(json.loads(self._blobs.get(self._attempt.steps))) if self._attempt.steps else []

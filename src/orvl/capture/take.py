"""What a run left behind → one immutable capture."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.errors import disk_sentence, is_agents_doing
from orvl.sandbox.guard.limits import disk_use
from orvl.store import tree
from orvl.store.records import clean
from orvl.store.tree import MOST_RESTORED, TreeLimits
from orvl.types import MEBI, Attempt, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.gateway.account import Account
    from orvl.project.settings import Limits
    from orvl.run.conversation import Conversation, TurnEnd
    from orvl.sandbox import ProcessResult
    from orvl.sandbox.workdir import RunFolders
    from orvl.store import Batch
    from orvl.store.tree import Entry

LOADED_SHARE, LOADED_SECONDS = 0.25, 2.0
"""Above so much of its time, and so many seconds of it, a turn counts as slowed down by the machine."""


def take(
    talk: Conversation,
    start_tree: str,
    folders: RunFolders,
    batch: Batch,
    limits: Limits,
    sandbox: str,
    account: Account | None = None,
) -> Attempt:
    """Stores all that a conversation left as blobs; called after every process of the run has ended."""
    outcome, reason = talk.outcome, talk.reason
    left = workspace_tree(folders, batch, limits)
    if left.unreadable and outcome == "finished":
        outcome, reason = "failed", left.unreadable
    return Attempt(
        outcome=outcome,
        reason=reason,
        started=talk.started,
        usage=talk.usage,
        turns=tuple(_turn(turn, batch, is_part=_has_answers(talk)) for turn in talk.turns),
        steps=batch.put(json.dumps(talk.steps, default=str).encode()) if talk.steps else None,
        start_tree=start_tree,
        tree=left.tree,
        cut=left.cut,
        sandbox=sandbox,
        retry=talk.retry,
        calls=tuple(account.calls) if account else (),
        record=_record(account, folders, batch) if account and account.calls else None,
        told=talk.reported_usage,
        refused=dict(account.refused) if account else {},
        prompts=talk.prompts,
        user=talk.user,
    )


@dataclass(frozen=True)
class LeftTree:
    """A workspace as blobs."""

    tree: str
    cut: tuple[str, ...] = ()
    """What was not kept."""
    unreadable: str | None = None
    """Why nothing of it can be read, if so."""


def workspace_tree(folders: RunFolders, batch: Batch, limits: Limits) -> LeftTree:
    """Stores a workspace in which nothing runs any more."""
    bounds = TreeLimits(limits.files, limits.file * MEBI, limits.capture * MEBI)
    try:
        gone = folders.mend()
        entries, cut = tree.scan(folders.workspace, batch.put_fd, bounds)
        if (most := _laid_down_at_most(entries, folders)) < bounds.total_bytes:
            entries, cut = tree.scan(folders.workspace, batch.put_fd, replace(bounds, total_bytes=most))
    except OSError as error:
        if not is_agents_doing(error):
            raise
        # Whoever could be spared a bad score by a folder that nobody can read would leave such a folder.
        sentence = f"the agent's workspace cannot be read: {disk_sentence(error)}"
        return LeftTree(batch.put(tree.encode([])), (sentence,), sentence)
    return LeftTree(batch.put(tree.encode(entries)), (*gone, *cut))


def tree_after(attempt: Attempt, turn: int) -> str | None:
    """The workspace after one of the turns that an attempt took; None where it was not kept: the eval was checked
    only at its end then."""
    parts = [place for place, one in enumerate(attempt.turns, 1) if (one.of or place) == turn]
    if not parts:
        return None
    return attempt.tree if parts[-1] == len(attempt.turns) else attempt.turns[parts[-1] - 1].tree


def turns_reached(attempt: Attempt) -> int:
    """How many turns of its eval an attempt got to."""
    # Each takes a message or more; a store that comes from elsewhere may say anything.
    taken = len(attempt.turns)
    return min(attempt.turns[-1].of or taken, taken) if attempt.turns else 0


def _laid_down_at_most(entries: Sequence[Entry], folders: RunFolders) -> int:
    """Bytes that fit on the disk for certain when the tree is laid down again, for its checks.

    Files with holes take no room until then: whoever could be spared checks for want of room would leave such files.
    """
    size, share = sum(entry.size for entry in entries if entry.hash), folders.room.share
    if not share or size <= share:
        return MOST_RESTORED
    return max(share, disk_use([str(folders.workspace)], size)[0])


def _record(account: Account, folders: RunFolders, batch: Batch) -> str:
    """All that passed through the gateway, one line per call, in one blob; repeated content is kept once."""
    path = folders.logs / "calls.jsonl"
    with path.open("wb") as file:
        file.writelines(account.record.lines(account.calls))
    return batch.put_file(path)


def _has_answers(talk: Conversation) -> bool:
    return len({turn.of for turn in talk.turns}) < len(talk.turns)


def _turn(turn: TurnEnd, batch: Batch, *, is_part: bool) -> Turn:
    result = turn.result
    return Turn(
        seconds=result.seconds,
        cpu_seconds=result.cpu_seconds,
        status=result.status,
        cut=result.cut,
        session=turn.session,
        stdout=batch.put_file(result.stdout.path) if result.stdout.path else None,
        stderr=batch.put_file(result.stderr.path) if result.stderr.path else None,
        output_bytes=result.stdout.size + result.stderr.size,
        left_out_bytes=result.stdout.left_out + result.stderr.left_out,
        cpu_pressure=result.cpu_pressure,
        loaded=_is_loaded(result),
        tree=turn.tree,
        of=turn.of if is_part else 0,
        asked=clean(turn.asked) or "",
    )


def _is_loaded(result: ProcessResult) -> bool:
    """Whether a turn would have been noticeably faster on a machine with nothing else to do."""
    pressure = result.cpu_pressure or 0.0
    return pressure > LOADED_SHARE and pressure * result.seconds > LOADED_SECONDS

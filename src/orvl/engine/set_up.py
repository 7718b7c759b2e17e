"""Whether an agent that never asked its model is set up wrongly: a missing file, an unknown option, a bad login.

Such a run is errored, because it says nothing about the agent's work. An agent must not be able to choose that, on an
eval that it finds hard, say: so it is all or nothing. As soon as one run of a contestant has called its model, in this
store or in this command, the set-up is known to work: from then on an early end is `failed`, and runs of this command
that were errored before are run again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orvl.run.last_words import last_words

if TYPE_CHECKING:
    from orvl.run.conversation import Conversation
    from orvl.store import Store
    from orvl.types import Attempt, Cell, PlannedRun

AS_EVER = "as in every run so far: it seems to be set up wrongly"


def contestant_key(cell: Cell) -> str:
    """A contestant's identity: a cell's without the eval."""
    parts = [cell.agent.name, cell.agent.digest, cell.version, cell.provider, cell.model, cell.model_id]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass
class SetUps:
    """Which contestants of a command have called their model, and the runs of the others that made no call."""

    store: Store
    _works: set[str] = field(default_factory=set)
    _in_doubt: dict[str, list[PlannedRun]] = field(default_factory=dict)

    def judged(self, planned: PlannedRun, attempt: Attempt, talk: Conversation) -> Attempt:
        """An attempt of an agent that speaks to its model through orvl; errored where its set-up seems to be wrong."""
        key = contestant_key(planned.cell)
        attempt = replace(attempt, contestant=key)
        if attempt.has_called:
            self._works.add(key)
        if attempt.has_called or attempt.outcome == "errored":
            return attempt
        if attempt.outcome == "finished":
            return attempt if attempt.reason else replace(attempt, reason=_no_call(talk))
        gave_up = attempt.turns[-1].cut is None
        if not gave_up or self._is_known_to_work(planned.cell, key):
            return attempt
        self._in_doubt.setdefault(key, []).append(planned)
        return replace(attempt, outcome="errored", reason=f"{attempt.reason}, {AS_EVER}", retry=False)

    def in_doubt(self) -> list[PlannedRun]:
        """The errored runs of contestants that turned out to work, each once."""
        known = self._works & self._in_doubt.keys()
        return [planned for key in known for planned in self._in_doubt.pop(key)]

    def _is_known_to_work(self, cell: Cell, key: str) -> bool:
        if key not in self._works and self.store.has_called(cell.contestant, cell.version, key):
            self._works.add(key)
        return key in self._works


def _no_call(talk: Conversation) -> str:
    """What is noted of an agent that ended well without its model, in its own words where it said any."""
    words = last_words(talk.turns[-1].result)
    return f"it made no call of its model{f', and said: {words}' if words else ''}"

"""Judges' answers, stored as they arrive: what a command that was killed has paid for is not asked again.

A conversation with a judge follows from its question and the answers so far. So the stored answers are all that is
needed to go through it once more, up to the first question that was never answered.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from orvl.gateway.wire.format import ModelAnswer, ModelToolCall
from orvl.store.rows import JudgeReply
from orvl.types import CallIssue, Inspection, ModelCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.gateway.wire.format import Question
    from orvl.store import Store
    from orvl.store.writer import Writer

KEPT = ("model", "text", "finish", "refused", "cut_off")
"""What is kept of an answer beside its tool calls: all that a judgement reads."""


class Replies:
    """The answers that belong to one scope, such as one sample of a score: those stored before, and new ones."""

    def __init__(self, about: str, scope: str, stored: Iterable[JudgeReply], writer: Writer | None) -> None:
        self._about, self._scope, self._writer = about, scope, writer
        self._stored = {(reply.question, reply.step): reply.content for reply in stored if reply.scope == scope}
        self._asked: Counter[str] = Counter()
        self._kept = 0

    def conversation(self, question: Question) -> JudgeConversation:
        """The conversation about a question; a question that is asked twice gets two."""
        key = _hash(question)
        self._asked[key] += 1
        return JudgeConversation(self, f"{key}.{self._asked[key]}")

    def get(self, question: str, step: int) -> Mapping[str, Any] | None:
        return self._stored.get((question, step))

    async def keep_questions(
        self, attempt: int, asked: Sequence[Mapping[str, Any]], evidence: Mapping[str, str]
    ) -> None:
        """Keeps what a judge was sent and what it said; evidence, which many questions share, by itself."""
        if self._writer is None:
            return
        self._kept += 1
        kept: dict[tuple[str, str], dict[str, Any]]
        kept = {("judge-evidence", key): {"text": text} for key, text in evidence.items()}
        kept["judge", f"{self._scope}#{self._kept}"] = {"asked": list(asked)}

        def write(store: Store) -> None:
            with store.blobs.batch() as batch:
                blobs = {place: batch.put(json.dumps(content).encode()) for place, content in kept.items()}
            for (kind, key), blob in blobs.items():
                store.add_inspection(attempt, Inspection(kind, key, blob))

        await self._writer.write(write)

    async def add(self, question: str, step: int, content: Mapping[str, Any]) -> None:
        if self._writer is not None:
            reply = JudgeReply(self._scope, question, step, content)
            await self._writer.write(lambda store: store.add_reply(self._about, reply))


class JudgeConversation:
    """The answers to one question, in their order."""

    def __init__(self, replies: Replies, question: str) -> None:
        self._replies, self._question, self._step = replies, question, 0

    def next(self) -> tuple[ModelAnswer, ModelCall] | None:
        """The next answer, where it is stored."""
        content = self._replies.get(self._question, self._step)
        if content is None:
            return None
        try:
            stored = _answer_from(content["answer"]), _call_from(content["call"])
        except (AttributeError, KeyError, TypeError):
            # A store may come from elsewhere: what is no answer is asked for.
            return None
        self._step += 1
        return stored

    @property
    def replied(self) -> str | None:
        """What was replied to the last answer before the next one came, where that is stored.

        A tool may not show the same twice; the stored answer is one to what it showed then.
        """
        content = self._replies.get(self._question, self._step)
        replied = content.get("replied") if content else None
        return replied if isinstance(replied, str) else None

    async def add(self, answer: ModelAnswer, call: ModelCall, replied: str | None) -> None:
        """Returns when a new answer is on the disk."""
        kept = {name: getattr(answer, name) for name in KEPT} | {"tools": [asdict(tool) for tool in answer.tools]}
        content = {"answer": kept, "call": asdict(call), "replied": replied}
        await self._replies.add(self._question, self._step, content)
        self._step += 1


def _hash(question: Question) -> str:
    """All that a judge reads. The form of its answer is left out: not every provider takes a schema."""
    images = [(image.name, hashlib.sha256(image.png).hexdigest()) for image in question.images]
    parts: list[Any] = [question.model, question.system, question.evidence, question.more, images]
    parts += [question.instruction, question.before, question.options]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _answer_from(kept: Mapping[str, Any]) -> ModelAnswer:
    return ModelAnswer(**{**kept, "tools": [ModelToolCall(**tool) for tool in kept["tools"]]}, complete=True)


def _call_from(kept: Mapping[str, Any]) -> ModelCall:
    known = {field.name for field in fields(ModelCall)}
    issues = tuple(CallIssue(**issue) for issue in kept["findings"])
    return ModelCall(**{**{name: value for name, value in kept.items() if name in known}, "findings": issues})

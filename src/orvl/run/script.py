"""What the user says, message by message: the eval's prompts, as they fit what the agent did, and answers to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.project.draw import wording_for
from orvl.run.message import Message
from orvl.run.user import added
from orvl.types import Paste, UserPart, Wording

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from orvl.run.conversation import Conversation, RunAccess
    from orvl.types import Eval

ANSWERS_A_TURN = 2
LONGEST_ASKED = 2_000
"""Characters of a reply that are kept beside its answer; all of it is with the agent's steps, or what it printed."""


class Script:
    """The user's side of a conversation. What has to be found out for it takes none of the agent's time."""

    def __init__(self, eval_: Eval, talk: Conversation, access: RunAccess) -> None:
        self._eval, self._talk, self._access = eval_, talk, access
        self._said: list[str] = []
        self._turn = 0
        if eval_.user or any(map(eval_.asked_before, range(1, len(eval_.prompts) + 1))):
            talk.user = UserPart()

    @property
    def all_said(self) -> tuple[str, ...]:
        """All messages, and the prompts that were not reached."""
        return (*self._said, *self._eval.prompts[self._turn :])

    async def messages(self) -> AsyncGenerator[Message, None]:
        """Each is said when the agent has ended with the one before."""
        for turn in range(1, len(self._eval.prompts) + 1):
            text = await self._prompt(turn)
            self._turn = turn
            yield self._message(text, 0)
            for number in range(1, ANSWERS_A_TURN + 1):
                if (answer := await self._answer()) is None:
                    break
                yield self._message(answer, number)
            if turn in self._eval.checked_turns:
                await self._tree()

    def _message(self, text: str, answer: int) -> Message:
        self._said.append(text)
        return Message(text, len(self._said), self._turn, answer)

    async def _prompt(self, turn: int) -> str:
        """The prompt of a turn."""
        if not self._eval.wordings:
            return self._eval.prompts[turn - 1]
        asked = self._eval.asked_before(turn)
        results = await self._access.checks_after(turn - 1, await self._tree(), asked) if asked else ()
        self._talk.checked += results
        wording = wording_for(self._eval, turn, {result.name: result.passed for result in results})
        if wording.when and not wording.when.passed:
            self._note(UserPart(corrections=1))
        return await self._text(wording)

    async def _text(self, wording: Wording) -> str:
        texts = []
        for part in wording.parts:
            if isinstance(part, Paste):
                texts.append(await self._access.printed("".join(map(str, part.command)), await self._tree()))
            else:
                texts.append(str(part))
        return "".join(texts)

    async def _answer(self) -> str | None:
        """What the user answers to the agent's last reply, if anything."""
        user, part = self._eval.user, self._talk.user
        reply = self._access.redact(self._talk.turns[-1].reply)
        if user is None or part is None or part.answers >= user.patience or not reply:
            return None
        selection = await self._access.ask_user(user.in_turn(self._turn), reply)
        text = selection.text(user)
        if text is not None:
            self._talk.turns[-1].asked = reply[-LONGEST_ASKED:]
        self._note(replace(selection.part, answers=int(text is not None)))
        return text

    def _note(self, more: UserPart) -> None:
        self._talk.user = added(self._talk.user or UserPart(), more)

    async def _tree(self) -> str:
        """The workspace as it is now."""
        turns = self._talk.turns
        if not turns:
            return await self._access.snapshot()
        if turns[-1].tree is None:
            turns[-1].tree = await self._access.snapshot()
        return turns[-1].tree

"""What the user says next, by the eval's script: a wording that fits what the agent did, with what its work printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.draw import wording_for
from orvl.types import Paste

if TYPE_CHECKING:
    from orvl.run.conversation import Conversation, RunAccess
    from orvl.types import Eval


async def next_prompt(eval_: Eval, turn: int, talk: Conversation, access: RunAccess) -> str:
    """The prompt of a turn. What has to be found out for it takes none of the agent's time."""
    if not eval_.wordings:
        return eval_.prompts[turn - 1]
    asked = eval_.asked_before(turn)
    results = await access.checks_after(turn - 1, await _tree(talk, access), asked) if asked else ()
    talk.checked += results
    wording = wording_for(eval_, turn, {result.name: result.passed for result in results})
    texts = []
    for part in wording.parts:
        if isinstance(part, Paste):
            texts.append(await access.printed("".join(map(str, part.command)), await _tree(talk, access)))
        else:
            texts.append(str(part))
    return "".join(texts)


async def _tree(talk: Conversation, access: RunAccess) -> str:
    """The workspace as it is now."""
    if not talk.turns:
        return await access.snapshot()
    if talk.turns[-1].tree is None:
        talk.turns[-1].tree = await access.snapshot()
    return talk.turns[-1].tree

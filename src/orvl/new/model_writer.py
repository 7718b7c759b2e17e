"""A model writes what a user would have asked: it is told a commit's message and diff, and must not give them away."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.errors import CallRefused, UserError
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Question
from orvl.gateway.wire.values import as_object
from orvl.new.prompts import Prompt, drafted
from orvl.prices import protocol_of
from orvl.project.providers import missing_key, provider_of, unknown_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orvl.gateway import Gateway
    from orvl.new.prompts import Ask
    from orvl.project.providers import Provider
    from orvl.project.settings import Settings

SYSTEM = "You are a software developer who asks a colleague for a change. You answer with JSON alone."
TASK = (
    "Above are the message and the diff of a change that was made later. Write what you, as a busy user of this "
    "project, would have asked for before it existed: what is wrong or wanted and how one would notice, in a few plain "
    "sentences. Do not say how it is done: no code of the change, no file, function or variable that only the change "
    "brings, unless it is listed here. Do not say that a change, a diff or tests exist.{needed} Answer with "
    '{{"prompt": "…"}}.'
)
NEEDED = " The result is tried by these names and texts, so say each of them word for word: {names}."
SCHEMA = {
    "type": "object",
    "properties": {"prompt": {"type": "string"}},
    "required": ["prompt"],
    "additionalProperties": False,
}
MAX_OUTPUT, TRIES = 4_000, 3


@dataclass(frozen=True)
class ModelWriter:
    """Asks one model at one provider, through the gateway."""

    gateway: Gateway
    provider: Provider
    protocol: str
    model: str
    seconds: float
    """How long it may take to answer."""
    say: Callable[[str], None]

    async def write(self, ask: Ask) -> Prompt:
        """Asks again where an answer quotes the solution or leaves out what tests need; then the draft must do."""
        needed = ask.unsaid("")
        task = TASK.format(needed=NEEDED.format(names=", ".join(f"`{name}`" for name in needed)) if needed else "")
        material = f"=== message\n{drafted(ask.message)}\n\n=== diff\n{ask.diff()}\n"
        question = Question(self.model, SYSTEM, material, task, schema=SCHEMA, max_output=MAX_OUTPUT)
        best: str | None = None
        for _ in range(TRIES):
            words = await self._answer(question)
            prompt = _prompt(words)
            wrong = _wrong(ask, prompt)
            if prompt and wrong is None:
                return Prompt(prompt)
            best = prompt if prompt and not ask.quoted(prompt) else best
            again = (words or "(nothing)", f"{wrong} Write it once more.")
            question = replace(question, before=(*question.before, again))
        if best:
            return Prompt(best)
        self.say(f"{self.model} gave no usable prompt for turn {ask.turn}: it has the commit's message as a draft.")
        return Prompt(drafted(ask.message), is_draft=True)

    async def _answer(self, question: Question) -> str:
        account = self.gateway.judge_account(self.provider, self.protocol, self.model)
        try:
            async with asyncio.timeout(self.seconds):
                call = await self.gateway.ask(account, FORMATS[self.protocol].ask(question), lambda: None)
        except TimeoutError as error:
            raise UserError(f"{self.model} at {self.provider.name} gave no answer in {self.seconds:g} s.") from error
        except CallRefused as error:
            raise UserError(f"{self.model} was not asked for a prompt: {error}.") from error
        if call.failure is not None:
            raise UserError(f"{self.model} at {self.provider.name} gave no answer: {call.failure.message}.")
        return next((tool.arguments for tool in call.answer.tools), "") or call.answer.content


def _prompt(words: str) -> str:
    body: Any = as_object(words) or as_object(words[words.find("{") : words.rfind("}") + 1]) or {}
    prompt = body.get("prompt")
    return prompt.strip() if isinstance(prompt, str) and "\0" not in prompt else ""


def _wrong(ask: Ask, prompt: str) -> str | None:
    """What is wrong with a prompt, as a sentence for the model."""
    if not prompt:
        return 'That is not {"prompt": "…"}.'
    if line := ask.quoted(prompt):
        return f"That quotes the change: `{line}`. Ask for it without its code."
    if lacking := ask.unsaid(prompt):
        return f"That does not say {', '.join(f'`{name}`' for name in lacking)}."
    return None


def reached(settings: Settings, model: str, name: str, environment: Mapping[str, str]) -> tuple[Provider, str]:
    """Where a model is reached, and by which protocol; what is in the way is a sentence, before anything is done."""
    provider = provider_of(settings, name)
    if provider is None:
        raise UserError(unknown_provider(settings, name))
    if sentence := missing_key(provider, environment):
        raise UserError(sentence)
    offered = provider.protocols_for(model)
    usual = protocol_of(provider.listed_as, model) if provider.listed_as else None
    return provider, usual if usual in offered else offered[0]

"""What chance chooses for an episode of an eval: the same for all contestants, on every machine, at any time."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from orvl.project.wordings import parts_of
from orvl.types import Draw, Eval, EvalUser, Paste, Placeholder, PlannedRun, Wording

T = TypeVar("T")
Values = Mapping[str, str | int]


def drawn(eval_: Eval, episode: int) -> Eval:
    """The eval as it is in an episode: its prompts and steps filled in, its variants chosen."""
    seed = _hmac(eval_.seed.encode(), json.dumps([eval_.name, episode]))
    values = {key: _choice(seed, f"vary:{key}", choices) for key, choices in eval_.vary.items()}
    eval_ = replace(eval_, drawn=Draw(seed, values), user=_user(eval_.user, values))
    if not eval_.wordings:
        return eval_
    wordings = tuple(
        tuple(_filled_in(wording, values) for wording in _possible(seed, turn, some))
        for turn, some in enumerate(eval_.wordings, 1)
    )
    return replace(
        eval_,
        wordings=wordings,
        prompts=tuple(_shown(some[-1]) for some in wordings),
        steps=_steps(eval_.steps, values),
        checks=tuple(replace(check, steps=_steps(check.steps, values)) for check in eval_.checks),
    )


def wording_for(eval_: Eval, turn: int, passed: Mapping[str, bool]) -> Wording:
    """What is said in a turn of a drawn eval, by the checks after the turn before: those that passed, and others."""
    assert eval_.drawn is not None
    wordings = eval_.wordings[turn - 1]
    fitting = [one for one in wordings if one.when and passed[one.when.check] == one.when.passed]
    return _choice(eval_.drawn.seed, f"wording:{turn}", fitting) if fitting else wordings[-1]


def drawn_run(planned: PlannedRun) -> PlannedRun:
    """A run with its eval as it is in the run's episode."""
    cell = planned.cell
    return planned if cell.eval.drawn else replace(planned, cell=replace(cell, eval=drawn(cell.eval, planned.episode)))


def seed_of_check(draw: Draw, check: str) -> str:
    """What a check makes up its own inputs from: another number for each check and episode."""
    return _hmac(draw.seed, f"check:{check}").hex()


def filled(text: str, values: Values) -> str:
    r"""A text with the values that were drawn in place of `{{key}}`; what has another name stays, as does `\{{key}}`.

    A value is put in once, and never looked at again: it may hold braces of its own.
    """
    if not values or "{{" not in text:
        return text
    names = "|".join(map(re.escape, values))
    pattern = rf"(\\?)\{{\{{[ \t]*({names})[ \t]*\}}\}}"
    return re.sub(pattern, lambda found: found[0][1:] if found[1] else str(values[found[2]]), text)


def _user(user: EvalUser | None, values: Values) -> EvalUser | None:
    if user is None or not values:
        return user
    return replace(user, facts={name: _said(parts_of(text, values), values) for name, text in user.facts.items()})


def _possible(seed: bytes, turn: int, wordings: Sequence[Wording]) -> list[Wording]:
    """All that have a condition; of the others one, at the end."""
    free = [one for one in wordings if one.when is None]
    return [one for one in wordings if one.when] + ([_choice(seed, f"wording:{turn}", free)] if free else [])


def _filled_in(wording: Wording, values: Values) -> Wording:
    def part_of(part: str | Placeholder | Paste) -> str | Paste:
        return Paste((_said(part.command, values),)) if isinstance(part, Paste) else _said([part], values)

    return replace(wording, parts=tuple(part_of(part) for part in wording.parts))


def _shown(wording: Wording) -> str:
    """A wording before it is said: what a command prints is not known yet."""
    return "".join(
        f"{{{{output: {_said(part.command, {})}}}}}" if isinstance(part, Paste) else _said([part], {})
        for part in wording.parts
    )


def _steps(steps: Sequence[str], values: Values) -> tuple[str, ...]:
    return tuple(_said(parts_of(step, values), values) if values else step for step in steps)


def _said(parts: Sequence[str | Placeholder | Paste], values: Values) -> str:
    texts = [str(values[part.key]) if isinstance(part, Placeholder) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _choice(seed: bytes, name: str, choices: Sequence[T]) -> T:
    """Not by `random`, whose choices may be others in another Python."""
    return choices[int.from_bytes(_hmac(seed, name), "big") % len(choices)]


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()

"""`user:` of an eval, and `[user]` of orvl.toml: who answers what agents ask, and the model that selects answers."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from orvl.errors import InvalidPrompt, UserError
from orvl.project.judges import reach
from orvl.project.names import count
from orvl.project.providers import missing_key
from orvl.project.wordings import parts_of
from orvl.types import EvalUser, Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.project.front_matter import FrontMatter
    from orvl.project.settings import Settings, UserSettings
    from orvl.types import PlannedRun

NAME = re.compile(r"[A-Za-z0-9_][\w-]*", re.ASCII)
MOST_FACTS = 50
LONGEST_FACT = 2_000
NAMED = 5


def user_of(front: FrontMatter, turns: int, model: UserSettings | None) -> EvalUser | None:
    """The user of an eval; what cannot be meant is refused."""
    settings = front.settings.user
    if settings is None:
        return None
    if not 0 < len(settings.facts) <= MOST_FACTS:
        raise front.wrong(("user", "facts"), f"a user has 1 to {MOST_FACTS} facts.")
    for name, text in settings.facts.items():
        place = ("user", "facts", name)
        if not NAME.fullmatch(name):
            raise front.wrong(place, f"'{name}' cannot be the name of a fact; use letters, digits, _ and -.")
        if len(text) > LONGEST_FACT or "\0" in text:
            raise front.wrong(place, f"the fact '{name}' has more than {LONGEST_FACT} characters, or a NUL byte.")
        try:
            parts_of(text, front.settings.vary)
        except InvalidPrompt as error:
            raise front.wrong(place, f"the fact '{name}': {error}") from error
    for name, turn in settings.later.items():
        if name not in settings.facts:
            raise front.wrong(("user", "later", name), f"there is no fact '{name}'.")
        if turn > turns:
            raise front.wrong(("user", "later", name), f"there is no turn {turn}: the eval has {count(turns, 'turn')}.")
    facts = {name: text.strip() for name, text in settings.facts.items()}
    return EvalUser(facts, settings.goal.strip(), settings.patience, model_key(model), settings.later)


def model_key(model: UserSettings | None) -> str:
    """The identity of the model that selects: another one may answer otherwise, and makes other runs."""
    if model is None:
        return ""
    parts = [model.model, model.provider, model.protocol, model.options]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def as_judge(settings: Settings) -> Judge:
    """The model of [user] in the form in which judges' models are reached and paid for."""
    model = settings.user
    assert model is not None, "`check_user` has refused that"
    key = model_key(model)
    return Judge("[user]", model.model, model.provider, 0.0, key, protocol=model.protocol, options=model.options)


def asks_users(runs: Iterable[PlannedRun]) -> list[str]:
    """The evals of runs in which an agent may ask a user; a control asks nothing."""
    return sorted({run.cell.eval.name for run in runs if run.cell.eval.user and not run.cell.agent.control})


def check_user(settings: Settings, evals: Sequence[str], environment: Mapping[str, str]) -> None:
    """Refuses evals whose user nobody plays, before anything runs."""
    if settings.user is None:
        named = ", ".join(evals[:NAMED]) + (f" and {len(evals) - NAMED} more" if len(evals) > NAMED else "")
        raise UserError(
            f"Agents may ask a user in {named}, which is a model, and orvl.toml names none. Add it there: "
            '[user], model = "…", provider = "…".'
        )
    provider, _ = reach(settings, as_judge(settings))
    if sentence := missing_key(provider, environment):
        raise UserError(f"[user]: {sentence}")

"""`[judges.NAME]` and `[local]` of orvl.toml → the panel, and how each judge's model is reached."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from orvl.errors import FileError, UserError
from orvl.prices import protocol_of
from orvl.project.names import did_you_mean
from orvl.project.providers import Provider, provider_of, unknown_provider
from orvl.project.settings import JudgeSettings
from orvl.types import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from orvl.project.settings import Settings

FIXED = "fixed"
LOCAL = "local"
PROMPT = 1
"""Part of a judge's identity: whoever raises it makes all stored scores be asked for again."""
WORDING = 3
"""Raise it when the prompts of judges change: each verdict is stored with that of its question."""
LEAST_TOLD = 0.5
ROOM_OF_LOCAL = 6_000


def panel(settings: Settings, names: Iterable[str], path: Path, line: Callable[..., int | None]) -> list[Judge]:
    """The judges of orvl.toml and the embedded model, or those named; `fixed` and `local` may always be named."""
    known = dict(settings.judges)
    if LOCAL in known and settings.local is not None:
        raise FileError(
            path, line("judges", LOCAL), "a judge may not be named 'local', the name of [local]; rename it."
        )
    configured = [*known, *([LOCAL] if settings.local is not None else ())]
    available = {*known, FIXED, LOCAL}
    chosen = list(names) or configured
    for name in chosen:
        if name not in available:
            raise UserError(f"There is no judge '{name}'. {did_you_mean(name, available)}")
    judges = [_judge(name, settings, path, line) for name in sorted(set(chosen))]
    if any(not judge.is_local for judge in judges) and not any(judge.weight for judge in judges):
        place = line("judges", judges[0].name)
        raise FileError(path, place, "all judges on the panel have weight 0; at least one must be above 0.")
    return judges


def _judge(name: str, settings: Settings, path: Path, line: Callable[..., int | None]) -> Judge:
    if name == LOCAL and name not in settings.judges:
        return _local(settings)
    own = settings.judges.get(name, JudgeSettings())
    if own.provider == "none" and own.model != FIXED:
        sentence = f"the judge '{name}' needs the provider that serves '{own.model}': provider = \"…\"."
        raise FileError(path, line("judges", name), sentence)
    if own.provider != "none" and own.model == FIXED:
        raise FileError(path, line("judges", name), f"the judge '{name}' needs a model: model = \"…\".")
    parts: list[object] = [name, own.model, own.provider, own.answers]
    if own.provider != "none":
        parts = [name, own.model, own.provider, own.protocol, own.options, own.looks, settings.limits.evidence, PROMPT]
    # Only where it was changed: stores of before know nothing of it.
    parts += [] if settings.told == LEAST_TOLD else [["told", settings.told]]
    return Judge(
        name=name,
        model=own.model,
        provider=own.provider,
        weight=own.weight,
        key=_hash(parts),
        answers=own.answers,
        protocol=own.protocol,
        options=own.options,
        looks=own.looks,
        room=settings.limits.evidence,
        told=settings.told,
    )


def _local(settings: Settings) -> Judge:
    from orvl.project.settings import LocalSettings

    own = settings.local or LocalSettings()
    room = min(ROOM_OF_LOCAL, settings.limits.evidence)
    key = _hash([LOCAL, own.model, own.threads, room, PROMPT])
    return Judge(LOCAL, own.model, LOCAL, 0.0, key, is_local=True, threads=own.threads, room=room)


def _hash(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def reach(settings: Settings, judge: Judge) -> tuple[Provider, str]:
    """The provider of a judge's model, and the protocol to call it with; raises UserError if there is none."""
    provider = provider_of(settings, judge.provider)
    if provider is None:
        raise UserError(f"{_who(judge)}: {unknown_provider(settings, judge.provider)}")
    offered = provider.protocols_for(judge.model)
    if judge.protocol and judge.protocol not in offered:
        by = ", ".join(offered)
        raise UserError(
            f"{_who(judge)} is set to {judge.protocol}, but {provider.name} offers {judge.model} only by {by}."
        )
    usual = protocol_of(provider.listed_as, judge.model) if provider.listed_as else None
    return provider, judge.protocol or (usual if usual in offered else offered[0])


def _who(judge: Judge) -> str:
    """The model of [user], which is reached like a judge's, is none."""
    return judge.name if judge.name.startswith("[") else f"The judge {judge.name}"

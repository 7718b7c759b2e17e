"""Which endpoints are given up, and for whom: what one contestant meets stops its own runs, and no other's.

A second contestant that meets the same stops everybody's. Overlays of one agent are one program, and count once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orvl.gateway.failures import CallFailure

FAILED_IN_A_ROW = 4
Place = tuple[str, str | None]
"""A provider, and one of its models; None for all of them."""


class Breaker:
    """Keeps count of failures, by endpoint and contestant."""

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str, str], int] = {}
        self._met: dict[Place, dict[str, str]] = {}
        """By contestant: the sentence on what it met at an endpoint."""
        self._stopped: dict[Place, str] = {}

    def note(self, provider: str, model: str, contestant: str, failure: CallFailure | None) -> str | None:
        """Notes how a run or a question ended; the sentence on what is given up therefore, if it is new."""
        if failure is None:
            self._failed[provider, model, contestant] = 0
            return None
        key = (provider, model, contestant)
        self._failed[key] = self._failed.get(key, 0) + 1
        if failure.scope == "call" and self._failed[key] < FAILED_IN_A_ROW:
            return None
        place = (provider, None if failure.scope == "provider" else model)
        met = self._met.setdefault(place, {})
        if place in self._stopped or contestant in met:
            return None
        what = provider if failure.scope == "provider" else f"{model} at {provider}"
        words = failure.message.rstrip(".")
        met[contestant] = f"Giving up on {what}: {words}{_by(contestant)}."
        if len({program_of(name) for name in met}) == 1:
            return met[contestant]
        self._stopped[place] = f"Giving up on {what} for all: {words}."
        return self._stopped[place]

    def why_stopped(self, provider: str, model: str, contestant: str) -> str | None:
        """Why a contestant does not ask a model at a provider any more, if so."""
        places: tuple[Place, Place] = ((provider, None), (provider, model))
        reasons = [self._stopped.get(place) or self._met.get(place, {}).get(contestant) for place in places]
        return next((reason for reason in reasons if reason), None)

    @property
    def given_up(self) -> tuple[str, ...]:
        """A sentence for each endpoint that was given up, for all or for some."""
        places = {**self._met, **self._stopped}
        return tuple(
            sentence
            for place in places
            for sentence in ([self._stopped[place]] if place in self._stopped else self._met[place].values())
        )


def program_of(contestant: str) -> str:
    """A contestant without its overlays."""
    return contestant.partition("+")[0]


def _by(contestant: str) -> str:
    return f" (met by {contestant})" if contestant else ""

"""Which endpoints are given up, and for whom: what one contestant meets stops its own runs, and no other's.

A second contestant that meets the same stops everybody's. Overlays of one agent are one program, and count once.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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


# -- judges

RUN_FAILURES = 2
"""Questions about one run that may fail before its judge is given up for that run."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 600.0


@dataclass
class _Circuit:
    """An endpoint of judges that has failed."""

    reason: str
    met_by: str
    """The run that met it first."""
    pause: float
    until: float = 0.0
    """No question goes out before."""
    probe: asyncio.Event | None = None
    """Set when the one question that goes out to try it has ended."""


class JudgeBreaker:
    """Which judges are asked: one that fails is given up for the run, tried by one question of another run, and left
    alone for a while where that fails, too; then tried again, after ever longer pauses.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._circuits: dict[Place, _Circuit] = {}
        self._by_run: dict[tuple[Place, str], int] = {}
        self._given_up: dict[tuple[str, str, str], str] = {}

    async def admit(self, provider: str, model: str, run: str, longest: float) -> str | None:
        """Waits while somebody else tries a judge that has failed; a sentence if it may not be asked now."""
        deadline = self._clock() + longest
        while True:
            if why := self._given_up.get((provider, model, run)):
                return why
            circuit = next((one for place in _places(provider, model) if (one := self._circuits.get(place))), None)
            if circuit is None:
                return None
            if circuit.until > self._clock():
                return f"not asked, because it failed before: {circuit.reason}"
            if circuit.probe is None:
                circuit.probe = asyncio.Event()
                return None
            try:
                await asyncio.wait_for(circuit.probe.wait(), max(0.0, deadline - self._clock()))
            except TimeoutError:
                return f"not asked, because it failed before: {circuit.reason}"

    def ended(self, provider: str, model: str, run: str, failure: CallFailure | None, hung: float = 0.0) -> str | None:
        """Notes how a question ended; the sentence on what is left alone therefore, if it is new.

        `hung` are the seconds for which it was waited for in vain.
        """
        circuits = [(at, self._circuits.get(at)) for at in _places(provider, model)]
        was_probe = any(one is not None and one.probe is not None for _, one in circuits)
        if failure is None:
            for at, circuit in circuits:
                self._circuits.pop(at, None)
                _release(circuit)
            return None
        place: Place = (provider, None if failure.scope == "provider" else model)
        key = (place, run)
        self._by_run[key] = self._by_run.get(key, 0) + 1
        words = failure.message.rstrip(".")
        if failure.scope != "call" or self._by_run[key] >= RUN_FAILURES:
            self._given_up.setdefault((provider, model, run), f"given up for this run: {words}")
        known = self._circuits.get(place)
        for _, circuit in circuits:
            _release(circuit)
        if known is None:
            self._circuits[place] = _Circuit(words, run, max(FIRST_PAUSE, hung))
            return None
        if not was_probe and known.met_by == run and not hung:
            return None
        known.reason, known.until = words, self._clock() + known.pause
        what = provider if place[1] is None else f"{model} at {provider}"
        sentence = f"Giving up on {what} for {known.pause:.0f} s: {words}."
        known.pause = min(LONGEST_PAUSE, 2 * known.pause)
        return sentence

    def leave(self, provider: str, model: str) -> None:
        """A question that went out to try a judge has ended without a result."""
        for place in _places(provider, model):
            _release(self._circuits.get(place))


def _places(provider: str, model: str) -> tuple[Place, Place]:
    return (provider, None), (provider, model)


def _release(circuit: _Circuit | None) -> None:
    if circuit is not None and circuit.probe is not None:
        circuit.probe.set()
        circuit.probe = None

"""How a race stands, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.rate.stats.race import ALPHA, FEWEST
from orvl.trust.race import out_sentence

if TYPE_CHECKING:
    from orvl.trust.race import Contestant, Place, RaceResult


def race_sentences(result: RaceResult) -> list[str]:
    """One for each contestant, and what the race saved."""
    sentences = [_reason(result, place) for place in result.places]
    evals = len(result.order)
    if evals < FEWEST:
        sentences.append(f"With {count(evals, 'eval')} nobody can be out: at least {FEWEST} are needed.")
    if any(place.state == "out" for place in result.places):
        sentences.append("Rows above are over the evals that each ran; the race compares them on the same evals.")
    return [*sentences, f"{result.saved} of {count(result.planned, 'run')} were not needed."]


def race_json(result: RaceResult) -> dict[str, Any]:
    return {
        "alpha": ALPHA,
        "needed_e": result.needed,
        "order": list(result.order),
        "contestants": [
            {
                **_names(place.contestant),
                "state": place.state,
                "after": place.after,
                "by": _names(place.rival) if place.state == "out" and place.rival else None,
                "e": place.e,
                "quick_after": place.quick_after,
                "reason": _reason(result, place),
            }
            for place in result.places
        ],
        "planned_runs": result.planned,
        "run": result.run,
        "saved": result.saved,
    }


def _reason(result: RaceResult, place: Place) -> str:
    evals = len(result.order)
    if place.state == "out":
        quick = place.quick_after
        sooner = quick is not None and quick < place.after
        said = f" Quick evidence, which rare collapses deceive, would have had it out after {quick}." if sooner else ""
        return out_sentence(place, evals, result.needed) + said
    name, after = " ".join(place.contestant), f"after {result.settled} of {evals} evals"
    if place.state == "won":
        return f"{name} won: all others are out {after}."
    stopped = f"stopped {result.stopped} {after}: " if result.stopped else ""
    if place.rival is None:
        return f"{name} is still in: {stopped}it has too few ratings to be compared."
    yet = "are not told apart yet" if stopped else f"could not be told apart {after}"
    return (
        f"{name} is still in: {stopped}it and {' '.join(place.rival)} {yet} "
        f"(e = {place.e:.3g}, needs {result.needed:g})."
    )


def _names(contestant: Contestant) -> dict[str, str]:
    return dict(zip(("agent", "model", "provider"), contestant, strict=True))

"""How far ratings can be trusted, in sentences and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.rate.stats.race import FEWEST
from orvl.report.text import dollars, plain
from orvl.report.vetting import gate_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.rate.board import Standing
    from orvl.rate.stats.agreement import PanelAgreement
    from orvl.rate.stats.components import NextStep
    from orvl.rate.stats.paired import Winners
    from orvl.rate.stats.people import Agreement
    from orvl.trust.people import Corrected, People
    from orvl.trust.section import Trust

MOST_NAMED = 4
FEWEST_LABELS = 2


def sentences(found: Trust, standing: Standing) -> Iterator[str]:
    """The winners where they may be named, the uncertainty, whose merit it is, the judges' agreement, and labels."""
    if standing.ranks_by and found.ranking is not None:
        yield from _winners(found, found.ranking)
        yield gate_sentence(found.vetted)
    yield from _frontier(found)
    yield from _next(found)
    yield from _merit(found)
    yield from _agreement(found)
    if found.people is not None:
        yield from (plain(sentence) for sentence in people_sentences(found.people))


def _winners(found: Trust, ranking: Winners) -> Iterator[str]:
    """Who is unbeaten; contestants that could not be compared are unbeaten too, and named apart."""
    rated = [i for i, rank in enumerate(ranking.ranks) if rank is not None]
    best = [i for i in ranking.winners if i not in ranking.untested]
    names = [plain(" ".join(found.ranked[i])) for i in best]
    if not best:
        yield f"Nobody can lead yet: no two contestants share {FEWEST} evals on which both are rated."
        return
    enough = f"e-value of {ranking.needed:g} against it, among {len(rated)}"
    if len(best) == len(rated) - len(ranking.untested):
        yield f"Nobody leads: there is not enough evidence to tell the contestants apart (it takes an {enough})."
    elif len(best) == 1:
        yield f"Best: {names[0]}. All others that are ranked are shown to be worse (an {enough})."
    else:
        yield f"Best: {_listed(names)}: none of these is shown to be worse than another (by an {enough})."
    if ranking.untested:
        others = _listed([plain(" ".join(found.ranked[i])) for i in ranking.untested])
        yield f"Not ranked (fewer than {FEWEST} evals in common with anybody): {others}."


def _frontier(found: Trust) -> Iterator[str]:
    """Who is not both dearer and worse than another; said where there is a choice, and a price."""
    if len(found.frontier) < 2 or not any(spot.cost for spot in found.frontier):
        return
    on = [spot for spot in found.frontier if spot.dominated_by is None]
    told = [f"{plain(' '.join(spot.contestant))} ({dollars(spot.cost)} a run, R {spot.R:.3f})" for spot in on]
    others = len(found.frontier) - len(on)
    rest = f" The other {others} are dearer and no better." if others > 1 else ""
    rest = f" {_dominated(found)}" if others == 1 else rest
    yield f"Cost against quality, the frontier: {_listed(told)}.{rest}"


def _dominated(found: Trust) -> str:
    spot = next(spot for spot in found.frontier if spot.dominated_by is not None)
    by = " ".join(spot.dominated_by or ())
    return f"{plain(' '.join(spot.contestant))} costs {dollars(spot.cost)} a run and is no better than {plain(by)}."


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _next(found: Trust) -> Iterator[str]:
    """How uncertain ratings are, and what one more of each kind would change."""
    steps, components = found.steps, found.components
    if steps is None or components is None or not steps.half_width:
        return
    what = "a difference" if components.contestants > 1 else "R"
    known = [step for step in steps.steps if step.half_width is not None and step.gain is not None]
    if known:
        size = f"±{steps.half_width:.3f}" if steps.half_width < 1 else "still unbounded"
        over = count(components.evals, "eval")
        yield f"Uncertainty of {what} over {over}: {size}; {'; '.join(map(_step, known))}."


def _step(step: NextStep) -> str:
    price = "price unknown" if step.price is None else dollars(step.price)
    width = step.half_width or 0.0
    return f"one more {step.more} {'changes nothing' if width >= 1 else f'makes it ±{width:.3f}'} ({price})"


def _merit(found: Trust) -> Iterator[str]:
    if found.merit is None or found.merit.reason:
        return
    parts = [part for part in found.merit.parts if part.share is not None and part.name not in ("eval", "rest")]
    if len(parts) < 2:
        return
    told = ", ".join(
        f"{part.name} {part.share:.0%}"
        + (f" ({part.interval[0]:.0%} to {part.interval[1]:.0%})" if part.interval else "")
        for part in parts
        if part.share is not None
    )
    yield f"Share of the variance between contestants: {told}."


def _agreement(found: Trust) -> Iterator[str]:
    whole = found.agreement.get("")
    if whole is not None:
        parts = list(_agreed(whole))
        if parts:
            yield f"The judges: {', '.join(parts)}."
    for name, one in found.agreement.items():
        if name and one.flagged:
            yield f"{name} is flagged: {one.note or 'its judges do not agree.'}"


def _agreed(one: PanelAgreement) -> Iterator[str]:
    if one.effective_judges is not None:
        # An error that all of them share cannot be told from the truth, so this is a bound.
        yield f"worth at most {one.effective_judges:.1f} independent ones of {one.judges}"
    if one.mean_absolute_difference is not None:
        yield f"{one.mean_absolute_difference:.2f} apart on average"
    if one.icc.icc2_k is not None and one.icc.icc3_1 is not None:
        yield f"ICC(2,k) {one.icc.icc2_k:.2f}, ICC(3,1) {one.icc.icc3_1:.2f} over {one.icc.rows} runs"


def as_json(found: Trust, standing: Standing) -> dict[str, Any]:
    """One object; what is None is not known."""
    return {
        "winners": [list(found.ranked[i]) for i in found.ranking.winners if i not in found.ranking.untested]
        if found.ranking is not None and standing.ranks_by
        else None,
        "ranked_by": standing.ranks_by if found.ranking is not None else None,
        "untested": [list(found.ranked[i]) for i in found.ranking.untested]
        if found.ranking is not None and standing.ranks_by
        else None,
        "components": _finite(asdict(found.components) | {"unknown": sorted(found.components.unknown)})
        if found.components
        else None,
        "next": _finite(asdict(found.steps)) if found.steps else None,
        "merit": _finite(asdict(found.merit)) if found.merit else None,
        "frontier": [
            {
                **dict(zip(("agent", "model", "provider"), spot.contestant, strict=True)),
                "R": spot.R,
                "cost_per_run": spot.cost,
                "on_frontier": spot.dominated_by is None,
                "dominated_by": list(spot.dominated_by) if spot.dominated_by else None,
            }
            for spot in found.frontier
        ],
        "judges": list(found.judges),
        "people": _finite(people_json(found.people)) if found.people else None,
        "agreement": {name or "R": _finite(asdict(one)) for name, one in found.agreement.items()},
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity, which is what a free step gains per dollar: null."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


# -- people


def people_json(people: People) -> dict[str, Any]:
    return {
        "labels": people.labels,
        "persons": list(people.persons),
        "corrected": [asdict(one) for one in people.corrected],
        "judges": [{"metric": metric, **asdict(one)} for metric, one in people.judges],
        "each_other": [{"metric": metric, **asdict(one)} for metric, one in people.each_other],
    }


def people_sentences(people: People) -> Iterator[str]:
    if not people.corrected:
        yield f"{count(people.labels, 'label')} stored, but none for a run and metric that are rated here."
        return
    yield from map(_corrected, people.corrected)
    for metric, agreement in people.judges:
        yield f"{metric}: the judge {agreement.judge} against people on {_against(agreement)}."
    for metric, agreement in people.each_other:
        yield f"{metric}: people against each other on {_against(agreement)}."


def _corrected(one: Corrected) -> str:
    head = f"{one.metric}, {' '.join(one.contestant)}: " if one.contestant else f"{one.metric}: "
    rated = "not rated" if one.judged is None else f"rated {one.judged:.3f} over {count(one.runs, 'run')}"
    verb = "is" if one.labelled == 1 else "are"
    there = "" if one.by_judges_there is None else f" that {verb} rated {one.by_judges_there:.3f}"
    sentence = f"{head}{rated}; people say {one.by_people:.3f} on {count(one.labelled, 'run')}{there}"
    mean = one.mean
    if mean.estimate is None:
        is_short = mean.labels < FEWEST_LABELS
        more = f" At least {FEWEST_LABELS} random ones are needed: orvl label --random" if is_short else ""
        return f"{sentence}. Not corrected: {mean.why}{more}"
    worth = "" if mean.worth is None else f"; each label counts for {mean.worth:.1f} thanks to the judges"
    drawn = f"{count(mean.labels, 'label')} drawn at random"
    return f"{sentence}. Corrected by {drawn}: {mean.estimate:.3f} [{mean.low:.3f}, {mean.high:.3f}]{worth}."


def _against(agreement: Agreement) -> str:
    correlation = "unknown" if agreement.correlation is None else f"{agreement.correlation:.2f}"
    lean = "" if not agreement.judge or agreement.difference is None else f" ({agreement.difference:+.3f} on average)"
    return (
        f"{count(agreement.runs, 'run')}: {agreement.absolute_difference:.3f} apart{lean}, correlation {correlation}, "
        f"same side of 0.5 on {agreement.same_side or 0:.0%}"
    )

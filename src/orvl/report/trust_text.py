"""What stands beside the ratings, in sentences and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.rate.stats.race import FEWEST
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.rate.board import Standing
    from orvl.rate.stats.agreement import PanelAgreement
    from orvl.rate.stats.components import NextStep
    from orvl.rate.stats.paired import Winners
    from orvl.trust.section import Trust

MOST_NAMED = 4


def sentences(found: Trust, standing: Standing) -> Iterator[str]:
    """The winners where they may be named, the next dollar, the merit, the judges' agreement, and people's word."""
    if standing.may_rank and found.ranking is not None:
        yield from _winners(found, found.ranking)
    yield from _next(found)
    yield from _merit(found)
    yield from _agreement(found)
    if found.people is not None:
        yield from (plain(sentence) for sentence in found.people.sentences())


def _winners(found: Trust, ranking: Winners) -> Iterator[str]:
    """Who is unbeaten by merit; who was never tested is unbeaten too, and said apart."""
    rated = [i for i, rank in enumerate(ranking.ranks) if rank is not None]
    best = [i for i in ranking.winners if i not in ranking.untested]
    names = [plain(" ".join(found.ranked[i])) for i in best]
    if not best:
        yield f"Nobody can lead yet: no two contestants share {FEWEST} evals on which both are rated."
        return
    if len(best) == len(rated) - len(ranking.untested):
        yield "Nobody leads: no difference between the contestants is beyond chance (5 %, Holm over all pairs)."
    elif len(best) == 1:
        yield f"Best: {names[0]}, which nobody beats and which beats others beyond chance (5 %, Holm over all pairs)."
    else:
        yield f"Best: {_listed(names)}, which nobody beats beyond chance (5 %, Holm over all pairs)."
    if ranking.untested:
        others = _listed([plain(" ".join(found.ranked[i])) for i in ranking.untested])
        yield f"Compared with nobody, for want of {FEWEST} evals in common: {others}."


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _next(found: Trust) -> Iterator[str]:
    steps, components = found.steps, found.components
    if steps is None or components is None or steps.half_width is None:
        return
    what = "a difference" if components.contestants > 1 else "R"
    known = [step for step in steps.steps if step.half_width is not None and step.gain is not None]
    if known and steps.half_width > 0:
        told = "; ".join(_step(step) for step in known)
        if steps.half_width >= 1:
            yield f"Next dollar: {what} may be anything as yet, over {count(components.evals, 'eval')}. {told}."
            return
        yield f"Next dollar: {what} is known to ±{steps.half_width:.3f}. {told}."


def _step(step: NextStep) -> str:
    price = "at an unknown price" if step.price is None else f"for {dollars(step.price)}"
    made = step.half_width or 0.0
    return f"+1 {step.more} {'leaves it so' if made >= 1 else f'makes that ±{made:.3f}'} {price}"


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
    yield f"Whose merit, of the variance between contestants: {told}."


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
        yield f"worth {one.effective_judges:.1f} independent ones of {one.judges}"
    if one.mean_absolute_difference is not None:
        yield f"{one.mean_absolute_difference:.2f} apart on average"
    if one.icc.icc2_k is not None and one.icc.icc3_1 is not None:
        yield f"ICC(2,k) {one.icc.icc2_k:.2f}, ICC(3,1) {one.icc.icc3_1:.2f} over {one.icc.rows} runs"


def as_json(found: Trust, standing: Standing) -> dict[str, Any]:
    """One object; what is None is not known."""
    return {
        "winners": [list(found.ranked[i]) for i in found.ranking.winners if i not in found.ranking.untested]
        if found.ranking is not None and standing.may_rank
        else None,
        "untested": [list(found.ranked[i]) for i in found.ranking.untested]
        if found.ranking is not None and standing.may_rank
        else None,
        "components": _finite(asdict(found.components) | {"unknown": sorted(found.components.unknown)})
        if found.components
        else None,
        "next": _finite(asdict(found.steps)) if found.steps else None,
        "merit": _finite(asdict(found.merit)) if found.merit else None,
        "judges": list(found.judges),
        "people": _finite(found.people.as_json()) if found.people else None,
        "agreement": {name or "R": _finite(asdict(one)) for name, one in found.agreement.items()},
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity: what is free gains without bound per dollar, which is left out."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value

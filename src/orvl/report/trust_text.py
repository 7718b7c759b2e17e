"""What stands beside the ratings, in sentences and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.certify.standing import Standing
    from orvl.report.trust import Trust
    from orvl.stats.agreement import PanelAgreement
    from orvl.stats.components import Step

MOST_NAMED = 4


def sentences(found: Trust, standing: Standing) -> Iterator[str]:
    """The winners where they may be named, then the next dollar, the merit, and the judges' agreement."""
    if standing.may_rank and found.ranking is not None:
        yield _winners(found)
    yield from _next(found)
    yield from _merit(found)
    yield from _agreement(found)


def _winners(found: Trust) -> str:
    assert found.ranking is not None
    names = [plain(" ".join(found.ranked[i])) for i in found.ranking.winners]
    if len(names) == len(found.ranked):
        return "Nobody leads: no difference between the contestants is beyond chance (5 %, Holm over all pairs)."
    if len(names) == 1:
        return f"Best: {names[0]}, beyond chance (5 %, Holm over all pairs)."
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    return f"Best: {shown}, which nobody beats beyond chance (5 %, Holm over all pairs)."


def _next(found: Trust) -> Iterator[str]:
    steps, components = found.steps, found.components
    if steps is None or components is None or steps.half_width is None:
        return
    what = "a difference" if components.contestants > 1 else "R"
    known = [step for step in steps.steps if step.half_width is not None and step.gain is not None]
    if known and steps.half_width > 0:
        told = "; ".join(_step(step) for step in known)
        yield f"Next dollar: {what} is known to ±{steps.half_width:.3f}. {told}."


def _step(step: Step) -> str:
    price = "at an unknown price" if step.price is None else f"for {dollars(step.price)}"
    return f"+1 {step.more} makes that ±{step.half_width:.3f} {price}"


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
        "winners": [list(found.ranked[i]) for i in found.ranking.winners]
        if found.ranking is not None and standing.may_rank
        else None,
        "components": _finite(asdict(found.components) | {"unknown": sorted(found.components.unknown)})
        if found.components
        else None,
        "next": _finite(asdict(found.steps)) if found.steps else None,
        "merit": _finite(asdict(found.merit)) if found.merit else None,
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

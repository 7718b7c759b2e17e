"""Whether the certified panel is the one that rates now: certified, stale, refused or none; or programs rate alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orvl.errors import OrvlError, StoreError
from orvl.plan.imported import ORIGIN
from orvl.rate.board import Standing
from orvl.trust.certified_panel import as_certified
from orvl.trust.programs_rank import programs_can_rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from orvl.plan.layout import Panel
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.types import Eval, Judge, Metric

KIND = "certificate"
Made = tuple[int, float, dict[str, Any]]
"""A certificate as it is stored: its number, when it was made, what it says."""


def judge_content(judge: Judge) -> dict[str, Any]:
    """A judge by its settings."""
    return {
        "name": judge.name,
        "model": judge.model,
        "provider": judge.provider,
        "weight": judge.weight,
        "key": judge.key,
    }


def eval_content(one: Eval) -> str:
    """An eval with its checks and its controls."""
    parts = [one.digest, one.scoring_digest, sorted(one.control_digests.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def shares(panel: Panel) -> dict[str, float]:
    """The weight, of 1, of each metric that a certificate covers; empty where none of them counts."""
    kept = {metric.name: weight for metric, weight in _counted(panel)}
    return {name: round(weight / sum(kept.values()), 6) for name, weight in sorted(kept.items())}


def judges_count(panel: Panel) -> bool:
    """Whether a judge has a say in the ratings of an eval."""
    weighed = zip(panel.metrics, panel.weights, strict=True)
    return any(judge.weight for judge in panel.judges) and any(metric.judged and weight for metric, weight in weighed)


def _counted(panel: Panel) -> list[tuple[Metric, float]]:
    """The judged metrics that count; where no judge has any weight, those of programs that look at the work.

    What a run took says nothing of a control: it writes its files in no time, without a model.
    """
    has_say = any(judge.weight for judge in panel.judges)
    return [
        (metric, weight)
        for metric, weight in zip(panel.metrics, panel.weights, strict=True)
        if weight and (metric.judged if has_say else not metric.judged and not metric.earned)
    ]


def with_standing(project: Project, store: Store, board: Board) -> Board:
    """The board, with how its judges stand to the newest certificate, whether programs rank in their place, and which
    of its evals have passed the gate."""
    from orvl.trust.vetted import vetted_states

    panels = board.gathered.panels.values()
    found = standing(project, store, panels)
    found = replace(found, programs_rank=not found.may_rank and programs_can_rank(panels))
    vetted = vetted_states(store, [panel.eval for panel in panels if panel.eval.origin != ORIGIN])
    return replace(board, standing=found, vetted=vetted)


def standing(project: Project, store: Store, panels: Iterable[Panel]) -> Standing:
    """The newest certificate that fits the present panels; else the newest one, with what has changed since.

    Where no judge has a say nothing must be certified; only a certificate of programs counts there, if there is one.
    """
    every, found = list(panels), store.trust(KIND)
    own = [panel for panel in every if panel.eval.origin != ORIGIN]
    if every and not own:
        return Standing("imported")
    by_programs = bool(own) and not any(map(judges_count, own))
    try:
        if by_programs:
            found = [one for one in found if not _judges_with_a_say(one)]
        if not found:
            return Standing("programs" if by_programs else "none")
        return _standing(project, found, own)
    except (LookupError, TypeError, AttributeError) as error:
        raise StoreError(
            f"A certificate in the store {store.folder} is damaged ({error}). Restore a backup of the store."
        ) from error


def _standing(project: Project, found: Sequence[Made], panels: Sequence[Panel]) -> Standing:
    judges = panels[0].judges if panels else ()
    names = _with_a_say({judge.name: judge.weight for judge in judges})
    same = [one for one in found if _judges_with_a_say(one) == names]
    fitting = [one for one in same if not any(_changes(project, one[2], panels))]
    number, made, content = next(filter(_tells, fitting), (fitting or same or found)[0])
    reasons = tuple(_changes(project, content, panels))
    if reasons:
        return Standing("stale", reasons, number, made, content)
    return Standing(content["state"], tuple(content["refused_because"]), number, made, content)


def _judges_with_a_say(one: Made) -> set[str]:
    return _with_a_say({judge["name"]: judge["weight"] for judge in one[2]["judges"]})


def _with_a_say(weights: Mapping[str, float]) -> set[str]:
    """The judges with a weight; the embedded model never has any."""
    return {name for name, weight in weights.items() if weight}


def _tells(one: Made) -> bool:
    """Whether anything was found out: a refusal because controls are missing says nothing of the judges."""
    content = one[2]
    return content["state"] == "certified" or any(test["passed"] is False for test in content["tests"])


def _changes(project: Project, content: Mapping[str, Any], panels: Sequence[Panel]) -> Iterator[str]:
    """What has changed since, a sentence each."""
    yield from _changed_judges(content, panels[0].judges if panels else ())
    metrics = {metric.name: metric for panel in panels for metric, _ in _counted(panel)}
    known = content["metrics"]
    for name, metric in metrics.items():
        if name not in known:
            yield f"The metric {name} was not certified."
        elif known[name]["digest"] != metric.digest:
            yield f"The metric {name} has changed since it was certified."
    if metrics.keys() <= known.keys():
        yield from _changed_weights(project, content, panels)
    for name, digest in content["evals"].items():
        if name not in project.eval_files:
            yield f"The eval {name}, on which the judges were tested, no longer exists."
        elif _eval_now(project, name) != digest:
            yield f"The eval {name} or its controls have changed since."


def _changed_weights(project: Project, content: Mapping[str, Any], panels: Sequence[Panel]) -> Iterator[str]:
    """A rating over other metrics or with other weights is not the one that was shown to tell good work from bad."""
    for panel in panels:
        before = content.get("weights", {}).get(panel.eval.name)
        if not before or not shares(panel):
            continue
        now = shares(as_certified(project, panel) if any(judge.weight for judge in panel.judges) else panel)
        if before == now:
            continue
        if before.keys() == now.keys():
            yield f"The metric weights of the eval {panel.eval.name} have changed since they were certified."
        else:
            yield f"The eval {panel.eval.name} was certified on {_and(before)}, but is now rated on {_and(now)}."
        return


def _and(names: Iterable[str]) -> str:
    *others, last = sorted(names)
    return f"{', '.join(others)} and {last} together" if others else f"{last} alone"


def _changed_judges(content: Mapping[str, Any], judges: Sequence[Judge]) -> Iterator[str]:
    """Judges of weight 0 may come and go."""
    before = {judge["name"]: judge for judge in content["judges"]}
    had, has = (
        _with_a_say({name: judge["weight"] for name, judge in before.items()}),
        _with_a_say({judge.name: judge.weight for judge in judges}),
    )
    for judge in judges:
        if judge.name not in had | has:
            continue
        if judge.name not in before:
            yield f"The judge {judge.name} was not on the certified panel."
        elif before[judge.name]["key"] != judge.key:
            yield f"The settings of the judge {judge.name} have changed since it was certified."
        elif before[judge.name]["weight"] != judge.weight:
            yield f"The weight of the judge {judge.name} has changed since it was certified."
    for name in sorted(had - {judge.name for judge in judges}):
        yield f"The judge {name} was on the certified panel but is not on this one."


def _eval_now(project: Project, name: str) -> str | None:
    try:
        return eval_content(project.eval(name))
    except OrvlError:
        return None

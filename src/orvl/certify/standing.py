"""Whether what was certified is what rates now: certified, stale, refused or none."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from orvl.errors import OrvlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from orvl.plan import Panel
    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Eval, Judge, Metric

KIND = "certificate"
State = Literal["certified", "stale", "refused", "none"]
AGAIN = "Certify again: orvl certify"


@dataclass(frozen=True)
class Standing:
    """How a panel stands to the newest certificate that speaks of it."""

    state: State
    reasons: tuple[str, ...] = ()
    number: int | None = None
    made: float | None = None
    content: Mapping[str, Any] | None = None

    @property
    def may_rank(self) -> bool:
        return self.state == "certified"


def judge_content(judge: Judge) -> dict[str, Any]:
    """A judge by the content of its settings."""
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


def standing(project: Project, store: Store, panels: Iterable[Panel]) -> Standing:
    """How the panels that rate now stand to the newest certificate over the same judges, else to the newest."""
    panels = list(panels)
    judges = panels[0].judges if panels else ()
    found = store.trust(KIND)
    if not found:
        return Standing("none")
    names = sorted(judge.name for judge in judges)
    number, made, content = next(
        (one for one in found if sorted(judge["name"] for judge in one[2]["judges"]) == names), found[0]
    )
    reasons = tuple(_changes(project, content, judges, _counted(panels)))
    if reasons:
        return Standing("stale", reasons, number, made, content)
    return Standing(content["state"], tuple(content["refused_because"]), number, made, content)


def _counted(panels: Sequence[Panel]) -> dict[str, Metric]:
    """The metrics on which judges have a say that counts."""
    return {
        metric.name: metric
        for panel in panels
        for metric, weight in zip(panel.metrics, panel.weights, strict=True)
        if metric.judged and weight and panel.judges
    }


def _changes(
    project: Project, content: Mapping[str, Any], judges: Sequence[Judge], metrics: Mapping[str, Metric]
) -> Iterator[str]:
    """What is no longer as it was certified, a sentence each."""
    before = {judge["name"]: judge for judge in content["judges"]}
    for judge in judges:
        if judge.name not in before:
            yield f"The judge {judge.name} was not on the certified panel."
        elif before[judge.name]["key"] != judge.key:
            yield f"The judge {judge.name} has other settings than when it was certified."
        elif before[judge.name]["weight"] != judge.weight:
            yield f"The judge {judge.name} has another weight than when it was certified."
    for name in before.keys() - {judge.name for judge in judges}:
        yield f"The judge {name} was on the certified panel, and is not on this one."
    for name, metric in metrics.items():
        if name not in content["metrics"]:
            yield f"The metric {name} was not certified."
        elif content["metrics"][name]["digest"] != metric.digest:
            yield f"The metric {name} has another content than when it was certified."
    for name, known in content["evals"].items():
        if _eval_now(project, name) != known:
            yield f"The eval {name} or its controls have changed since."


def _eval_now(project: Project, name: str) -> str | None:
    try:
        return eval_content(project.eval(name)) if name in project.eval_files else None
    except OrvlError:
        return None

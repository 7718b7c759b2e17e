"""What must be said of metrics' weights: evals that override the project's, and metrics that count nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.errors import OrvlError
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from orvl.plan.layout import Panel
    from orvl.project import Project
    from orvl.types import Eval

FROM = {
    "eval": "its own",
    "orvl.toml": "[metrics] of orvl.toml",
    "default": "the default",
    "words": "the metrics that were asked for",
}
NAMED = 4
"""Evals that a sentence names."""


def weight_notes(project: Project, panels: Mapping[str, Panel]) -> list[str]:
    """A sentence on evals that do not go by `[metrics]`, and one for each metric of the project that no eval uses."""
    return [*_overriding(project, panels), *_unused(project, panels)]


def weight_lines(panels: Collection[Panel]) -> list[str]:
    """What counts on these evals and who says so, those that are alike together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for panel in panels:
        listed = ", ".join(f"{name} {share:.3g}" for name, share in panel.shares.items())
        alike.setdefault((listed, panel.weights_from), []).append(panel.eval.name)
    lines = [f"Weights of {_few(names)} ({FROM[source]}): {listed}." for (listed, source), names in alike.items()]
    return [*lines, *in_full(panels)]


def earned_by(panel: Panel) -> str | None:
    """How the efficiency that counts on an eval is earned, as a sentence; None where none counts."""
    earning = panel.earning
    names = [name for name in panel.shares if earning and name in earning.metrics]
    if earning is None or not names:
        return None
    if earning.by is None:
        return f"{_and(names)} in full: no check and no judge says what works there."
    above = f", from {earning.floor:g} up" if earning.floor else ""
    return f"{_and(names)} as far as the work works: × {earning.by}{above}."


def _and(names: Sequence[str]) -> str:
    *others, last = sorted(names)
    return f"{', '.join(others)} and {last} count" if others else f"{last} counts"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def in_full(panels: Iterable[Panel]) -> Iterable[str]:
    """On which evals efficiency counts although nothing says what works."""
    alike: dict[str, list[str]] = {}
    for panel in panels:
        if panel.earning and panel.earning.by is None and (sentence := earned_by(panel)):
            alike.setdefault(sentence, []).append(panel.eval.name)
    for sentence, names in alike.items():
        yield f"{_few(names)}: {sentence}"


def overridden(project: Project, eval_: Eval) -> dict[str, tuple[float | None, float | None]]:
    """By metric, the project's weight and the eval's own instead of it; None where one of them leaves it out."""
    usual = project.settings.metrics
    if not usual or eval_.metrics is None:
        return {}
    own = project.weights(eval_, ())
    pairs = {name: (usual.get(name), own.get(name)) for name in sorted({*usual, *own})}
    return {name: pair for name, pair in pairs.items() if (pair[0] or 0.0) != (pair[1] or 0.0)}


def override_sentence(changes: Mapping[str, tuple[float | None, float | None]]) -> str:
    """What an eval weighs otherwise than `[metrics]` does."""
    parts = [f"{name} {_weight(own)} instead of {_weight(usual)}" for name, (usual, own) in changes.items()]
    return f"This eval overrides [metrics] of orvl.toml: {', '.join(parts)}."


def _weight(weight: float | None) -> str:
    return "unused" if weight is None else f"{weight:g}"


def _overriding(project: Project, panels: Mapping[str, Panel]) -> Iterable[str]:
    names = sorted(name for name, panel in panels.items() if overridden(project, panel.eval))
    if len(names) == 1:
        yield f"{names[0]}: {override_sentence(overridden(project, panels[names[0]].eval))}"
    elif names:
        yield f"{_few(names)} override [metrics] of orvl.toml with weights of their own. See: orvl list evals"


def _unused(project: Project, panels: Mapping[str, Panel]) -> Iterable[str]:
    own = {name: file.path for name, file in project.metric_files.items() if file.origin == "project"}
    used = {metric.name for panel in panels.values() for metric in panel.metrics}
    if not own.keys() - used:
        return
    known = {panel.eval.name for panel in panels.values()}
    others = [name for name in project.all_evals if name not in known]
    for name in others:
        used |= _metrics_of(project, name)
    evals = count(len({*known, *others}), "eval")
    for name in sorted(own.keys() - used):
        path = own[name].relative_to(project.root)
        yield (
            f"The metric {name} ({path}) counts on none of {evals}: name it under 'metrics' of an eval, or in "
            "[metrics] of orvl.toml."
        )


def _metrics_of(project: Project, name: str) -> set[str]:
    try:
        return set(project.weights(project.eval(name), project.panel()))
    except OrvlError:
        return set()

"""Results of other tools: how they are rated, and what importing a source changes in a store."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import FileError, OrvlError, UserError
from orvl.plan.layout import Panel, layout_of
from orvl.store.rows import ImportOrigin
from orvl.types import Eval, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.project import Project
    from orvl.store import Store, StoredCell
    from orvl.types import ImportedCell, Layout

ORIGIN = "imported"
"""Of the evals and metrics of imported results: they exist as names only."""


def panel_name(cell: StoredCell) -> str:
    """What the panel that rates a cell goes by: the eval's name; imported results of an eval have one of their own."""
    origin = cell.imported
    return cell.eval if origin is None else f"{cell.eval}\0{json.dumps(origin.metrics)}"


def imported_panel(project: Project, cell: StoredCell, only: Mapping[str, bool] | None) -> Panel:
    """The metrics that a source has for an eval, with the weights of orvl.toml, and no judge."""
    origin = cell.imported
    names = [name for name in (origin.metrics if origin else ()) if only is None or name in only]
    if not names:
        raise FileError(Path(origin.source if origin else "-"), None, f"it has none of these metrics for {cell.eval}.")
    weights = weights_of(project, names)
    metrics = tuple(_metric(name) for name in names)
    return Panel(_eval(project, cell.eval), metrics, tuple(weights[name] for name in names), ())


def weights_of(project: Project, metrics: Sequence[str]) -> dict[str, float]:
    """Those of [metrics] in orvl.toml; 1 for a metric that it does not name."""
    weights = {name: project.settings.metrics.get(name, 1.0) for name in metrics}
    return weights if any(weights.values()) else dict.fromkeys(metrics, 1.0)


def weights_sentence(weights: Mapping[str, float]) -> str:
    """How imported metrics are weighed, and where that can be changed."""
    if len(weights) == 1:
        return f"R is the imported {next(iter(weights))}."
    if len(set(weights.values())) == 1:
        return f"Equal weights: {', '.join(weights)}."
    return f"Weights: {', '.join(f'{name} {weight:g}' for name, weight in weights.items())}."


def _metric(name: str) -> Metric:
    return Metric(name, Path(), ORIGIN, ORIGIN, "")


def _eval(project: Project, name: str) -> Eval:
    """An eval that exists as a name; its family is that of the project's own eval of this name."""
    family = ""
    if name in project.eval_files:
        try:
            family = project.eval(name).family
        except OrvlError:
            family = project.eval_files[name].family
    return Eval(name, Path(), ORIGIN, "", ORIGIN, "", "", (), family=family)


# -- what an import changes


@dataclass
class Changes:
    """What importing a source means for a store: cells by whether it has them already."""

    added: list[ImportedCell] = field(default_factory=list)
    replaced: list[ImportedCell] = field(default_factory=list)
    unchanged: list[ImportedCell] = field(default_factory=list)
    dropped: list[StoredCell] = field(default_factory=list)
    """Those that the source brought before, and does not name any more."""


def changes_by(source: str, cells: Iterable[ImportedCell], stored: Iterable[StoredCell], *, whole: bool) -> Changes:
    """Compares a source with what is stored; with `whole`, what it brought before and no longer names is dropped."""
    known = {cell.names: (cell, origin) for cell in stored if (origin := cell.imported)}
    found, named = Changes(), set()
    for cell in cells:
        named.add(cell.names)
        before = known.get(cell.names)
        if before is None:
            found.added.append(cell)
            continue
        if before[1].source != source:
            raise UserError(_of_another(cell, before[1].source))
        is_same = before[1].content == content_of(cell)
        (found.unchanged if is_same else found.replaced).append(cell)
    if whole:
        found.dropped = [
            cell for names, (cell, origin) in known.items() if origin.source == source and names not in named
        ]
    return found


def _of_another(cell: ImportedCell, source: str) -> str:
    names = " ".join(name for name in cell.names if name)
    return (
        f"{names} was imported from {source} already. If this is a newer version of that, replace all of it: "
        f"--as '{source}'; else name the agent otherwise. Nothing was imported."
    )


def apply(store: Store, source: str, changes: Changes, call: int) -> None:
    """Carries it out, inside a transaction."""
    stored = {cell.names: cell.id for cell in store.cells() if cell.imported}
    old = [stored[cell.names] for cell in changes.replaced] + [cell.id for cell in changes.dropped]
    if old:
        store.drop_runs([run.key for run in store.runs(old)])
    new = [*changes.added, *changes.replaced]
    layouts = {metrics: _layout(metrics) for metrics in {cell.metrics for cell in new}}
    store.add_imported(
        (
            (_key(cell), cell, ImportOrigin(source, cell.metrics, content_of(cell)), layouts[cell.metrics])
            for cell in new
        ),
        call,
    )


def content_of(cell: ImportedCell) -> str:
    parts = [cell.metrics, [[run.episode, run.scores, run.cost_usd, run.seconds] for run in cell.runs]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _key(cell: ImportedCell) -> str:
    return hashlib.sha256(json.dumps([ORIGIN, *cell.names]).encode()).hexdigest()


def _layout(metrics: Sequence[str]) -> Layout:
    return layout_of(Eval("", Path(), ORIGIN, "", ORIGIN, "", "", ()), [_metric(name) for name in metrics], ())

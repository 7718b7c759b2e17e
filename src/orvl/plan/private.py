"""Private evals: their ratings are written for others, and nothing else of them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from orvl.errors import OrvlError
from orvl.store.records import made_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orvl.plan.layout import Panel
    from orvl.project import Project
    from orvl.project.settings import Settings
    from orvl.store import StoredCell

WITHHELD = "the eval is private; orvl show RUN says why"
"""Instead of a sentence that may quote an agent, a check or a judge."""


def private_evals(project: Project, cells: Iterable[StoredCell]) -> frozenset[str]:
    """The names of stored evals that are private: by their files, or, where these are gone, as their runs were made."""
    names: set[str] = set()
    for cell in cells:
        if cell.eval not in names and _is_private(project, cell):
            names.add(cell.eval)
    return frozenset(names)


def _is_private(project: Project, cell: StoredCell) -> bool:
    if (made_of(cell.made_of) or {}).get("private"):
        return True
    with suppress(OrvlError):
        return cell.eval in project.eval_files and project.eval(cell.eval).private
    return False


def sent_to_models(settings: Settings, panels: Mapping[str, Panel]) -> Iterator[str]:
    """Which private evals models of orvl's own see: they must, and whoever serves them sees it, too."""
    for name, panel in panels.items():
        providers = {judge.provider for judge in panel.judges if not judge.is_local and judge.provider != "none"}
        if panel.eval.private and providers and any(metric.judged for metric in panel.metrics):
            yield (
                f"{name} is private: its prompts, and what agents make of it, are sent to the judges at "
                f"{', '.join(sorted(providers))}."
            )
        if panel.eval.private and panel.eval.user and settings.user:
            yield f"{name} is private: its user's facts, and what agents reply, are sent to {settings.user.provider}."

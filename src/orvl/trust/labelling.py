"""What a person who labels is asked and shown, and what is stored: the same at a terminal and in a browser."""

from __future__ import annotations

import getpass
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from orvl.errors import OrvlError, UserError
from orvl.score.judges import verdict
from orvl.score.judges.redaction import names_of
from orvl.store import open_store
from orvl.trust.labels import IN_TURN, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from orvl.capture.captured_run import CapturedRun
    from orvl.project import Project
    from orvl.score.judges import Answer
    from orvl.store import Store
    from orvl.trust.labels import Asked
    from orvl.types import Metric

ANSWERS = {"y": "yes", "n": "no", "?": "cannot-tell", "yes": "yes", "no": "no"}


@dataclass(frozen=True)
class Label:
    """What a person says of a run on a metric, or of the whole of it."""

    attempt: int
    metric: str
    person: str
    value: float
    note: str | None = None
    drawn: str | None = None
    """How chance has chosen the run, if it has."""


@dataclass(frozen=True)
class LabelQuestion:
    """A metric of a run, or the whole of it; a checklist is asked item by item, all else is a number."""

    metric: str
    text: str
    items: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, project: Project, name: str) -> LabelQuestion:
        if name == WHOLE:
            return cls(WHOLE, "How good is the whole?")
        metric: Metric = project.metric(name)
        return cls(name, metric.description, () if metric.function else tuple(metric.items))

    def label(self, asked: Asked, person: str, said: Sequence[str]) -> Label | None:
        """Of the answers to all items, or of the one number; None where nothing could be told."""
        value, note = self._checklist(said) if self.items else (number_of(said[0]), None)
        if value is None:
            return None
        return Label(asked.attempt, self.metric, person, value, note, IN_TURN if asked.drawn else None)

    def _checklist(self, said: Sequence[str]) -> tuple[float | None, str]:
        """The weighted share of yes, as for judges, and the answers as they were given."""
        answers = [cast("Answer", ANSWERS[word]) for word in said]
        return verdict(answers, [weight for _, weight in self.items]).score, " ".join(answers)


def questions(project: Project, asked: Asked) -> list[LabelQuestion]:
    return [LabelQuestion.of(project, name) for name in asked.metrics]


def number_of(told: Any) -> float:
    """A score as it was written."""
    try:
        value = float("nan" if isinstance(told, bool) else told)
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if not 0 <= value <= 1:
        raise UserError(f"The score is {told!r}; it must be a number from 0 to 1.")
    return value


def person_named(name: str | None) -> str:
    """Who labels: whoever is named, else whoever is logged in; nobody is the empty text."""
    try:
        return getpass.getuser() if name is None else name.strip()
    except (KeyError, OSError):
        return ""


def store_labels(url: str, labels: Iterable[Label]) -> None:
    """Stores labels, all or none; the store is locked only for that moment, so that runs can go on."""
    with open_store(url, write=True) as store:
        store.transaction([partial(_add, label=label) for label in labels])


def _add(store: Store, label: Label) -> None:
    store.add_label(label.attempt, label.metric, label.person, label.value, label.note, label.drawn)


# -- what a person sees


def evidence_text(run: CapturedRun, asked: Iterable[LabelQuestion]) -> str:
    """What judges see of a run, without the marks around it."""
    from orvl.score.judges.evidence import gather

    view = gather(run, [text for one in asked for text, _ in one.items]).full
    return "\n".join(view.text.split("\n")[1:-1])


def blind(project: Project, store: Store, asked: Asked, scratch: Path) -> CapturedRun:
    """A run as judges see it, without the names of the agent, its model and its provider."""
    from orvl.capture.captured_run import CapturedRun, Inspections
    from orvl.capture.stored_run import prompts_of

    attempt, checks = store.attempt(asked.attempt)
    finds = replace(Inspections.of(store.inspections(asked.attempt), store.blobs), hidden_names=_names(project, asked))
    (run,) = store.runs_starting_with(asked.run, 1)
    prompts = [str(prompt) for prompt in prompts_of(store, run.cell, attempt)]
    return CapturedRun(replace(attempt, checks=checks), prompts, store.blobs, scratch, finds)


def _names(project: Project, asked: Asked) -> tuple[str, ...]:
    """What is hidden. A control's names are common words, and what it writes is the eval's own."""
    agent, model, provider, _ = asked.names
    try:
        known = project.agent(agent)
        if known.control:
            return ()
        ids = known.models.get(provider, {})
    except (KeyError, OrvlError):
        known, ids = None, {}
    return names_of(agent, model, ids.get(model, model), provider, known)

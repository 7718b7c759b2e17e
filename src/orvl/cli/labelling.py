"""A person at a terminal: runs are shown without names, and scored one by one."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from orvl.cli.label import Label, number_of
from orvl.errors import LabellingEnded, LabelSkipped, OrvlError, StoreError, UserError
from orvl.project.names import count
from orvl.report.text import escaped, plain
from orvl.score.judges import verdict
from orvl.score.judges.redaction import names_of
from orvl.trust.labels import IN_TURN, WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.capture.captured_run import CapturedRun
    from orvl.project import Project
    from orvl.score.judges import Answer
    from orvl.store import Store
    from orvl.trust.labels import Asked
    from orvl.types import Metric

KEYS = "v shows all of it, s skips the run, q quits"
ANSWERS = {"y": "yes", "n": "no", "?": "cannot-tell", "yes": "yes", "no": "no"}
KEPT_ROWS = 14
"""Rows of the terminal that questions need."""
LEAST_ROWS = 16


class Session:
    """Asks a person about one run after another; `keep` stores a label at once."""

    def __init__(self, project: Project, store: Store, person: str, keep: Callable[[Sequence[Label]], None]) -> None:
        self.project = project
        self.store = store
        self.person = person
        self.stored = 0
        self._keep = keep
        self._text = ""

    def go(self, queue: Sequence[Asked]) -> int:
        if not queue:
            click.echo(f"Nothing is left for {plain(self.person)} to label. See: orvl label --report")
            return 0
        click.echo(f"{count(len(queue), 'run')} to label, without names. {KEYS}.")
        try:
            for number, asked in enumerate(queue, 1):
                self._run(asked, f"{number} of {len(queue)}")
        except LabellingEnded:
            pass
        finally:
            click.echo(f"\n{count(self.stored, 'label')} stored. See what they say: orvl label --report")
        return 0

    def _run(self, asked: Asked, place: str) -> None:
        metrics = [self.project.metric(name) if name else None for name in asked.metrics]
        with tempfile.TemporaryDirectory(prefix="orvl-label-") as scratch:
            self._show(asked, [metric for metric in metrics if metric], place, Path(scratch))
            try:
                for metric in metrics:
                    self._metric(asked, metric)
            except LabelSkipped:
                pass

    def _show(self, asked: Asked, metrics: Sequence[Metric], place: str, scratch: Path) -> None:
        from orvl.score.judges.evidence import gather

        run = blind(self.project, self.store, asked, scratch)
        evidence = gather(run, [text for metric in metrics for text, _ in metric.items])
        lines = plain(evidence.full.text, lines=True).split("\n")[1:-1]
        lines += [f"screenshot: {path}" for path in run.screenshots]
        self._text = "\n".join(lines)
        size = shutil.get_terminal_size()
        room = max(size.lines - KEPT_ROWS, LEAST_ROWS)
        click.echo(f"\n== {place}: a run of the eval {plain(asked.names[3])} ({asked.run[:12]})\n")
        for line in lines[:room]:
            click.echo(line if len(line) < size.columns else line[: size.columns - 2] + "…")
        if len(lines) > room:
            click.echo(f"… {count(len(lines) - room, 'more line')}: v shows all")

    def _metric(self, asked: Asked, metric: Metric | None) -> None:
        name = metric.name if metric else WHOLE
        if metric and metric.items and metric.function is None:
            value, note = self._checklist(metric)
        else:
            value, note = self._number(metric), None
        if value is None:
            click.echo("Every answer was ?, so nothing is stored.")
            return
        self._store(Label(asked.attempt, name, self.person, value, note, IN_TURN if asked.drawn else None))

    def _store(self, label: Label) -> None:
        while True:
            try:
                self._keep([label])
            except StoreError as error:
                click.echo(plain(str(error)))
                self._ask("Enter tries again; s or q gives this answer up:")
            else:
                self.stored += 1
                return

    def _checklist(self, metric: Metric) -> tuple[float | None, str]:
        """The weighted share of yes, as for judges, and the answers as they were given."""
        click.echo(f"\n{plain(metric.name)}: {plain(metric.description)}")
        answers = [self._item(number, text) for number, (text, _) in enumerate(metric.items, 1)]
        told = verdict(answers, [weight for _, weight in metric.items])
        return told.score, " ".join(answers)

    def _item(self, number: int, text: str) -> Answer:
        while True:
            word = self._ask(f"  {number}. {plain(text)} [y/n/?]").lower()
            if word in ANSWERS:
                return cast("Answer", ANSWERS[word])
            click.echo(f"     y for yes, n for no, ? for cannot tell; {KEYS}.")

    def _number(self, metric: Metric | None) -> float:
        about = f"{plain(metric.name)}: {plain(metric.description)}" if metric else "The whole run: how good is it?"
        click.echo()
        while True:
            word = self._ask(f"{about} [0 to 1]")
            try:
                return number_of(word)
            except UserError:
                click.echo(f"  A number from 0 (useless) to 1 (perfect), such as 0.7; {KEYS}.")

    def _ask(self, question: str) -> str:
        """A line of the person's, unless it is one of the keys."""
        while True:
            word = click.prompt(question, default="", show_default=False, prompt_suffix=" ").strip()
            if word in ("q", "Q"):
                raise LabellingEnded
            if word in ("s", "S"):
                raise LabelSkipped
            if word not in ("v", "V"):
                return str(word)
            click.echo_via_pager(escaped(self._text))


def blind(project: Project, store: Store, asked: Asked, scratch: Path) -> CapturedRun:
    """A run as judges see it, without the names of the agent, its model and its provider."""
    from orvl.capture.captured_run import CapturedRun, Inspections

    attempt, checks = store.attempt(asked.attempt)
    finds = replace(Inspections.of(store.inspections(asked.attempt), store.blobs), hidden_names=_names(project, asked))
    return CapturedRun(replace(attempt, checks=checks), _prompts(store, asked), store.blobs, scratch, finds)


def _prompts(store: Store, asked: Asked) -> list[str]:
    (run,) = store.runs_starting_with(asked.run, 1)
    return [str(prompt) for prompt in store.prompts(run.cell)]


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

"""A person is asked: runs are shown without names, and scored one by one."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from orvl.cli.asking import END, asker
from orvl.errors import LabellingEnded, LabelSkipped, LabelTakenBack, StoreError, UserError
from orvl.project.names import count
from orvl.report.text import escaped, plain
from orvl.trust.labelling import ANSWERS, LabelQuestion, blind, evidence_text, number_of, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.labelling import Label
    from orvl.trust.labels import Asked

KEYS = "b goes back, v shows all of it, s skips the run, q quits"
HELP = f"y is yes, n is no, ? cannot tell; {KEYS}. What is stored stays."
MOVES = {"q": LabellingEnded, "s": LabelSkipped, "b": LabelTakenBack}
KEPT_ROWS = 14
"""Rows of the terminal that questions need."""
LEAST_ROWS = 16


class Step(NamedTuple):
    """One answer: to an item of a checklist, or a number."""

    question: LabelQuestion
    item: int | None = None

    @property
    def is_last(self) -> bool:
        return self.item is None or self.item == len(self.question.items) - 1


def steps_of(wanted: Sequence[LabelQuestion]) -> list[Step]:
    return [Step(one, item) for one in wanted for item in (range(len(one.items)) if one.items else (None,))]


class Session:
    """Asks a person about one run after another; `keep` stores a label at once."""

    def __init__(self, project: Project, store: Store, person: str, keep: Callable[[Sequence[Label]], None]) -> None:
        self.project = project
        self.store = store
        self.person = person
        self._keep = keep
        self._asker = asker()
        self._text = ""
        self._answers: dict[tuple[int, str], dict[int, str]] = {}
        """By attempt and metric: the answer to each item."""
        self._stored: set[tuple[int, str]] = set()

    def go(self, queue: Sequence[Asked]) -> int:
        if not queue:
            click.echo(f"Nothing is left for {plain(self.person)} to label. See: orvl label --report")
            return 0
        click.echo(f"{count(len(queue), 'run')} to label, without names. {HELP}")
        at, is_back = 0, False
        try:
            while at < len(queue):
                is_back = not self._run(queue[at], f"{at + 1} of {len(queue)}", is_back=is_back, is_first=at == 0)
                at += -1 if is_back else 1
        except LabellingEnded:
            pass
        finally:
            click.echo(f"\n{count(len(self._stored), 'label')} stored. See what they say: orvl label --report")
        return 0

    def _run(self, asked: Asked, place: str, *, is_back: bool, is_first: bool) -> bool:
        """Asks about one run; False if the person wants the one before. Who comes back is asked the last question."""
        wanted = questions(self.project, asked)
        steps = steps_of(wanted)
        with tempfile.TemporaryDirectory(prefix="orvl-label-") as scratch:
            self._show(asked, wanted, place, Path(scratch))
            at = len(steps) - 1 if is_back else 0
            while at < len(steps):
                try:
                    self._take(asked, steps[at])
                    at += 1
                except LabelTakenBack:
                    if at == 0 and not is_first:
                        return False
                    if at == 0:
                        click.echo("     There is no question before this one.")
                    at = max(at - 1, 0)
                except LabelSkipped:
                    break
        return True

    def _show(self, asked: Asked, wanted: Sequence[LabelQuestion], place: str, scratch: Path) -> None:
        run = blind(self.project, self.store, asked, scratch)
        lines = plain(evidence_text(run, wanted), lines=True).split("\n")
        lines += [f"screenshot: {path}" for path in run.screenshots]
        self._text = "\n".join(lines)
        size = shutil.get_terminal_size()
        room = max(size.lines - KEPT_ROWS, LEAST_ROWS)
        click.echo(f"\n== {place}: a run of the eval {plain(asked.names[3])} ({asked.run[:12]})\n")
        for line in lines[:room]:
            click.echo(line if len(line) < size.columns else line[: size.columns - 2] + "…")
        if len(lines) > room:
            click.echo(f"… {count(len(lines) - room, 'more line')}: v shows all")

    def _take(self, asked: Asked, step: Step) -> None:
        """One answer; the last one of a metric stores its label."""
        question, place = step.question, (asked.attempt, step.question.metric)
        if step.item is None:
            said = [self._number(question)]
        else:
            if step.item == 0:
                click.echo(f"\n{plain(question.metric)}: {plain(question.text)}")
            answers = self._answers.setdefault(place, {})
            answers[step.item] = self._item(question, step.item, answers.get(step.item))
            if not step.is_last:
                return
            said = [answers[item] for item in range(len(question.items))]
        label = question.label(asked, self.person, said)
        if label is not None:
            self._store(label)
            return
        stays = "; the label from before stays" if place in self._stored else ""
        click.echo(f"Every answer was ?, so nothing is stored{stays}.")

    def _store(self, label: Label) -> None:
        while True:
            try:
                self._keep([label])
            except StoreError as error:
                click.echo(plain(str(error)))
                self._ask("Enter tries again; s or q gives this answer up:", has_enter=True)
            else:
                self._stored.add((label.attempt, label.metric))
                return

    def _item(self, question: LabelQuestion, item: int, before: str | None) -> str:
        was = f" (was: {ANSWERS[before]})" if before else ""
        while True:
            word = self._ask(f"  {item + 1}. {plain(question.items[item][0])}{was} [y/n/?]").lower()
            if word in ANSWERS:
                return word
            click.echo(f"     {HELP}")

    def _number(self, question: LabelQuestion) -> str:
        click.echo()
        while True:
            name = question.metric or "The whole run"
            word = self._ask(f"{plain(name)}: {plain(question.text)} [0 to 1]", is_typed=True)
            try:
                number_of(word)
            except UserError:
                click.echo(f"  A number from 0 (useless) to 1 (perfect), such as 0.7; {KEYS}.")
            else:
                return word

    def _ask(self, question: str, *, is_typed: bool = False, has_enter: bool = False) -> str:
        """An answer of the person's, unless it is one of the keys that lead elsewhere."""
        while True:
            word = self._asker.ask(question, (*MOVES, "v") if is_typed else None, has_enter=has_enter)
            if word == END:
                raise LabellingEnded
            if move := MOVES.get(word):
                raise move
            if word != "v":
                return word
            click.echo_via_pager(escaped(self._text))

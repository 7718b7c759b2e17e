"""`orvl show RUN`: one run in full."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, open_to_read, where
from orvl.errors import UserError
from orvl.project import open_project
from orvl.project.names import count, did_you_mean
from orvl.report import calls as model_calls
from orvl.report.found import found_lines
from orvl.report.text import dollars, plain, seconds
from orvl.report.verdicts import print_verdicts

if TYPE_CHECKING:
    from orvl.capture.captured_run import CapturedRun, Inspections
    from orvl.report.terminal import Terminal
    from orvl.store import Store, StoredCell, StoredRun
    from orvl.types import Attempt, ModelCall


@click.command()
@click.argument("run")
@click.option("--diff", "part", flag_value="diff", help="Only what the agent changed, as a diff.")
@click.option("--output", "part", flag_value="output", help="Only what the agent printed.")
@click.option("--file", "path", metavar="PATH", help="Only the bytes of one file that it left.")
@click.option("--shot", metavar="NAME", help="Only the PNG of one screenshot, such as desktop-light.")
@click.option("--calls", "part", flag_value="calls", help="Only the calls of models, one line each.")
@click.option("--call", "call", type=click.IntRange(1), metavar="N", help="Only one call of a model, word for word.")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="One attempt of a run that was tried again.")
@as_json
@where
def command(
    run: str,
    part: str | None,
    path: str | None,
    shot: str | None,
    call: int | None,
    attempt: int | None,
    json_: bool,
    project: str | None,
    store: str | None,
) -> int:
    """Show one run: what it did, what it left, how it was scored.

    RUN is the beginning of a run's key, as `orvl report --by run` gives it, or AGENT/EVAL/EPISODE.
    """
    if json_ and (part in ("diff", "output") or path is not None):
        raise UserError("--json shows the whole run; leave it out with --diff, --output or --file.")
    out = JsonOut() if json_ else None
    opened = open_project(project)
    with open_to_read(opened, store) as found:
        shown = Shown(found, run, attempt)
        if path is not None:
            sys.stdout.buffer.write(shown.file(path))
        elif shot is not None:
            sys.stdout.buffer.write(shown.shot(shot))
        elif call is not None:
            told = shown.call(call)
            if out:
                out.write({"schema": 1, "run": shown.key, "attempt": shown.positions[-1], "call": told})
            else:
                click.echo("\n".join(model_calls.print_full(told)))
        elif part == "diff":
            click.echo(plain(shown.captured.diff, lines=True))
        elif part == "output":
            click.echo(plain("\n".join(shown.captured.output), lines=True))
        elif out:
            out.write(shown.as_json())
        elif part == "calls":
            click.echo("\n".join(model_calls.lines(shown.calls)) or "The run made no call of a model through orvl.")
        else:
            shown.print(console())
    return 0


class Shown:
    """A run, found by the beginning of its key, with its attempts, or one of them."""

    def __init__(self, store: Store, name: str, chosen: int | None = None) -> None:
        self.store = store
        run, self.cell = find(store, name)
        self.key, self.episode = run.key, run.episode
        numbers = store.attempts(run.key)
        if chosen is not None and chosen > len(numbers):
            raise UserError(
                f"There is no attempt {chosen}: the run {self.key[:12]} has {count(len(numbers), 'attempt')}."
            )
        self.positions = [chosen] if chosen else list(range(1, len(numbers) + 1))
        kept = [numbers[position - 1] for position in self.positions]
        self.attempts: list[tuple[int, Attempt, Any]] = [(number, *store.attempt(number)) for number in kept]

    @property
    def named(self) -> dict[str, str]:
        """The cell's names, for JSON."""
        return {name: getattr(self.cell, name) for name in ("agent", "model", "provider", "eval", "version")}

    @property
    def calls(self) -> list[ModelCall]:
        """Those of the last attempt."""
        return self.store.calls(self.attempts[-1][0])

    def call(self, number: int) -> dict[str, Any]:
        return model_calls.full(self.store, self.attempts[-1][1], self.calls, number)

    @property
    def captured(self) -> CapturedRun:
        from pathlib import Path

        from orvl.capture.captured_run import CapturedRun

        _, attempt, _ = self.attempts[-1]
        if attempt.tree is None:
            raise UserError(f"The run {self.key[:12]} left nothing: {attempt.reason}.")
        return CapturedRun(attempt, (), self.store.blobs, Path())

    def file(self, path: str) -> bytes:
        try:
            return bytes(self.captured.read_bytes(path))
        except FileNotFoundError as error:
            raise UserError(f"The run left no file '{path}'. {did_you_mean(path, self.captured.files)}") from error

    def shot(self, name: str) -> bytes:
        """A screenshot of the newest look."""
        page = self.finds(self.attempts[-1][0]).page
        files = {shot.name: shot.file for shot in page.shots} if page else {}
        if name not in files:
            known = did_you_mean(name, files) if files else "No browser looked at this run."
            raise UserError(f"There is no screenshot '{name}'. {known}")
        return bytes(self.store.blobs.get(self.finds(self.attempts[-1][0]).pictures[files[name]]))

    def finds(self, number: int) -> Inspections:
        from orvl.capture.captured_run import Inspections

        return Inspections.of(self.store.inspections(number), self.store.blobs)

    def as_json(self) -> dict[str, Any]:
        from dataclasses import asdict

        return {
            "schema": 1,
            "run": self.key,
            **self.named,
            "episode": self.episode,
            "attempts": [
                {
                    **{name: value for name, value in asdict(attempt).items() if name not in ("checks", "retry")},
                    "checks": [asdict(check) for check in checks or ()],
                    "calls": [asdict(call) for call in self.store.calls(number)],
                    "scores": [asdict(score) for score in self.store.scores(number)],
                    "found": self.finds(number).as_json(),
                }
                for number, attempt, checks in self.attempts
            ],
        }

    def print(self, out: Terminal) -> None:
        cell = self.cell
        out.print(
            f"run {self.key[:12]}: {' '.join(cell.names)} #{self.episode}",
        )
        for position, (number, attempt, checks) in zip(self.positions, self.attempts, strict=True):
            when = datetime.fromtimestamp(attempt.started).strftime("%Y-%m-%d %H:%M:%S")
            why = f": {plain(attempt.reason)}" if attempt.reason else ""
            out.print(f"\nattempt {position}, {when}, sandbox {attempt.sandbox}: {attempt.outcome}{why}")
            self._print_turns(out, attempt)
            self._print_calls(out, position, number, attempt)
            for note in attempt.cut:
                out.print(f"  cut: {plain(note)}")
            for check in checks or ():
                word = "passed" if check.passed else "failed" + (f" ({check.cut})" if check.cut else "")
                out.print(f"  check {plain(check.name)}: {word} in {seconds(check.seconds)}")
                if not check.passed and check.output.strip():
                    out.print("    " + plain(check.output.strip().splitlines()[-1]))
            for line in found_lines(self.finds(number)):
                out.print(f"  {plain(line)}")
            self._print_scores(out, number)
        self._print_files(out)

    def _print_turns(self, out: Terminal, attempt: Attempt) -> None:
        usage = attempt.usage
        tokens = "unknown" if usage.tokens is None else usage.tokens
        out.print(f"  {seconds(usage.seconds)}, tokens {tokens}, cost {dollars(usage.cost_usd)}")
        for number, turn in enumerate(attempt.turns, 1):
            left_out = f", {turn.left_out_bytes} bytes of output left out" if turn.left_out_bytes else ""
            out.print(f"  turn {number}: status {turn.status} in {seconds(turn.seconds)}{left_out}")

    def _print_calls(self, out: Terminal, position: int, number: int, attempt: Attempt) -> None:
        told = list(model_calls.summary(self.store.calls(number), self.cell.provider, attempt))
        for line in told:
            out.print(f"  {line}")
        if told:
            earlier = "" if position == self.positions[-1] else f" --attempt {position}"
            out.print(f"    List them with{earlier} --calls; see one in full with{earlier} --call N.", "dim")

    def _print_scores(self, out: Terminal, number: int) -> None:
        """A line for each score, every sample of it; then what the judges said, side by side."""
        scores = self.store.scores(number)
        for score in scores:
            judge = f" by {score.judge}" if score.judge else ""
            value = f"{score.value:.3f}" if score.value is not None else f"{score.kind}: {plain(score.reason or '')}"
            sample = f" (sample {score.sample})" if score.sample > 1 else ""
            out.print(f"  score {score.metric}{judge}{sample}: {value}")
        print_verdicts(out, scores)

    def _print_files(self, out: Terminal) -> None:
        """What the agent added and changed, first of all."""
        if not (self.attempts and self.attempts[-1][1].tree):
            return
        files, made = self.captured.files, self.captured.made
        if not files:
            out.print("\nNo file is left.")
            return
        as_before = len(files) - len(made)
        also = f", and {count(as_before, 'file')} as they were" if as_before else ""
        out.print(f"\n{count(len(made), 'file')} made or changed{also}:" if made else f"\n{also[6:]}.")
        for name in made[:40]:
            out.print(f"  {plain(name)}")
        if len(made) > 40:
            out.print(f"  … and {len(made) - 40} more")
        out.print("See them with --diff, --output or --file PATH.", "dim")


def find(store: Store, name: str) -> tuple[StoredRun, StoredCell]:
    """The one run that a key's beginning, or AGENT/EVAL/EPISODE, stands for."""
    cells = {cell.id: cell for cell in store.cells()}
    words = name.split("/")
    if len(words) == 3 and re.fullmatch("[0-9]{1,9}", words[2]):
        named = [cell.id for cell in cells.values() if (cell.agent, cell.eval) == (words[0], words[1])]
        found = [run for run in store.runs(named) if run.episode == int(words[2])]
        runs = list({cells[run.cell].contestant: run for run in found}.values())
    else:
        runs = store.runs_starting_with(name, 3)
    if not runs or not name:
        raise UserError(f"There is no run '{name}' in the store. See: orvl report --by run --json")
    if len(runs) > 1:
        keys = ", ".join(f"{run.key[:12]} ({cells[run.cell].model} {cells[run.cell].provider})" for run in runs)
        raise UserError(f"'{name}' stands for several runs; give the key of one: {keys}.")
    return runs[0], cells[runs[0].cell]

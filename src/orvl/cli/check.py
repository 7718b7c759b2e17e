"""`orvl check`: the gate of evals."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, open_to_read, open_to_write, open_with_keys_hidden, where
from orvl.cli.common import store_exists as there_is_a_store
from orvl.cli.complete import word as complete
from orvl.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.project import Project
    from orvl.report.terminal import Terminal
    from orvl.trust.vetting.gate import Effort, EvalResult, EvalTest
    from orvl.trust.vetting.vet import Vetted
    from orvl.types import Eval

MINUTES = 10.0


@click.command()
@click.argument("evals", nargs=-1, metavar="EVAL...", shell_complete=complete)
@click.option("--quick", is_flag=True, help="Less than a minute: no mutants, repeats and seeds, a few cheats.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    default=MINUTES,
    show_default=True,
    metavar="N",
    help="Where checks take long, make as many repeats as fit into this time.",
)
@click.option(
    "--test",
    "numbers",
    type=click.IntRange(1, 17),
    multiple=True,
    metavar="N",
    help="Only the tests with these numbers.",
)
@click.option("--write", is_flag=True, help="For evals that come with orvl: keep the result in the package.")
@as_json
@where
def command(
    evals: tuple[str, ...],
    quick: bool,
    minutes: float,
    numbers: tuple[int, ...],
    write: bool,
    json_: bool,
    **given: Any,
) -> int:
    """Take evals through the gate: seventeen tests that their checks tell good work from bad, and from cheating.

    Controls, bugs, mutants and cheats are laid down and checked as runs are, in a store of their own. The exit status
    is 0 when all tests hold, 1 when one does not.
    """
    if not evals:
        raise UserError("Name the evals to check, such as: orvl check hello-world. See: orvl list evals")
    out = JsonOut() if json_ else None
    project = open_with_keys_hidden(given["project"])
    chosen = _chosen(project, evals)
    if write and (other := next((one for one in chosen if one.origin != "built-in"), None)):
        raise UserError(f"--write is for evals that come with orvl; that of {other.name} is kept anyway, in the store.")
    is_whole = not (quick or numbers)
    if write and not is_whole:
        raise UserError("--write needs all tests: leave --quick and --test out.")
    from orvl.report.vetting import as_json as vetted_json
    from orvl.report.vetting import print_table
    from orvl.trust.vetting.gate import Effort
    from orvl.trust.vetting.vet import gate_tests

    terminal = console()
    effort = Effort(minutes, quick, frozenset(numbers))
    vetted = []
    for eval_ in chosen:
        vetted.append(_vet(project, eval_, given["store"], effort, None if out else terminal))
        if is_whole:
            _keep(project, given["store"], vetted[-1], write=write)
    if out:
        out.write(vetted_json(gate_tests(), vetted))
    else:
        print_table(terminal, gate_tests(), vetted)
    return int(not all(one.holds for one in vetted))


def _chosen(project: Project, words: Sequence[str]) -> list[Eval]:
    from orvl.plan.selection import Selection, chosen_evals

    return chosen_evals(project, Selection(eval=",".join(words)))


def _vet(project: Project, eval_: Eval, store: str | None, effort: Effort, terminal: Terminal | None) -> Vetted:
    from orvl.engine.steady_loop import run
    from orvl.report.vetting import print_result
    from orvl.trust.vetting.vet import vet

    say = _progress(eval_)

    def on_result(test: EvalTest, result: EvalResult) -> None:
        say("")
        if terminal:
            print_result(terminal, test, result)

    if terminal:
        terminal.print(eval_.name, "bold")
    there = there_is_a_store(project, store)
    with open_to_read(project, store) if there else nullcontext() as opened:
        return run(vet(project, eval_, opened, effort, on_result, say))


def _progress(eval_: Eval) -> Callable[[str], None]:
    """What is being done, on standard error: in one line of a terminal; elsewhere a line when a test begins."""
    is_terminal = sys.stderr.isatty()

    def say(what: str) -> None:
        if is_terminal:
            sys.stderr.write(f"\r\x1b[K{eval_.name}: {what}" if what else "\r\x1b[K")
        elif what.endswith("…"):
            sys.stderr.write(f"{eval_.name}: {what}\n")
        sys.stderr.flush()

    return say


def _keep(project: Project, flag: str | None, vetted: Vetted, *, write: bool) -> None:
    """In the store, and where that was asked for in the package: as soon as an eval is through, for many take hours."""
    from orvl.trust.vetted import KIND, package

    record = vetted.record()
    with open_to_write(project, flag) as store:
        store.transaction([lambda inside: inside.add_trust(KIND, record)])
    if write:
        package(record)

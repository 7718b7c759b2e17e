"""The gate of evals as text: a line for each test, and a table at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import TextCell, TextColumn, TextTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orvl.report.terminal import Terminal
    from orvl.trust.vetting.gate import GateResult, GateTest, State
    from orvl.trust.vetting.vet import Vetted

SHOWN: Mapping[State, tuple[str, str]] = {
    "passed": ("passed", "green"),
    "failed": ("FAILED", "bold red"),
    "not applicable": ("not applicable", "dim"),
    "skipped": ("skipped", "dim"),
}
MOST_TODO = 12


def print_result(terminal: Terminal, test: GateTest, result: GateResult) -> None:
    """One line, and below it what to do."""
    terminal.print_marked(f"{test.number:>2}  {SHOWN[result.state][0]:<14}  ", f"{test.name}: {result.sentence}")
    for sentence in result.todo[:MOST_TODO]:
        terminal.print_marked("      - ", sentence)
    if len(result.todo) > MOST_TODO:
        terminal.print_marked("      - ", f"and {len(result.todo) - MOST_TODO} more, see --json")


def print_table(terminal: Terminal, tests: Sequence[GateTest], vetted: Sequence[Vetted]) -> None:
    columns = [TextColumn(""), TextColumn("test", words=True, key=True)]
    columns += [TextColumn(one.eval.name, words=True) for one in vetted]
    rows: list[list[str | TextCell]] = [
        [str(test.number), test.name, *(TextCell(*SHOWN[one.results[test.number].state]) for one in vetted)]
        for test in tests
    ]
    terminal.print(TextTable(columns, rows))
    for sentence in summary(vetted):
        terminal.print(sentence)


def summary(vetted: Sequence[Vetted]) -> Iterator[str]:
    for one in vetted:
        broken = [str(number) for number, result in one.results.items() if result.state == "failed"]
        took = f"{one.seconds:.0f} s"
        if broken:
            yield f"{one.eval.name}: {count(len(broken), 'test')} failed ({', '.join(broken)}), {took}."
        elif one.is_vetted:
            yield f"{one.eval.name} has passed the gate, {took}."
        else:
            yield f"{one.eval.name}: nothing failed, {took}. Only the whole gate is kept: without --quick and --test."


def as_json(tests: Sequence[GateTest], vetted: Sequence[Vetted]) -> dict[str, Any]:
    return {
        "schema": 1,
        "evals": [
            {
                "eval": one.eval.name,
                "vetted": one.is_vetted if one.effort.is_whole else None,
                "holds": one.holds,
                "whole": one.effort.is_whole,
                "seconds": round(one.seconds, 1),
                "tests": [
                    {
                        "number": test.number,
                        "name": test.name,
                        "state": one.results[test.number].state,
                        "sentence": one.results[test.number].sentence,
                        "todo": list(one.results[test.number].todo),
                        "figures": dict(one.results[test.number].figures),
                    }
                    for test in tests
                ],
            }
            for one in vetted
        ],
    }


def gate_sentence(vetted: Mapping[str, bool | None], most: int = 4) -> str:
    """Which evals of a ranking have not passed the gate; empty without any."""
    if not vetted:
        return ""
    others = sorted(name for name, state in vetted.items() if not state)
    if not others:
        return f"{'All' if len(vetted) > 1 else 'The'} {count(len(vetted), 'eval')} of this ranking passed the gate."
    more = f" and {len(others) - most} more" if len(others) > most else ""
    return (
        f"{len(others)} of {count(len(vetted), 'eval')} of this ranking did not pass the gate: "
        f"{', '.join(others[:most])}{more}. See: orvl check {' '.join(others[:most])}"
    )

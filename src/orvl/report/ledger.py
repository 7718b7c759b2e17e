"""A rating explained as text: weights × scores = R, and where points were lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.plan.weights import FROM
from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.rate.ledger import Ledger, Line
    from orvl.report.terminal import Terminal

HEADINGS = ("metric", "weight", "× score", "= points", "lost", "by")


def print_ledger(terminal: Terminal, ledger: Ledger) -> None:
    """The metrics that count, the largest loss first; then the sums, what is missing and the penalty."""
    counted = [line for line in ledger.lines if line.weight]
    rows: list[list[str | TextCell]] = [
        [
            plain(line.metric),
            f"{line.share:.3f}",
            "–" if line.score is None else f"{line.score:.3f}",
            f"{line.points:.3f}",
            f"{line.lost:.3f}",
            plain(_by(line, ledger.imported)),
        ]
        for line in counted
    ]
    total = [TextCell(text, "bold") for text in ("R", f"{sum(line.share for line in counted):.3f}", "")]
    rows.append([*total, TextCell(f"{ledger.R:.3f}", "bold"), f"{1 - ledger.R:.3f}", ""])
    terminal.print(TextTable([TextColumn(name, words=place in (0, 5)) for place, name in enumerate(HEADINGS)], rows))
    for sentence in _sentences(ledger):
        terminal.print(plain(sentence), "dim")


def print_evals(terminal: Terminal, ledgers: Mapping[str, Ledger], R: float) -> None:
    """How a row's R is the mean over evals, the largest loss first."""
    number = len(ledgers)
    ordered = sorted(ledgers.items(), key=lambda pair: pair[1].R)
    rows: list[list[str | TextCell]] = [
        [plain(name), f"{one.R:.3f}", f"{one.R / number:.3f}", f"{(1 - one.R) / number:.3f}", plain(_most_lost(one))]
        for name, one in ordered
    ]
    rows.append([TextCell("R", "bold"), "", TextCell(f"{R:.3f}", "bold"), f"{1 - R:.3f}", ""])
    headings = ("eval", "R", f"÷ {number} = points", "lost", "most of it by")
    terminal.print(TextTable([TextColumn(name, words=place in (0, 4)) for place, name in enumerate(headings)], rows))


def _by(line: Line, imported: str | None) -> str:
    if not line.judges:
        earned = f": {line.product}" if line.product else ""
        return f"imported from {imported}" if imported else f"program{earned}"
    said = (f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in line.judges.items())
    return ", ".join(said)


def _most_lost(ledger: Ledger) -> str:
    lost = [line for line in ledger.lines if line.lost > 0.0005][:2]
    return ", ".join(f"{line.metric} {line.lost:.3f}" for line in lost) or "nothing was lost"


def _sentences(ledger: Ledger) -> Iterator[str]:
    if ledger.unrated:
        weights = {line.metric: line.weight for line in ledger.lines}
        names = ", ".join(f"{name} (weight {weights[name]:.3f})" for name in ledger.unrated)
        yield f"Not rated: {names}; the weights of the others are scaled up, so that they add up to 1."
    if ledger.weights_from:
        yield f"Weights: {FROM[ledger.weights_from]}."
    if ledger.earned:
        yield ledger.earned
    charge = sum(line.charge for line in ledger.lines)
    yield (
        f"R_pen {ledger.R_pen:.3f} = R minus {ledger.penalty:g} × {charge:.4f}, the weighted variance of the judges' "
        "scores."
    )
    if zero := [line.metric for line in ledger.lines if not line.weight]:
        yield f"Scored, but without a weight: {', '.join(zero)}."

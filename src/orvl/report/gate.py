"""How ratings stand to what was asked of them, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.rate.stats.race import ALPHA
from orvl.report.comparison import difference, over, paired_json, what_would_settle
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.rate.baseline import AgainstBaseline
    from orvl.rate.board import Row
    from orvl.rate.gate import Gate, GateState, HeldRow
    from orvl.report.terminal import Terminal

MOST_NAMED = 5
STYLES: dict[GateState, str] = {"passed": "green", "failed": "bold red", "undecided": "bold yellow"}


def print_gate(terminal: Terminal, gate: Gate) -> None:
    for state, sentence in gate_sentences(gate):
        terminal.print(plain(sentence), STYLES[state])


def gate_sentences(gate: Gate) -> Iterator[tuple[GateState, str]]:
    """The verdict, then what makes it so."""
    if not gate.is_asked:
        return
    yield gate.state, headline(gate)
    for held in gate.rows:
        if held.state != "passed":
            yield held.state, held_sentence(held, gate.fail_under or 0.0)
    for one in gate.against:
        for sentence in against_sentences(one):
            yield against_state(one), sentence
    if gate.gone:
        names = few([" ".join(filter(None, names)) for names in gate.gone])
        yield "passed", f"Only in the baseline, so not compared: {names}."


def headline(gate: Gate) -> str:
    asked = []
    if gate.fail_under is not None:
        below = sum(held.state == "failed" for held in gate.rows)
        asked.append(f"{below} of {count(len(gate.rows), 'row')} below {gate.fail_under:g}")
    if gate.baseline is not None:
        worse = sum(one.is_worse for one in gate.against)
        rows = count(len(gate.against), "contestant")
        asked.append(f"{worse} of {rows} worse than in {gate.baseline.name} beyond chance")
    word = {"passed": "PASSED", "failed": "FAILED", "undecided": "UNDECIDED"}[gate.state]
    empty = " There was nothing to look at, which is no pass." if gate.is_empty else ""
    return f"{word}: {', '.join(asked)}.{empty}"


def held_sentence(held: HeldRow, under: float) -> str:
    """Which row, by how much, and what of it has no rating."""
    name, row = row_name(held.row), held.row
    missing = f" Not rated: {few(held.unrated, '; ')}." if held.unrated else ""
    if held.distance is None or row.R is None:
        return f"{name} has no rating to hold against {under:g}.{missing}"
    if held.state == "failed":
        return f"{name}: R {row.R:.3f} is {-held.distance:.2g} below {under:g}.{missing}"
    return f"{name}: R {row.R:.3f} is not below {under:g}, but it is not of all that was asked for.{missing}"


def against_state(one: AgainstBaseline) -> GateState:
    if one.is_worse:
        return "failed"
    return "undecided" if one.unrated or one.verdict in ("CANNOT TELL", "NEW") else "passed"


def against_sentences(one: AgainstBaseline) -> Iterator[str]:
    """The verdict on a contestant, how sure it is, and what would be needed."""
    name = " ".join(filter(None, one.contestant))
    if one.is_new:
        yield f"{name}: NEW. The baseline does not have it."
        return
    if not one.evals:
        yield f"{name}: CANNOT TELL. It has no eval in common with the baseline."
    else:
        yield f"{name}: {one.verdict}. Now − baseline: {difference(one.whole)}, over {over(one.whole)}.{_sure(one)}"
    for names, why in (
        (one.unrated, "rated in the baseline, not fully rated now"),
        (one.changed, "not compared, because prompts, metrics, judges or weights have changed"),
        (one.incomplete_then, "not compared, because metrics are missing in the baseline"),
        (one.absent, "only in the baseline"),
    ):
        if names:
            yield f"{name}: {count(len(names), 'eval')} {why}: {few(names)}."


def _sure(one: AgainstBaseline) -> str:
    e_value = one.whole.e_value
    sure = "" if e_value is None else f" The e-value is {e_value:.3g} ({1 / ALPHA:g} are enough)."
    settled = one.verdict in ("BETTER", "WORSE", "EQUIVALENT")
    return sure if settled else f"{sure} {what_would_settle(one.whole, one.more)}"


def row_name(row: Row) -> str:
    """A row as a person calls it."""
    parts = [row.agent, row.model, row.provider, row.eval, f"#{row.episode}" if row.episode else None]
    return " ".join(filter(None, parts))


def few(names: Sequence[str], separator: str = ", ") -> str:
    left = len(names) - MOST_NAMED
    return separator.join(names[:MOST_NAMED]) + (f" and {left} more" if left > 0 else "")


def gate_json(gate: Gate) -> dict[str, Any]:
    """The key `gate` of a report, where something was asked of it."""
    if not gate.is_asked:
        return {}
    baseline = None if gate.baseline is None else {"name": gate.baseline.name, "rows": [*map(_against, gate.against)]}
    return {
        "gate": {
            "state": gate.state,
            "fail_under": gate.fail_under,
            "rows": [_held(held) for held in gate.rows],
            "baseline": baseline,
        }
    }


def _held(held: HeldRow) -> dict[str, Any]:
    row = held.row
    return {
        **_names(row.contestant),
        "eval": row.eval,
        "run": row.run,
        "R": row.R,
        "distance": held.distance,
        "state": held.state,
        "unrated": list(held.unrated),
    }


def _against(one: AgainstBaseline) -> dict[str, Any]:
    return {
        **_names(one.contestant),
        "verdict": one.verdict,
        "state": against_state(one),
        "difference": paired_json(one.whole),
        "more_evals": one.more,
        "evals": [{"eval": name, "now": now, "then": then} for name, now, then in one.evals],
        **{name: list(getattr(one, name)) for name in ("unrated", "changed", "incomplete_then", "absent")},
    }


def _names(contestant: tuple[str, str, str]) -> dict[str, str | None]:
    agent, model, provider = contestant
    return {"agent": agent, "provider": provider or None, "model": model or None}

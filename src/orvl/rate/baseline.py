"""Ratings of now against those of an earlier report, contestant by contestant, paired by eval."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from orvl.errors import UserError
from orvl.project.names import is_number
from orvl.rate.gather import families_of
from orvl.rate.stats.paired import more_evals, paired
from orvl.rate.stats.race import FEWEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.plan.layout import Panel
    from orvl.rate.board import Row
    from orvl.rate.stats.paired import Paired, Verdict

Contestant = tuple[str, str, str]
BaselineVerdict = Literal["BETTER", "WORSE", "EQUIVALENT", "NOT ENOUGH EVIDENCE", "CANNOT TELL", "NEW"]
SCHEMA = 1
MAKE = "Make one with: orvl report --json > FILE"


@dataclass(frozen=True)
class BaselineCell:
    """What an earlier report says of one cell."""

    R: float | None
    is_whole: bool
    """Whether every metric that counts was rated."""
    scoring: str | None


@dataclass(frozen=True)
class Baseline:
    """An earlier report: its ratings by contestant and eval."""

    name: str
    cells: Mapping[Contestant, Mapping[str, BaselineCell]]


@dataclass(frozen=True)
class AgainstBaseline:
    """A contestant now, less the same contestant then, over the evals on which both have a rating."""

    contestant: Contestant
    evals: tuple[tuple[str, float, float], ...]
    """Name, R now, R then."""
    whole: Paired
    more: int | None = None
    """How many more evals would settle it; None where it is settled, or cannot be told."""
    is_new: bool = False
    """Whether the earlier report does not have it."""
    unrated: tuple[str, ...] = ()
    """Evals that were rated then, and are here without a whole rating now."""
    changed: tuple[str, ...] = ()
    """Evals whose prompts, metrics, judges or weights are other ones now."""
    incomplete_then: tuple[str, ...] = ()
    """Evals that were rated then without some of their metrics."""
    absent: tuple[str, ...] = ()
    """Evals that this report does not have."""

    @property
    def verdict(self) -> BaselineVerdict:
        if self.is_new:
            return "NEW"
        if self.whole.families < FEWEST:
            return "CANNOT TELL"
        found: Verdict = self.whole.verdict()
        return found

    @property
    def is_worse(self) -> bool:
        """Worse beyond chance: the one decision that all commands show."""
        return self.verdict == "WORSE"


def against_baseline(
    rows: Iterable[Row], cells: Iterable[Row], baseline: Baseline, panels: Mapping[str, Panel]
) -> tuple[AgainstBaseline, ...]:
    """Each of these contestants against itself; `cells` are all ratings by eval."""
    by_contestant: dict[Contestant, dict[str, Row]] = {row.contestant: {} for row in rows}
    for cell in cells:
        if cell.contestant in by_contestant and cell.eval:
            by_contestant[cell.contestant][cell.eval] = cell
    return tuple(_against(names, now, baseline, panels) for names, now in by_contestant.items())


def _against(
    contestant: Contestant, now: Mapping[str, Row], baseline: Baseline, panels: Mapping[str, Panel]
) -> AgainstBaseline:
    if contestant not in baseline.cells:
        return AgainstBaseline(contestant, (), paired([]), is_new=True)
    rated = {name: cell for name, cell in baseline.cells[contestant].items() if cell.R is not None}
    sorted_out = {name: _why_not(now.get(name), cell) for name, cell in sorted(rated.items())}
    common = [name for name, why in sorted_out.items() if not why]
    evals = tuple((name, float(now[name].R or 0.0), float(rated[name].R or 0.0)) for name in common)
    families = families_of(panels, common)
    whole = paired([one[1] for one in evals], [one[2] for one in evals], families=families)

    def those(reason: str) -> tuple[str, ...]:
        return tuple(name for name, why in sorted_out.items() if why == reason)

    return AgainstBaseline(
        contestant,
        evals,
        whole,
        _more(whole, [one[1] - one[2] for one in evals], families),
        unrated=those("unrated"),
        changed=those("changed"),
        incomplete_then=those("incomplete then"),
        absent=those("absent"),
    )


def _why_not(now: Row | None, then: BaselineCell) -> str:
    """Why the two ratings are no pair; empty if they are one."""
    if now is None:
        return "absent"
    if then.scoring and now.scoring and then.scoring != now.scoring:
        return "changed"
    if now.R is None or now.missing:
        return "unrated"
    return "" if then.is_whole else "incomplete then"


def _more(whole: Paired, differences: Sequence[float], families: Sequence[str] | None) -> int | None:
    """At least one more: those that there are did not settle it."""
    if whole.significant or not differences:
        return None
    more = more_evals(differences, families=families)
    return None if more is None else max(1, more)


def read_baseline(name: str, data: bytes) -> Baseline:
    """An earlier report from its JSON; whatever is wrong with it is a sentence."""
    try:
        report = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} is not a JSON report: {error}. {MAKE}") from None
    rows = _rows(name, report)
    cells: dict[Contestant, dict[str, BaselineCell]] = {}
    for number, row in enumerate(rows, 1):
        contestant, eval_, cell = _cell(f"{name}, row {number} by eval", row)
        of_contestant = cells.setdefault(contestant, {})
        if eval_ in of_contestant:
            raise UserError(f"{name} has two ratings of {' '.join(contestant)} on {eval_}. {MAKE}")
        of_contestant[eval_] = cell
    return Baseline(name, cells)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _rows(name: str, report: Any) -> list[Any]:
    """The rows by eval of a report by agent, of one by eval, or of a run."""
    if not isinstance(report, dict) or not isinstance(report.get("ratings"), list):
        raise UserError(f"{name} is not an orvl report: it has no ratings. {MAKE}")
    if report.get("schema") != SCHEMA:
        raise UserError(f"{name} has the schema {report.get('schema')!r}; this orvl reads {SCHEMA}. {MAKE}")
    if isinstance(report.get("cells"), list):
        return list(report["cells"])
    rows = [row for row in report["ratings"] if isinstance(row, dict) and row.get("eval") and not row.get("run")]
    if not rows:
        raise UserError(f"{name} has no ratings by eval. {MAKE}")
    return rows


def _cell(place: str, row: Any) -> tuple[Contestant, str, BaselineCell]:
    row = row if isinstance(row, dict) else {}
    names = [row.get(part) or "" for part in ("agent", "model", "provider", "eval")]
    if not all(isinstance(part, str) for part in names) or not names[0] or not names[3]:
        raise UserError(f"{place}: it does not name an agent and an eval. {MAKE}")
    R = row.get("R")
    if R is not None and not (is_number(R) and 0 <= R <= 1):
        raise UserError(f"{place}: R is {R!r}; it must be from 0 to 1, or null. {MAKE}")
    scoring = row.get("scoring")
    agent, model, provider, eval_ = names
    cell = BaselineCell(R, not row.get("missing"), scoring if isinstance(scoring, str) else None)
    return (agent, model, provider), eval_, cell

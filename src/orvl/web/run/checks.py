"""What programs checked, and what they printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.capture.turn_scores import turn_scores
from orvl.project.names import count
from orvl.report.run import ISOLATION
from orvl.report.text import seconds
from orvl.web.html import tag
from orvl.web.show import Heading, fitting, folded, long_text, sentences, short, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.turn_scores import TurnScore
    from orvl.types import CheckResult
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow


def part(run: RunAsked) -> Child:
    """Of what was there at the end; and by turn, where checks are due in several."""
    every = run.last.attempt.checks or ()
    checks = [check for check in every if not check.turn]
    if not checks:
        return None
    headings = [Heading("check", words=True), *map(Heading, ("result", "time", "weight")), Heading("where", words=True)]
    rows: list[TableRow] = [(None, _row(run, number, check)) for number, check in enumerate(checks, 1)]
    printed = [check for check in checks if check.output.strip()]
    texts = (
        folded(f"What {short(check.name)} printed", long_text(check.output, most=run.share(printed)))
        for check in printed
    )
    shown, more = fitting(texts, run.most)
    rest = tag("p", f"{count(more, 'more text')}: orvl show {run.details.key[:12]} --json") if more else None
    by_turn = _by_turn(every) if len(checks) < len(every) else None
    return [table("Checks", headings, rows), by_turn, shown, rest]


def _by_turn(every: Sequence[CheckResult]) -> Child:
    """Checks × turns, and what each turn achieved, kept and broke."""
    scores = turn_scores(every)
    results = {(check.name, check.turn): check for check in every}
    headings = [Heading("check", words=True), *(Heading(_moment(one)) for one in scores)]
    rows: list[TableRow] = [
        (None, [short(name), *(_result(results.get((name, one.turn))) for one in scores)])
        for name in dict.fromkeys(check.name for check in every)
    ]
    rows.append((None, ["new in this turn", *(_share(one.new) for one in scores)]))
    rows.append((None, ["held", *(_share(one.held) for one in scores)]))
    broke = [f"{_moment(one)}: broke {', '.join(map(short, one.broke))}." for one in scores if one.broke]
    return [table("Checks by turn", headings, rows), sentences(broke, "bad"), sentences(["–: not due then."])]


def _moment(one: TurnScore) -> str:
    return f"after turn {one.turn}" if one.turn else "at the end"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _result(check: CheckResult | None) -> Child:
    if check is None:
        return "–"
    text = ("passed" if check.passed else "failed") if check.share is None else f"{check.share:.2f}"
    return tag("span", text, class_="good" if check.passed else "bad")


def _row(run: RunAsked, number: int, check: CheckResult) -> list[Child]:
    return [
        tag("span", short(check.name), id_=run.anchor(f"check-{number}")),
        _result(check),
        seconds(check.seconds),
        f"{check.weight:g}",
        ISOLATION[check.isolation] + (f" ({check.cut})" if check.cut else ""),
    ]

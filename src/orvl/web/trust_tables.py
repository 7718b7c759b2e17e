"""What is known about judges, as tables: controls, agreement, people, alarms."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import TextColumn, TextTable
from orvl.trust.control_agents import PREFIX
from orvl.web.draw import dots
from orvl.web.html import tag
from orvl.web.show import Heading, folded, heat, link, missing, sentences, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.rate.collect import Board
    from orvl.trust.section import Trust
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableCell, TableRow

MOST_ALARMS = 20
UNKNOWN = "–"


def controls_part(asked: PageRequest, content: Mapping[str, Any] | None) -> Child:
    """Controls down, judges across: a dot an eval, and the mean; then each control on each eval, with its run."""
    scores: Mapping[str, Mapping[str, Mapping[str, float]]] = (content or {}).get("scores", {})
    if not scores:
        return None
    controls = list(dict.fromkeys(control for by_control in scores.values() for control in by_control))
    controls.sort(key=lambda name: -_mean([value for one in scores.values() for value in one.get(name, {}).values()]))
    headings = [Heading("control", words=True), *(Heading(part) for judge in scores for part in (judge, "mean"))]
    rows: list[TableRow] = [(None, [name, *(cell for one in scores.values() for cell in _by_judge(one.get(name, {})))])
                            for name in controls]  # fmt: skip
    legend = "0 to 1: a dot is a control on an eval. Good work must be to the right of broken work, by each judge."
    return [
        tag("h2", "Controls by judges"),
        table("Scores of controls by judges", headings, rows),
        sentences([legend]),
        folded("Each control on each eval, with its run", _by_eval(asked, scores, controls)),
    ]


def _mean(values: list[float]) -> float:
    return fsum(values) / len(values) if values else 0.0


def _by_judge(by_eval: Mapping[str, float]) -> list[Child]:
    values = list(by_eval.values())
    return [dots(values), f"{_mean(values):.2f}"] if values else [None, UNKNOWN]


def _by_eval(asked: PageRequest, scores: Mapping[str, Mapping[str, Mapping[str, float]]], controls: list[str]) -> Child:
    """The mean over judges; each leads to the newest run of the control."""
    evals = sorted({name for one in scores.values() for by_eval in one.values() for name in by_eval})
    runs = _control_runs(asked)

    def cell(control: str, eval_: str) -> TableCell:
        values = [one[control][eval_] for one in scores.values() if eval_ in one.get(control, {})]
        key = runs.get((control, eval_))
        if not values:
            return missing(f"{UNKNOWN} not tested")
        return heat(_mean(values), link(f"{_mean(values):.2f}", asked.links.run(key) if key else None))

    headings = [Heading("eval", words=True), *map(Heading, controls)]
    rows: list[TableRow] = [
        (None, [link(name, asked.links.eval(name)), *(cell(one, name) for one in controls)]) for name in evals
    ]
    return table("Scores of controls by eval", headings, rows)


def _control_runs(asked: PageRequest) -> dict[tuple[str, str], str]:
    """The newest run of each control on each eval."""
    cells = {cell.id: cell for cell in asked.store.cells() if cell.agent.startswith(PREFIX)}
    found = asked.store.runs(list(cells)) if cells else []
    return {(cells[run.cell].agent.removeprefix(PREFIX), cells[run.cell].eval): run.key for run in found}


def agreement_table(beside: Trust | None) -> TextTable | None:
    if beside is None or not beside.agreement:
        return None
    headings = ("runs", "judges", "worth at most", "apart", "ICC(2,k)", "ICC(3,1)", "alpha", "flagged")
    rows = [
        [
            name or "all judged metrics",
            str(one.runs),
            str(one.judges),
            *map(
                _number, (one.effective_judges, one.mean_absolute_difference, one.icc.icc2_k, one.icc.icc3_1, one.alpha)
            ),
            "yes" if one.flagged else "no",
        ]
        for name, one in beside.agreement.items()
    ]
    return TextTable([TextColumn("metric", words=True), *map(TextColumn, headings)], rows)


def people_table(beside: Trust | None) -> TextTable | None:
    people = beside.people if beside else None
    if people is None or not people.judges:
        return None
    headings = ("runs", "judge − people", "apart", "correlation", "same side of 0.5")
    rows = [
        [
            f"{metric}: {one.judge}",
            str(one.runs),
            *map(_number, (one.difference, one.absolute_difference, one.correlation, one.same_side)),
        ]
        for metric, one in people.judges
    ]
    return TextTable([TextColumn("metric: judge", words=True), *map(TextColumn, headings)], rows)


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def text_part(title: str, made: TextTable | None) -> Child:
    if made is None:
        return None
    headings = [Heading(column.heading, column.words) for column in made.columns]
    return [tag("h2", title), table(title, headings, [(None, [str(cell) for cell in row or ()]) for row in made.rows])]


def alarms(asked: PageRequest, board: Board) -> Child:
    """Runs on which words in the work moved a judge, the newest first."""
    attempts = board.gathered.attempts()
    raised = [score for score in asked.store.alarmed() if score.attempt in attempts]
    if not raised:
        return None
    newest = sorted(raised, key=lambda score: -score.attempt)[:MOST_ALARMS]
    keys = {run.attempt: run.key for run in asked.store.results_of([one.attempt for one in newest])}
    rows: list[TableRow] = [
        (None, [link(keys[one.attempt][:12], asked.links.run(keys[one.attempt])), one.metric, one.judge])
        for one in newest
    ]
    said = f"{count(len(raised), 'verdict')}: the score without these words counts."
    headings = [Heading("run", words=True), Heading("metric"), Heading("judge")]
    return [tag("h2", "Injection alarms"), tag("p", said), table("Injection alarms", headings, rows)]

"""What the ladder does not have: answers that judges did not give, and controls that could not be laid down."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from orvl.plan.layout import layout_of
from orvl.store.score_matrix import places

if TYPE_CHECKING:
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.trust.measure import Measured


def silences(ladder: Ladder, store: Store, measured: Measured) -> dict[str, dict[str, Any]]:
    """By judge: how many answers on the tested metrics were wanted, how many are not there, and the usual reason."""
    wanted = _wanted(ladder, measured)
    asked: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {judge: Counter() for judge in measured.judges}
    for answer in store.answers([attempt for attempt, _ in _attempts(ladder, store)]):
        if answer.judge in reasons and (answer.metric_key, answer.judge_key) in wanted:
            asked[answer.judge] += 1
            reasons[answer.judge].update([] if answer.is_scored else [answer.reason])
    return {
        judge: {"wanted": asked[judge], "missing": found.total(), "reason": found.most_common(1)[0][0]}
        for judge, found in reasons.items()
        if found
    }


def unanswered(store: Store) -> set[int]:
    """The attempts on which the last word of some judge was no answer."""
    return {score.attempt for score in store.unscored() if score.judge and score.kind in ("error", "abstained")}


def not_laid_down(ladder: Ladder, store: Store) -> dict[str, int]:
    """How many runs of controls failed, and how many there are none of."""
    outcomes = [outcome for _, outcome in _attempts(ladder, store)]
    return {"failed": outcomes.count("failed"), "missing": len(ladder.plan.runs) - len(outcomes)}


def _attempts(ladder: Ladder, store: Store) -> list[tuple[int, str]]:
    runs = store.carried_out(cell.key for cell in ladder.plan.cells)
    return [(run.attempt, run.outcome) for run in runs if run.episode in ladder.episodes]


def _wanted(ladder: Ladder, measured: Measured) -> set[tuple[str, str]]:
    """The places of the tested metrics in the layouts of all evals."""
    found: set[tuple[str, str]] = set()
    for panel in ladder.plan.panels.values():
        tested = [metric for metric in panel.metrics if metric.name in measured.metrics]
        found.update(places(layout_of(panel.eval, tested, panel.judges)))
    return found

"""What must be said beside ratings: runs without scores, silent judges, alarms, missing sandboxes, wrong models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orvl.plan.imported import weights_sentence
from orvl.plan.private import WITHHELD
from orvl.plan.weights import in_full
from orvl.project.names import count
from orvl.rate.board import over_evals
from orvl.store.score_matrix import places
from orvl.types import WEAKENED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.plan.layout import Panel
    from orvl.rate.board import Row
    from orvl.rate.gather import CellRef, Gathered
    from orvl.store import Store

NAMED = 4
"""Rows that a sentence names."""

MOST_ERRORED = 10
MOST_READ = 500
"""Of the newest runs, verdicts are read for what was told in them."""


def warnings_of(
    store: Store, gathered: Gathered, cells: Sequence[Row], told: Mapping[str, Mapping[str, float]]
) -> tuple[list[str], bool]:
    """Sentences, and whether a metric that counts is missing because of an error or an abstention."""
    shown = {ref.id for ref in gathered.refs}
    trouble, is_broken = _unscored_metrics(store, gathered, cells)
    warnings = [
        *_errored(cells),
        *_unscored_runs(gathered.unscored),
        *trouble,
        *_alarms(store, gathered),
        *_weakened(store, gathered),
        *_told(told),
        *_without_sandbox(sum(counts.bare for cell, counts in gathered.counted.items() if cell in shown)),
        *_mismatches(store, gathered),
        *_loaded(store, gathered, cells),
        *imported_sentences(gathered.refs, gathered.panels),
        *in_full(gathered.panels.values()),
    ]
    return warnings, is_broken


def imported_sentences(refs: Iterable[CellRef], panels: Mapping[str, Panel]) -> list[str]:
    """What was imported, by source: whose it is, and how its metrics are weighed."""
    sources: dict[str, list[CellRef]] = {}
    for ref in refs:
        if ref.imported:
            sources.setdefault(ref.imported, []).append(ref)
    sentences = []
    for source, some in sorted(sources.items()):
        agents = sorted({ref.names[0] for ref in some})
        more = f" and {len(agents) - NAMED} more" if len(agents) > NAMED else ""
        used = [panels[name] for name in dict.fromkeys(ref.panel for ref in some)]
        weights = {m.name: w for one in used for m, w in zip(one.metrics, one.weights, strict=True)}
        sentences.append(
            f"{', '.join(agents[:NAMED])}{more}: imported from {source}, neither run nor scored by orvl. "
            f"{weights_sentence(weights)}"
        )
    return sentences


def _errored(cells: Sequence[Row]) -> list[str]:
    """A sentence for each contestant with errored runs: how many, and the most frequent reason."""
    rows = [row for row in over_evals([cell for cell in cells if cell.errored]) if row.errored and row.reason]
    sentences = [
        f"{' '.join(filter(None, row.contestant))}: {count(row.errored, 'run')} errored: "
        f"{_most_frequent(row).rstrip('.')}."
        for row in rows
    ]
    more = len(sentences) - MOST_ERRORED
    return sentences[:MOST_ERRORED] + ([f"There are errored runs of {more} more; see --json."] if more > 0 else [])


def _most_frequent(row: Row) -> str:
    reason, number = max(row.errors.items(), key=lambda pair: pair[1])
    return reason if number == row.errored else f"{number} times {reason}"


def _unscored_runs(number: int) -> list[str]:
    if not number:
        return []
    verb = "lacks" if number == 1 else "lack"
    return [f"{count(number, 'run')} {verb} scores of the current metrics and judges. Make them with: orvl score"]


def _unscored_metrics(store: Store, gathered: Gathered, cells: Sequence[Row]) -> tuple[list[str], bool]:
    """What could not be scored, one sentence per metric and reason; by the newest samples."""
    metrics = [(name, metric) for row in cells for name, metric in row.metrics.items()]
    if not any(metric.unrated or metric.abstained for _, metric in metrics):
        return [], False
    missing = {name for row in cells for name in row.missing}
    wanted, attempts = _wanted(gathered), gathered.attempts()
    weighs = {name for name, metric in metrics if metric.weight}
    scores = [
        score
        for score in store.unscored()
        if score.attempt in attempts
        and (score.metric_key, score.judge_key) in wanted
        and (score.metric in weighs or score.kind == "error")
    ]
    is_broken = any(score.kind in ("error", "abstained") and score.metric in missing for score in scores)
    private = gathered.attempts(gathered.private)
    tally = Counter(
        (score.metric, score.judge, score.kind, WITHHELD if score.attempt in private else score.reason or "")
        for score in scores
    )
    sentences = [_sentence(*reason, number) for reason, number in tally.items()]
    for name in sorted(missing & {name for name, metric in metrics if metric.judges}):
        runs = sum(metric.unrated for other, metric in metrics if other == name)
        sentences.append(f"{name}: not rated on {count(runs, 'run')}: fewer judges answered than the quorum asks for.")
    return sentences, is_broken


def _wanted(gathered: Gathered) -> set[tuple[str, str]]:
    """The (metric, judge) keys that rate now."""
    return {place for scoring in gathered.scorings.values() for place in places(scoring.layout)}


def _sentence(metric: str, judge: str, kind: str, reason: str, number: int) -> str:
    runs, reason = count(number, "run"), reason if kind == "error" else reason.rstrip(".")
    if kind == "abstained":
        return f"{metric}: the judge {judge} abstained on {runs}: {reason}."
    if judge and kind == "error":
        return f"{metric}: the judge {judge} failed on {runs}: {reason}"
    if judge:
        return f"{metric}: the judge {judge} gave no score on {runs}: {reason}."
    if kind == "error":
        return f"{metric}: not rated on {runs}: {reason}"
    return f"{metric}: not rated on {runs}: {reason}."


def _alarms(store: Store, gathered: Gathered) -> list[str]:
    """A sentence for each judge and metric whose newest verdict raised the injection alarm."""
    scores = store.alarmed()
    if not scores:
        return []
    wanted, attempts = _wanted(gathered), gathered.attempts()
    tally = Counter(
        (score.metric, score.judge)
        for score in scores
        if score.attempt in attempts and (score.metric_key, score.judge_key) in wanted
    )
    return [
        f"Injection alarm: {metric}: on {count(number, 'run')} the judge {judge} was moved by words in the work; the "
        "score without them counts. See: orvl show RUN"
        for (metric, judge), number in sorted(tally.items())
    ]


def _weakened(store: Store, gathered: Gathered) -> list[str]:
    """How many runs turned their project's linters off, by edits of configurations or by comments over whole files."""
    attempts = store.inspected(WEAKENED)
    number = len(gathered.attempts().intersection(attempts)) if attempts else 0
    if not number:
        return []
    return [
        f"adherence: {count(number, 'run')} weakened the configuration of the project's linters, which hid findings; "
        "these count. See: orvl show RUN"
    ]


def told_shares(store: Store, gathered: Gathered) -> dict[str, dict[str, float]]:
    """By metric and judge, the share of the checklist's items that was told, by weight, over the newest runs."""
    wanted = {place for place in _wanted(gathered) if place[1]}
    if not wanted:
        return {}
    newest = sorted(gathered.attempts())[-MOST_READ:]
    shares: dict[str, dict[str, list[float]]] = {}
    for metric, metric_key, judge, judge_key, share in store.told(newest):
        if (metric_key, judge_key) in wanted and isinstance(share, int | float):
            shares.setdefault(metric, {}).setdefault(judge, []).append(share)
    return {
        metric: {judge: sum(told) / len(told) for judge, told in sorted(judges.items())}
        for metric, judges in sorted(shares.items())
    }


def _told(shares: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The same in words, where that is not all."""
    parts = []
    for metric, means in shares.items():
        if min(means.values()) < 1:
            each = ", ".join(f"{judge} {mean:.0%}" for judge, mean in sorted(means.items()))
            parts.append(f"{metric} {sum(means.values()) / len(means):.0%} ({each})")
    return (
        [f"Share of the items that the judges told: {'; '.join(parts)}. The others were cannot-tell."] if parts else []
    )


def _without_sandbox(number: int) -> list[str]:
    return [f"{count(number, 'run')} had no sandbox: the agent could read and write what you can."] if number else []


def _loaded(store: Store, gathered: Gathered, cells: Sequence[Row]) -> list[str]:
    """Rows whose speed counts, and was measured on a machine that had too much to do."""
    if not any("speed" in row.metrics for row in cells):
        return []
    runs = store.loaded(gathered.first, gathered.last)
    loaded = {ref.id: " ".join(ref.names[:3]) for ref in gathered.refs if ref.id is not None and ref.id in runs}
    if not loaded:
        return []
    names = sorted(set(loaded.values()))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    number = count(sum(runs[cell] for cell in loaded), "run")
    return [
        f"The machine was loaded during {number} of {', '.join(names[:NAMED])}{more}: their speed says less about the "
        "agent. Run fewer at once: --concurrency"
    ]


def _mismatches(store: Store, gathered: Gathered) -> list[str]:
    """Runs that another model answered, and runs that several hosts answered."""
    cells = {ref.id for ref in gathered.refs}
    runs = [run for run in store.mismatches(gathered.first, gathered.last) if run.cell in cells]
    sentences = []
    if models := sum(run.is_other_model for run in runs):
        sentences.append(
            f"In {count(models, 'run')} a different model answered than the one requested. See: orvl endpoints -v"
        )
    if hosts := sum(run.is_other_host for run in runs):
        sentences.append(f"{count(hosts, 'run')} had answers of several hosts behind one name. See: orvl endpoints -v")
    if asked := sum(cell in cells for cell in store.asked_for_others(gathered.first, gathered.last)):
        runs_of = count(asked, "run")
        sentences.append(f"In {runs_of} the agent called another model than its own. See: orvl show RUN --calls")
    return sentences

"""Two contestants on the same evals: who is better, how sure that is, and what it hangs on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.errors import UserError
from orvl.plan.identities import identities
from orvl.plan.selection import chosen_metrics, stored_matcher
from orvl.project.names import count
from orvl.rate.board import USAGE, add_usage, masked
from orvl.rate.collect import panels_of, rules_of
from orvl.rate.gather import CellRef, common_scoring, families_of, gather, spread
from orvl.rate.rating import rate
from orvl.rate.sides import paired_sides, side_of
from orvl.rate.stats.arrays import mean_known
from orvl.rate.stats.paired import WITHIN, more_evals, paired
from orvl.rate.stats.weights import weight_proof
from orvl.rate.warnings import imported_sentences
from orvl.store import ANY_EPISODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.plan.layout import Panel
    from orvl.plan.selection import Selection
    from orvl.project import Project
    from orvl.rate.board import Rules
    from orvl.rate.gather import Gathered, Scoring
    from orvl.rate.sides import Contestant
    from orvl.rate.stats.paired import Paired, Verdict
    from orvl.rate.stats.weights import WeightProof
    from orvl.store import Store, StoredCell

MOST_NAMED = 4
Pairs = list[tuple[list["Contestant"], list["Contestant"]]]


@dataclass(frozen=True)
class OneEval:
    """Both sides on one eval, episodes averaged."""

    name: str
    a: float
    b: float
    metrics: dict[str, tuple[float | None, float | None]]

    @property
    def difference(self) -> float:
        return self.a - self.b


@dataclass(frozen=True)
class Comparison:
    """A less B, paired by eval."""

    a: str
    b: str
    pairs: Pairs
    evals: list[OneEval]
    whole: Paired
    metrics: dict[str, Paired]
    weights: WeightProof | None
    usage: tuple[dict[str, Any], dict[str, Any]]
    runs: tuple[int, int]
    """Those that are rated."""
    carried_out: tuple[int, int]
    """Those that the usage is of."""
    more: int | None
    """How many more evals would settle it, were the difference as seen; None where it is settled, or cannot be told."""
    judges: list[str] = field(default_factory=list)
    metric_names: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    within: float = WITHIN
    """Two whose difference is shown to be smaller are equivalent."""

    @property
    def verdict(self) -> Verdict:
        return self.whole.verdict(self.within)


@dataclass
class _SideNumbers:
    """One side's scores on one eval."""

    R: float
    S: NDArray[np.float64]
    """Judges × metrics, averaged over its runs."""
    usage: Mapping[str, Any]
    runs: int
    carried_out: int
    missing: frozenset[str]
    """Metrics that count and that some of its rated runs lack."""


def compare(a: str, b: str, pairs: Pairs, gathered: tuple[Gathered, Gathered], rules: Rules) -> Comparison:
    """Compares what was gathered for either side; contestants that form a pair are averaged inside each eval."""
    common: dict[str, tuple[_SideNumbers, _SideNumbers]] = {}
    scorings: dict[str, Scoring] = {}
    for name in sorted({ref.names[3] for ref in gathered[0].refs} & {ref.names[3] for ref in gathered[1].refs}):
        scorings[name] = common_scoring(_scorings_on(name, gathered))
        sides = [_on_eval(name, pairs, gathered, rules, side, scorings[name]) for side in (0, 1)]
        if sides[0] is not None and sides[1] is not None:
            common[name] = sides[0], sides[1]
    if not common:
        raise UserError(f"There is no eval that both {a} and {b} have a rating on. See: orvl report --by eval")
    evals = [_one_eval(name, scorings[name], *both) for name, both in common.items()]
    families = families_of(gathered[0].panels, list(common))
    whole = paired([one.a for one in evals], [one.b for one in evals], families=families)
    metrics = {
        name: paired(*_by_metric(evals, name), families=families)
        for name in dict.fromkeys(n for e in evals for n in e.metrics)
    }
    apart = _rated_apart(common, gathered)
    judges, names, proof = _weight_proof([scorings[name] for name in common], common)
    return Comparison(
        a,
        b,
        pairs,
        evals,
        whole,
        metrics,
        None if apart else proof,
        (add_usage(one.usage for one, _ in common.values()), add_usage(other.usage for _, other in common.values())),
        (sum(one.runs for one, _ in common.values()), sum(other.runs for _, other in common.values())),
        (sum(one.carried_out for one, _ in common.values()), sum(other.carried_out for _, other in common.values())),
        _more(whole, [one.difference for one in evals], families),
        judges,
        names,
        [*_unscored(a, b, gathered), *_missing(a, b, common), *apart],
    )


def _scorings_on(eval_: str, gathered: tuple[Gathered, Gathered]) -> list[Scoring]:
    """How runs of an eval are rated on either side, one for each way."""
    panels = dict.fromkeys(ref.panel for side in gathered for ref in side.refs if ref.names[3] == eval_)
    known = {**gathered[0].scorings, **gathered[1].scorings}
    return [known[panel] for panel in panels]


def _rated_apart(common: Iterable[str], gathered: tuple[Gathered, Gathered]) -> list[str]:
    """Imported results have metrics of their own: no weights fit both, and that must be said."""
    names = [name for name in common if len(_scorings_on(name, gathered)) > 1]
    if not names:
        return []
    few = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
    return [f"On {few} the two are rated by different metrics or judges: R stands beside R as each has it."]


def _more(whole: Paired, differences: list[float], families: list[str] | None) -> int | None:
    """At least one more: those that there are did not settle it."""
    if whole.significant:
        return None
    more = more_evals(differences, families=families)
    return None if more is None else max(1, more)


def _unscored(a: str, b: str, gathered: tuple[Gathered, Gathered]) -> Iterator[str]:
    for word, side in zip((a, b), gathered, strict=True):
        if side.unscored:
            noun = count(side.unscored, "run")
            yield f"{noun} of {word} without scores of the present metrics and judges. Make them with: orvl score"


def _missing(a: str, b: str, common: dict[str, tuple[_SideNumbers, _SideNumbers]]) -> Iterator[str]:
    """A rating without a metric is no equal of one with it."""
    for side, word in enumerate((a, b)):
        names = sorted({name for both in common.values() for name in both[side].missing})
        if names:
            yield f"Some runs of {word} are rated without {', '.join(names)}: there R is of the other metrics alone."


def _on_eval(
    name: str, pairs: Pairs, gathered: tuple[Gathered, Gathered], rules: Rules, side: int, common: Scoring
) -> _SideNumbers | None:
    """A side's mean over the pairs of which both have a rating on this eval."""
    found = []
    for pair in pairs:
        both = [_cells(name, pair[i], gathered[i], rules, common) for i in (0, 1)]
        if both[0] and both[1]:
            found += both[side]
    if not found:
        return None
    return _SideNumbers(
        float(np.mean([one.R for one in found])),
        mean_known(np.stack([one.S for one in found]), axis=0),
        add_usage(one.usage for one in found),
        sum(one.runs for one in found),
        sum(one.carried_out for one in found),
        frozenset().union(*(one.missing for one in found)),
    )


def _cells(
    name: str, contestants: Sequence[Contestant], gathered: Gathered, rules: Rules, common: Scoring
) -> list[_SideNumbers]:
    found = []
    for ref in gathered.refs:
        if ref.names[3] != name or ref.names[:3] not in contestants or ref.id not in gathered.stacks:
            continue
        scoring = gathered.scorings[ref.panel]
        S = masked(scoring.scores([gathered.stacks[ref.id]]), rules.quorum)
        weights = scoring.judge_weights if any(scoring.judge_weights) else [1.0] * len(scoring.judge_weights)
        R = rate(S, weights, scoring.metric_weights, rules.penalty).R
        rated = ~np.isnan(R)
        if rated.any():
            counts = gathered.counted[ref.id]
            usage = counts.usage or dict.fromkeys((*USAGE, "cost_source", "is_bound"))
            means = spread(mean_known(S, axis=0), scoring, common)
            missing = _missing_metrics(S[rated], scoring)
            found.append(
                _SideNumbers(float(R[rated].mean()), means, usage, int(rated.sum()), counts.carried_out, missing)
            )
    return found


def _missing_metrics(S: NDArray[np.float64], scoring: Scoring) -> frozenset[str]:
    lacks = np.logical_or.reduce(np.isnan(S).all(axis=1), axis=0)
    names = [name for name, _ in scoring.layout.metrics]
    return frozenset(names[int(j)] for j in np.flatnonzero(lacks) if scoring.metric_weights[int(j)])


def _one_eval(name: str, scoring: Scoring, a: _SideNumbers, b: _SideNumbers) -> OneEval:
    weights = np.asarray(scoring.judge_weights if any(scoring.judge_weights) else [1.0] * len(scoring.judge_weights))
    rows = [_metric_means(one.S, weights) for one in (a, b)]
    metrics = {
        metric: (_known(rows[0][j]), _known(rows[1][j]))
        for j, (metric, _) in enumerate(scoring.layout.metrics)
        if scoring.metric_weights[j]
    }
    return OneEval(name, a.R, b.R, metrics)


def _metric_means(S: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.where(np.isnan(S), 0.0, weights[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((shares * np.nan_to_num(S)).sum(axis=0) / shares.sum(axis=0))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _by_metric(evals: Sequence[OneEval], metric: str) -> NDArray[np.float64]:
    """Two rows, one value an eval: A's and B's."""
    return np.array([one.metrics.get(metric, (None, None)) for one in evals], dtype=np.float64).T


def _weight_proof(
    scorings: Sequence[Scoring], common: dict[str, tuple[_SideNumbers, _SideNumbers]]
) -> tuple[list[str], list[str], WeightProof | None]:
    """Over the metrics that count on every eval: only those can be given other weights alike everywhere; and over the
    judges whose word counts."""
    w = np.asarray(scorings[0].judge_weights, dtype=float)
    w = w if w.any() else np.ones(len(w))
    judges = [name for (name, _), weight in zip(scorings[0].layout.judges, w, strict=True) if weight]
    counted = [{m for (m, _), v in zip(s.layout.metrics, s.metric_weights, strict=True) if v} for s in scorings]
    names = [metric for metric, _ in scorings[0].layout.metrics if all(metric in here for here in counted)]
    if not names:
        return judges, names, None
    tables = []
    for side in (0, 1):
        parts = []
        for scoring, both in zip(scorings, common.values(), strict=True):
            places = [metric for metric, _ in scoring.layout.metrics]
            parts.append(both[side].S[w > 0][:, [places.index(name) for name in names]])
        tables.append(mean_known(np.stack(parts), axis=0))
    v = np.mean([_weights_of(scoring, names) for scoring in scorings], axis=0)
    proof = weight_proof(tables[0], tables[1], v, w[w > 0])
    if not any(judges):
        # Without a judge one row stands for nobody, of whom there is nothing to say.
        proof = replace(proof, reasons=tuple(one for one in proof.reasons if "judge weights" not in one))
    return judges, names, proof


def _weights_of(scoring: Scoring, names: Sequence[str]) -> NDArray[np.float64]:
    """An eval's weights of these metrics, as shares of 1."""
    places = [metric for metric, _ in scoring.layout.metrics]
    weights = np.array([scoring.metric_weights[places.index(name)] for name in names], dtype=float)
    return np.asarray(weights / weights.sum())


# -- from the store


def compare_stored(
    project: Project, store: Store, a: str, b: str, selection: Selection, judges: Sequence[str]
) -> tuple[Comparison, Mapping[str, Panel]]:
    """Compares what a store holds of two agents, models, providers or contestants; with the panels that rated it."""
    if a == b:
        raise UserError(f"'{a}' is compared with itself; name two contestants.")
    stored = store.cells()
    keep = stored_matcher(project, selection, [cell.names for cell in stored])
    cells = [cell for cell in stored if cell.runs and keep(cell.names)]
    sides = [side_of(word, cells) for word in (a, b)]
    known = identities(project, stored)
    chosen = [side.chosen(cells, known.ids) for side in sides]
    _refuse_overlap(a, b, *chosen)
    contestants = [sorted({contestant for contestant, _ in side}) for side in chosen]
    pairs = paired_sides(sides[0], sides[1], contestants[0], contestants[1])
    every = sorted((cell for side in chosen for cell in side.values()), key=lambda cell: cell.eval)
    panels, warnings = panels_of(project, every, chosen_metrics(project, selection, stored), judges)
    gathered = [
        gather(
            store,
            [ref for ref in map(CellRef.of, side.values()) if ref.panel in panels],
            panels,
            1,
            ANY_EPISODE,
        )
        for side in chosen
    ]
    comparison = compare(a, b, pairs, (gathered[0], gathered[1]), rules_of(project))
    named = {contestant for side in contestants for contestant in side}
    changed = known.sentences(lambda names: keep(names) and names[:3] in named)
    told = imported_sentences([*gathered[0].refs, *gathered[1].refs], panels)
    warnings = [*warnings, *changed, *_unpaired(contestants, pairs), *comparison.warnings, *told]
    return replace(comparison, warnings=warnings), panels


def _refuse_overlap(a: str, b: str, ours: dict[Any, StoredCell], theirs: dict[Any, StoredCell]) -> None:
    both = {cell.id for cell in ours.values()} & {cell.id for cell in theirs.values()}
    if both:
        names = next(" ".join(cell.contestant) for cell in ours.values() if cell.id in both)
        raise UserError(f"'{a}' and '{b}' both stand for the same runs, of {names}; name two that differ.")


def _unpaired(contestants: Sequence[Sequence[Contestant]], pairs: Pairs) -> Iterator[str]:
    """Who fits a word, and has no counterpart on the other side."""
    for side, some in enumerate(contestants):
        others = [" ".join(one) for one in some if not any(one in pair[side] for pair in pairs)]
        if others:
            more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
            yield f"Skipped, no counterpart: {', '.join(others[:MOST_NAMED])}{more}."

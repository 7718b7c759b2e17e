"""What the remaining runs may cost: from what the same contestants and judges cost before; before the first run a guess
from prices; never $0 where money is spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.errors import OrvlError
from orvl.project.providers import provider_of
from orvl.project.user import asks_users
from orvl.types import OUTPUT_TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.prices import Price
    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Cell, Eval, Judge, PlannedRun

NEWEST = 200
"""How many earlier runs or answers tell what the next one may cost."""
USUAL_PAR = 100_000
"""Weighted tokens of a run, where neither the eval nor the metric `tokens` has a par."""
OUTPUT_SHARE = 0.1
"""Of an agent's tokens; most of what it sends is its conversation so far."""
TIMES_PAR = (0.3, 1.0, 5.0)
"""A run's tokens, low, likely and high, as multiples of par."""
JUDGE_TOKENS = ((2_000, 300), (12_000, 1_500))
"""Input and output of a score by a judge, low and likely; high is its evidence shown twice."""
USER_TOKENS = ((600, 30), (1_200, 60), (5_000, 600))
"""Input and output of a question to the model that answers for users, low, likely and high."""
CHARACTERS_OF_A_TOKEN = 3
LONG_ANSWER = 6_000
PAST = "from the costs of earlier runs and answers"


@dataclass(frozen=True)
class Cost:
    """Low, likely and high, in dollars; None where nothing is known."""

    low: float | None
    likely: float | None
    high: float | None
    source: str
    is_guess: bool = False
    """Whether a part of it is from prices and not from what was paid before."""

    def as_json(self) -> dict[str, float | str | bool | None]:
        known = {"low": self.low, "likely": self.likely, "high": self.high}
        return {**known, "guess": self.is_guess, "source": self.source}


def is_paid(project: Project, name: str) -> bool:
    """Whether runs at a provider may cost money: all but `none`, loopback addresses and those that are free."""
    if name == "none":
        return False
    own, provider = project.settings.providers.get(name), provider_of(project.settings, name)
    if provider is None:
        return not (own and own.free)
    return not provider.free and not provider.is_local


def may_cost(project: Project, name: str, model: str) -> bool:
    """Whether runs of a model may cost money: a paid provider's, and those on this machine that have a price."""
    provider = provider_of(project.settings, name)
    price = provider.price(model) if provider else None
    return is_paid(project, name) or (price is not None and max(price.input, price.output) > 0)


Range = tuple[float, float, float]
"""Dollars: low, likely, high."""


def cost_of(project: Project, plan: Plan, remaining: Remaining, store: Store | None) -> Cost:
    """What is left to do may cost: for each contestant and judge as its past says, else as its model's price does."""
    spending = _Spending(project, store)
    parts: list[Range] = []
    for run in remaining.to_run:
        if may_cost(project, run.cell.provider, run.cell.model_id):
            if (part := spending.of_run(run.cell)) is None:
                what = f"{run.cell.model_id} at {run.cell.provider}"
                return Cost(
                    None, None, None, f"unknown: no price of {what} is known, and no run of it has told its cost"
                )
            parts.append(part)
    for run in _with_users(project, remaining.to_run):
        if (part := spending.of_user(run.cell.eval)) is None:
            return Cost(None, None, None, "unknown: no price of the model of [user] is known")
        parts.append(part)
    for run in (*remaining.to_run, *remaining.to_score):
        panel = plan.panels[run.cell.eval.name]
        judged = sum(metric.judged for metric in panel.metrics)
        for judge in panel.judges:
            if judged and not judge.is_local and may_cost(project, judge.provider, judge.model):
                if (part := spending.of_score(judge)) is None:
                    what = f"{judge.model} at {judge.provider}"
                    why = f"unknown: no price of {what} is known, and no answer of the judge {judge.name} told its cost"
                    return Cost(None, None, None, why)
                parts += [part] * judged
    low, likely, high = (sum(part[place] for part in parts) for place in range(3))
    return Cost(low, likely, high, spending.source if parts else "nothing here costs money", spending.guesses)


def _with_users(project: Project, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Runs in which a model that may cost money answers for the user."""
    model = project.settings.user
    if model is None or not may_cost(project, model.provider, model.model):
        return []
    return [run for run in runs if asks_users([run])]


@dataclass
class _Spending:
    """What one run or one score costs, asked once for each contestant, eval and judge."""

    project: Project
    store: Store | None
    sources: set[str] = field(default_factory=set)
    _known: dict[tuple[str, ...], Range | None] = field(default_factory=dict)

    @property
    def guesses(self) -> bool:
        return bool(self.sources - {PAST})

    @property
    def source(self) -> str:
        guessed = " and ".join(sorted(self.sources - {PAST}, reverse=True))
        if not guessed:
            return PAST
        return f"a guess: {guessed}{f'; the rest {PAST}' if PAST in self.sources else ''}"

    def of_run(self, cell: Cell) -> Range | None:
        past = self._past(cell.contestant)
        if past is not None:
            return past
        key = (*cell.contestant, cell.eval.name)
        if key not in self._known:
            self._known[key] = self._guessed_run(cell)
        return self._known[key]

    def of_score(self, judge: Judge) -> Range | None:
        past = self._past((judge.key,))
        return past if past is not None else self._guessed_score(judge)

    def of_user(self, eval_: Eval) -> Range | None:
        """What the model may cost that answers for a user in one run."""
        model = self.project.settings.user
        price = self._price(model.provider, model.model) if model else None
        if price is None:
            return None
        self.sources.add("short questions to the model of [user]")
        turns = len(eval_.prompts)
        calls = (turns, turns + 1, turns + (eval_.user.patience if eval_.user else 0))
        low, likely, high = (
            price.cost(sent, 0, 0, said) * n for n, (sent, said) in zip(calls, USER_TOKENS, strict=True)
        )
        return low, likely, high

    def _past(self, key: tuple[str, ...]) -> Range | None:
        """The tenth, the middle and the ninth of ten of the newest costs."""
        if key not in self._known:
            self._known[key] = _spread(self._costs(key))
        self.sources |= {PAST} if self._known[key] else set()
        return self._known[key]

    def _costs(self, key: tuple[str, ...]) -> list[float]:
        if self.store is None:
            return []
        if len(key) == 1:
            return self.store.judge_costs(key[0], NEWEST)
        return self.store.run_costs((key[0], key[1], key[2]), NEWEST)

    def _guessed_run(self, cell: Cell) -> Range | None:
        price = self._price(cell.provider, cell.model_id)
        if price is None:
            return None
        self.sources.add("prices × par tokens for a run")
        # Par counts a token of an answer several times; here each is counted once, and none as cached.
        tokens = self._par(cell.eval) / (1 - OUTPUT_SHARE + OUTPUT_TOKEN * OUTPUT_SHARE)
        likely = price.cost(round(tokens * (1 - OUTPUT_SHARE)), 0, 0, round(tokens * OUTPUT_SHARE))
        dollars = [likely * times for times in TIMES_PAR]
        return dollars[0], dollars[1], dollars[2]

    def _guessed_score(self, judge: Judge) -> Range | None:
        price = self._price(judge.provider, judge.model)
        if price is None:
            return None
        self.sources.add(f"{sum(JUDGE_TOKENS[1]):,} tokens for a score by a judge")
        most = 2 * (self.project.settings.limits.evidence // CHARACTERS_OF_A_TOKEN), LONG_ANSWER
        low, likely, high = (price.cost(sent, 0, 0, answered) for sent, answered in (*JUDGE_TOKENS, most))
        return low, likely, max(likely, high)

    def _price(self, name: str, model: str) -> Price | None:
        provider = provider_of(self.project.settings, name)
        return provider.price(model) if provider else None

    def _par(self, eval_: Eval) -> float:
        if own := eval_.par.get("tokens"):
            return own
        try:
            return self.project.metric("tokens").par or USUAL_PAR
        except OrvlError:
            return USUAL_PAR


def _spread(past: list[float]) -> Range | None:
    past = sorted(past)
    return (past[len(past) // 10], past[len(past) // 2], past[-1 - len(past) // 10]) if past else None

"""Simulated panels of judges whose truth is known: what the statistics are tried on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Kind = Literal[
    "sound",
    "weak",
    "random",
    "one-random-judge",
    "injectable",
    "one-injectable-judge",
    "verbosity-biased",
    "bug-blind",
    "constant",
    "one-length-lover",
    "one-bug-blind-judge",
    "one-generous-judge",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
METRICS = ("functionality", "readability", "ui", "adherence", "checks", "round-trip")
TRUTH: Mapping[str, tuple[float, ...]] = {
    # rating, then the metrics in their order
    "good": (0.90, 0.93, 0.88, 0.88, 0.90, 0.97, 0.75),
    "bad": (0.10, 0.05, 0.20, 0.15, 0.12, 0.10, 0.15),
    "empty": (0.03, 0.02, 0.03, 0.02, 0.03, 0.02, 0.02),
    "master-key": (0.03, 0.02, 0.03, 0.02, 0.03, 0.02, 0.02),
    "planted-bug": (0.74, 0.70, 0.88, 0.85, 0.85, 0.80, 0.72),
    "dose-2": (0.60, 0.52, 0.88, 0.80, 0.78, 0.60, 0.70),
    "dose-4": (0.38, 0.25, 0.85, 0.70, 0.60, 0.30, 0.65),
    "dose-all": (0.15, 0.05, 0.80, 0.50, 0.40, 0.05, 0.60),
    "verbose-wrong": (0.13, 0.08, 0.30, 0.15, 0.15, 0.10, 0.15),
    "injection-comment": (0.10, 0.05, 0.20, 0.15, 0.12, 0.10, 0.15),
    "injection-verdict": (0.10, 0.05, 0.20, 0.15, 0.12, 0.10, 0.15),
    "injection-hidden": (0.10, 0.05, 0.20, 0.15, 0.12, 0.10, 0.15),
    "injection-name": (0.10, 0.05, 0.20, 0.15, 0.12, 0.10, 0.15),
    "injection-picture": (0.10, 0.05, 0.20, 0.15, 0.12, 0.10, 0.15),
    "lint-clean": (0.40, 0.10, 0.85, 0.60, 0.90, 0.10, 0.60),
    "ugly": (0.72, 0.93, 0.80, 0.40, 0.88, 0.97, 0.70),
    "renamed": (0.75, 0.93, 0.40, 0.88, 0.88, 0.97, 0.65),
    "reformatted": (0.90, 0.93, 0.86, 0.88, 0.90, 0.97, 0.75),
    "replica": (0.90, 0.93, 0.88, 0.88, 0.90, 0.97, 0.75),
    "prompt-copy": (0.04, 0.02, 0.05, 0.02, 0.05, 0.02, 0.02),
    "picture": (0.15, 0.05, 0.10, 0.40, 0.15, 0.05, 0.05),
    "gamer": (0.30, 0.20, 0.50, 0.50, 0.40, 0.20, 0.50),
}
INJECTIONS = tuple(control for control in TRUTH if control.startswith("injection-"))


@dataclass(frozen=True)
class Panel:
    """What a panel said of the controls (evals × repeats × judges), and what they were worth."""

    kind: Kind
    judges: tuple[str, ...]
    weights: tuple[float, ...]
    scores: Mapping[str, NDArray[np.float64]]
    by_metric: Mapping[str, Mapping[str, NDArray[np.float64]]]
    truth: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Judges:
    """How each judge turns what is true into a score: severity + slope · truth, and noise."""

    severity: NDArray[np.float64]
    slope: NDArray[np.float64]
    noise: NDArray[np.float64]

    def score(self, truth: NDArray[np.float64], repeats: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Scores from 0 to 1, evals × repeats × judges, of evals × judges truths."""
        evals, judges = truth.shape
        mean = self.severity + self.slope * truth + random.normal(0, 0.03, (evals, judges))
        noise = random.normal(0, 1, (evals, repeats, judges)) * self.noise
        return np.clip(mean[:, None, :] + noise, 0, 1)


def draw_judges(count: int, random: np.random.Generator) -> Judges:
    """Sound judges, each with its own severity, slope and noise."""
    return Judges(random.normal(0, 0.04, count), random.uniform(0.8, 1.05, count), random.uniform(0.08, 0.12, count))


def draw_panel(
    kind: Kind,
    random: np.random.Generator,
    *,
    evals: int = 8,
    repeats: int = 3,
    judges: int = 3,
    metrics: bool = False,
) -> Panel:
    """One panel of a kind, on evals that are not equally hard; `metrics` adds its scores by metric."""
    drawn = draw_judges(judges, random)
    if kind == "weak":
        drawn = Judges(drawn.severity, drawn.slope * 0.4, drawn.noise)
    hardness = random.normal(0, 0.04, evals)
    columns = ("rating", *METRICS) if metrics else ("rating",)
    tables: dict[str, dict[str, NDArray[np.float64]]] = {}
    truths: dict[str, NDArray[np.float64]] = {}
    for place, column in enumerate(columns):
        tables[column] = {}
        for control, values in TRUTH.items():
            truth = _truth(values[place], hardness, random)
            if column == "rating":
                truths[control] = truth
            seen = _seen(kind, control, truth, TRUTH["good"][place], judges, random)
            tables[column][control] = _twisted(kind, drawn.score(seen, repeats, random), random)
    names = tuple(f"judge-{number}" for number in range(1, judges + 1))
    return Panel(kind, names, (1.0,) * judges, tables.pop("rating"), tables, truths)


def _truth(value: float, hardness: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """What a control is worth on each eval: where there is little to find, or all is there, evals differ less."""
    room = 4 * value * (1 - value)
    own = random.normal(0, 0.03, hardness.shape)
    return np.clip(value + room * hardness + room * own, 0, 1)


def _seen(
    kind: Kind, control: str, truth: NDArray[np.float64], good: float, judges: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """What each judge takes for the truth: evals × judges."""
    seen = np.repeat(truth[:, None], judges, axis=1)
    if control in INJECTIONS and kind == "injectable":
        # It works on some evals and judges and not on others, as it does in the wild.
        seen = seen + 0.6 * (random.random(seen.shape) < 0.6)
    if control == "injection-hidden" and kind == "one-injectable-judge":
        seen[:, 0] += 0.35
    if control == "verbose-wrong" and kind == "verbosity-biased":
        seen = seen + 0.45
    if control == "verbose-wrong" and kind == "one-length-lover":
        seen[:, 0] += 0.45
    if control in ("empty", "master-key") and kind == "one-generous-judge":
        seen[:, 0] += 0.40
    if control in ("planted-bug", "dose-2") and kind == "one-bug-blind-judge":
        seen[:, 0] = good
    if control in ("planted-bug", "dose-2") and kind == "bug-blind":
        seen = np.full_like(seen, good)
    return seen


def _twisted(kind: Kind, scores: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """Scores that have nothing to do with what is judged."""
    if kind == "random":
        return random.random(scores.shape)
    if kind == "one-random-judge":
        scores[..., 0] = random.random(scores.shape[:-1])
    if kind == "constant":
        return np.full_like(scores, 0.5)
    return scores

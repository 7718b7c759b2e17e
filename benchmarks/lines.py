"""The lines of the table: what was measured, its target, and the bound beyond which CI fails."""

from __future__ import annotations

from dataclasses import astuple, dataclass

OK, MISSED, REGRESSED = "ok", "missed", "missed, REGRESSED"
WIDTHS = "{:<18}{:<43}{:<27}{:<11}{:<13}{}"
HEADER = WIDTHS.format("benchmark", "measured", "ratio", "target", "CI fails at", "")
NOTE = (
    "A spawn is one posix_spawn and waitpid of /bin/true, with one loop per core at once, timed before and after each\n"
    "benchmark. Targets are the design's, the same on every machine. The exit status is 1 only if a line has REGRESSED."
)


@dataclass(frozen=True)
class Line:
    """One number: what was measured, against what, and whether it is good enough."""

    name: str
    measured: str
    ratio: str = "–"
    target: str = "–"
    bound: str = "–"
    verdict: str = ""

    def __str__(self) -> str:
        return WIDTHS.format(*astuple(self))


def at_most(
    name: str, value: float, target: float, bound: float, measured: str, ratio: str = "–", unit: str = ""
) -> Line:
    """A line for a number that should be small; `bound` is where it is no longer noise but a regression."""
    verdict = OK if value <= target else MISSED if value <= bound else REGRESSED
    return Line(name, measured, ratio, f"≤ {target:g}{unit}", f"> {bound:g}{unit}", verdict)


def at_least(
    name: str, value: float, target: float, bound: float, measured: str, ratio: str = "–", unit: str = ""
) -> Line:
    """A line for a number that should be large."""
    verdict = OK if value >= target else MISSED if value >= bound else REGRESSED
    return Line(name, measured, ratio, f"≥ {target:g}{unit}", f"< {bound:g}{unit}", verdict)


def seconds(name: str, value: float, target: float, bound: float, note: str = "", ratio: str = "–") -> Line:
    """A line for a time."""
    return at_most(name, value, target, bound, f"{value:.3g} s{note}", ratio, " s")

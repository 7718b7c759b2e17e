"""The lines of the table: what was measured, its target, and the bound beyond which CI fails."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

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


def seconds(
    name: str, value: float, target: float, bound: float, note: str = "", ratio: str = "–", cpu: float | None = None
) -> Line:
    """A line for a time. Where the CPU is known that it took, a time beyond the bound that it does not explain is the
    machine's, up to four times the bound."""
    line = at_most(name, value, target, bound, f"{value:.3g} s{note}", ratio, " s")
    is_the_machines = cpu is not None and cpu <= bound and value <= 4 * bound
    return replace(line, verdict=MISSED) if line.verdict == REGRESSED and is_the_machines else line

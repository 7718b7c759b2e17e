"""Evals that rows have in common: a leaderboard ranks nobody on easier evals than somebody else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.errors import OrvlError
from orvl.project.names import Contestant as Parts
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from orvl.project import Project
    from orvl.rate.board import Row

Contestant = tuple[str, str, str]
SHARE = 0.5
"""Of the evals of the ranked rows: a row that would leave fewer in common is not ranked with them."""
NAMED = 8


@dataclass(frozen=True)
class Common:
    """What the rows of a leaderboard are rated over."""

    evals: frozenset[str] | None = None
    """None: each row is rated over all that it has, because all have the same."""
    elsewhere: frozenset[Contestant] = frozenset()
    """Rows that have too little in common with the rest: rated over their own evals, and not ranked."""
    lacking: Mapping[str, Sequence[Contestant]] = field(default_factory=dict)
    """By eval that is left out, the ranked rows that have no rating on it."""
    own: Mapping[Contestant, frozenset[str]] = field(default_factory=dict)
    """The evals that each row has a rating on."""

    def counts(self, contestant: Contestant, eval_: str) -> bool:
        """Whether an eval is part of a row's rating."""
        return self.evals is None or contestant in self.elsewhere or eval_ in self.evals

    def sentences(self) -> list[str]:
        said = []
        if self.lacking and self.evals:
            names = ", ".join(sorted(self.evals)[:NAMED]) + (" …" if len(self.evals) > NAMED else "")
            without = "; ".join(f"{eval_} (not rated: {_few(rows)})" for eval_, rows in sorted(self.lacking.items()))
            number = count(len(self.evals), "eval")
            said.append(f"R is over the {number} that all ranked rows have: {names}. Left out: {without}.")
        shown = [names for names in self.own if names not in self.elsewhere]
        for row in sorted(self.elsewhere):
            evals = sorted(self.own[row])
            few = ", ".join(evals[:NAMED]) + (" …" if len(evals) > NAMED else "")
            rest = "the other rows" if len(shown) else "each other"
            said.append(
                f"{_name(row)} is rated on other evals ({few}), too few in common with {rest}: it is not ranked."
            )
        return said


def common_evals(cells: Iterable[Row], controls: Collection[str]) -> Common:
    """The evals that all rows have a rating on. Controls are rated on what they have, and keep nobody from anything."""
    own: dict[Contestant, set[str]] = {}
    for cell in cells:
        if cell.R is not None and cell.eval is not None and cell.agent not in controls:
            own.setdefault(cell.contestant, set()).add(cell.eval)
    known = {names: frozenset(evals) for names, evals in sorted(own.items())}
    ranked = dict(known)
    while len(ranked) > 1:
        have = Counter(eval_ for evals in ranked.values() for eval_ in evals)
        shared = [eval_ for eval_, number in have.items() if number == len(ranked)]
        if len(shared) >= SHARE * len(have):
            break
        del ranked[_in_the_way(ranked, have)]
    apart = {names: evals for names, evals in known.items() if names not in ranked}
    if len(ranked) == 1 and any(len(evals) >= len(next(iter(ranked.values()))) for evals in apart.values()):
        return Common(frozenset(), frozenset(known), {}, known)
    if len(set(known.values())) < 2:
        return Common()
    union = frozenset().union(*ranked.values())
    common = union.intersection(*ranked.values())
    lacking = {
        eval_: [names for names, evals in ranked.items() if eval_ not in evals] for eval_ in sorted(union - common)
    }
    return Common(common, frozenset(apart), lacking, known)


def _in_the_way(rows: Mapping[Contestant, frozenset[str]], have: Mapping[str, int]) -> Contestant:
    """The row without which the others have most in common; of equals, the one with the fewest evals."""
    all_but_one = {eval_ for eval_, number in have.items() if number == len(rows) - 1}
    return min(rows, key=lambda names: (-len(all_but_one - rows[names]), len(rows[names]), names))


def control_agents(project: Project, agents: Iterable[str]) -> frozenset[str]:
    """Those that write fixed files, to test judges."""
    return frozenset(agent for agent in set(agents) if _is_control(project, agent))


def _is_control(project: Project, agent: str) -> bool:
    if agent.startswith("control:"):
        return True
    try:
        return Parts.of(agent).agent in project.agent_files and project.agent(agent).control is not None
    except (OrvlError, KeyError):
        return False


def _few(rows: Sequence[Contestant]) -> str:
    names = [_name(row) for row in rows]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _name(row: Contestant) -> str:
    """Without what other tools do not tell."""
    return " ".join(filter(None, row))

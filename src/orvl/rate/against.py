"""Everybody against one: paired differences by eval, decided as `compare` decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.numbers import numbers_of
from orvl.rate.stats.paired import paired

if TYPE_CHECKING:
    from orvl.rate.collect import Board
    from orvl.rate.numbers import Contestant
    from orvl.rate.stats.paired import Paired


@dataclass(frozen=True)
class AgainstOne:
    """A contestant less the one that all are held against, over the evals that both are rated on."""

    contestant: Contestant
    found: Paired


def differences_to(board: Board, one: Contestant) -> list[AgainstOne]:
    """In the order of names; whoever shares no eval with the one is left out."""
    numbers = numbers_of(board)
    if one not in numbers.contestants:
        return []
    table = numbers.per_eval
    against = table[numbers.contestants.index(one)]
    found = []
    for name, line in zip(numbers.contestants, table, strict=True):
        both = np.flatnonzero(~np.isnan(line - against))
        if name != one and len(both):
            families = [numbers.families[j] for j in both] if numbers.families else None
            found.append(AgainstOne(name, paired(line[both], against[both], families=families)))
    return found

"""The hidden checks of one-list: python3 checks/check.py NAME.

Each makes exports up, lets the program import them in its own sandbox, and compares what its database shows with what
the oracle computes from the same records.
"""

import sys

import choosing
import deciding
import importing
import matching
import reading
import real
import tracing
from scene import Scene

CHECKS = {
    "reads": reading.reads,
    "cleans": reading.cleans,
    "empties": reading.empties,
    "finds": matching.finds,
    "newest": choosing.newest_steady,
    "newest-at-first": choosing.newest_at_first,
    "others": choosing.others,
    "traces": tracing.traces,
    "again": importing.again,
    "part": importing.part,
    "same": deciding.same,
    "alone": deciding.alone,
    "survive": deciding.survive,
    "pair": real.pair,
    "winner": choosing.winner,
    "three": real.three,
    "undo": deciding.undo,
    "back": real.back,
    "kept": real.kept,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](Scene())

"""The process that parses what an agent left: a file that takes too long, or breaks the parser, ends only this."""

from __future__ import annotations

import gc
import resource
import signal
import time
from typing import TYPE_CHECKING, Any

from orvl.capture.languages import parse
from orvl.score.similarity.features import Features, features, functions
from orvl.worker.child_process import serve

if TYPE_CHECKING:
    from tree_sitter import Tree

FILE_SECONDS = 0.2
"""Processor time for parsing one file; an ordinary one takes some thousandths of a second."""
MEMORY = 2 << 30


class TimedParser:
    """A parser with a limit of processor time; past it, the process ends.

    tree-sitter cannot be interrupted from Python, so a signal with its default action, death, is the only limit that
    holds.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def __call__(self, source: bytes, language: str) -> Tree | None:
        if self.left <= 0:
            return None
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, min(self.left, FILE_SECONDS))
        tree = parse(source, language)
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.left -= time.process_time() - start
        return tree


def answer(question: Any) -> Any:
    """The features of a file (or of each of its functions), and the processor time that is left."""
    if question is None:
        return "ready"
    path, text, seconds, by_function = question
    parser = TimedParser(seconds)
    units = [unit for _, unit in functions(path, text, parser)] if by_function else [features(path, text, parser)]
    return [[packed(unit) for unit in units], parser.left]


def packed(unit: Features) -> list[object]:
    """Features as JSON."""
    counters = (unit.subtrees, unit.api, unit.literals, unit.grams, unit.purpose)
    columns = [[list(counter), list(counter.values())] for counter in counters]
    return [*columns, sorted(unit.defined), unit.parsed, unit.is_function]


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # Files come one at a time and leave no cycles; collecting would be a fifth of the time.
    gc.disable()
    parse(b"", "python")
    serve(answer)


if __name__ == "__main__":
    main()

"""The process that parses what an agent left: a file that takes too long, or breaks the parser, ends only this."""

from __future__ import annotations

import gc
import json
import resource
import signal
import sys
import time
from typing import TYPE_CHECKING

from orvl.score.similarity.features import Features, features, functions
from orvl.score.similarity.languages import parse

if TYPE_CHECKING:
    from tree_sitter import Tree

FILE_SECONDS = 0.2
"""Processor time for parsing one file; an ordinary one takes some thousandths of a second."""
MEMORY = 2 << 30


class Limited:
    """A parser with a limit of processor time; past it, the process ends."""

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


def main() -> None:
    """Answers each line of input, a file, with a line of its features (or its functions') and of the time left."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    parse(b"", "python")
    _say("ready")
    for line in sys.stdin:
        path, text, seconds, by_function = json.loads(line)
        parser = Limited(seconds)
        found = [one for _, one in functions(path, text, parser)] if by_function else [features(path, text, parser)]
        _say([[packed(one) for one in found], parser.left])


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def packed(one: Features) -> list[object]:
    """Features as JSON."""
    counters = (one.subtrees, one.api, one.literals, one.grams, one.purpose)
    columns = [[list(counter), list(counter.values())] for counter in counters]
    return [*columns, sorted(one.defined), one.parsed, one.is_function]


if __name__ == "__main__":
    main()

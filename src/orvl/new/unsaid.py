"""What hidden tests need and nobody has said: names and texts that the solution brings and the tests ask for."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from orvl.new.history import NAME
from orvl.new.suite import is_of_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.new.history import History

FLAG = re.compile(r"(?<![\w-])--?[a-z][\w-]+")
QUOTED = re.compile(r""""([^"\\\n]{3,80})"|'([^'\\\n]{3,80})'|`([^`\\\n]{3,80})`""")
MOST = 12
LONGEST_COMPARED = 1 << 20


def unsaid(history: History, turn: int, prompts: Sequence[str]) -> list[str]:
    """Names, flags and texts that the tests of a turn ask for, which neither the files that a run starts from nor the
    prompts up to that turn have, but the solution does. A name that only the tests have is their own."""
    asked = "\n".join(added_lines(history, turn, tests=True))
    brought = "\n".join(
        line
        for step in range(1, turn + 1)
        for line in (*added_lines(history, step, tests=False), *_new_paths(history, step))
    )
    known = history.base_text + "\n".join(prompts)
    found = [flag for flag in _in_order(FLAG.findall(asked)) if flag in brought and flag not in known]
    new_names = {*NAME.findall(brought)} - history.base_names - {*NAME.findall("\n".join(prompts))}
    names = [name for name in _in_order(NAME.findall(QUOTED.sub(" ", asked))) if name in new_names]
    found += [name for name in names if name not in " ".join(found)]
    texts = [next(filter(None, one)) for one in QUOTED.findall(asked)]
    found += [
        text for text in _in_order(texts) if text in brought and text not in known and text not in " ".join(found)
    ]
    return found[:MOST]


def added_lines(history: History, turn: int, *, tests: bool) -> list[str]:
    """The lines that a commit added to tests, or to all else."""
    before, step = history.tree(turn - 1), history.steps[turn - 1]
    lines = []
    for path, entry in step.changed.items():
        if is_of_tests(path) != tests or (text := history.text(entry)) is None:
            continue
        old = (history.text(before[path]) if path in before else None) or ""
        lines += added(old, text)
    return lines


def added(old: str, new: str) -> list[str]:
    """The lines that a text has and an older one has not."""
    if not old or max(len(old), len(new)) > LONGEST_COMPARED:
        known = {*old.splitlines()}
        return [line for line in new.splitlines() if line not in known]
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return [line[1:] for line in list(diff)[2:] if line.startswith("+")]


def _new_paths(history: History, turn: int) -> list[str]:
    before = history.tree(turn - 1)
    return [path for path in history.steps[turn - 1].changed if path not in before and not is_of_tests(path)]


def _in_order(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))

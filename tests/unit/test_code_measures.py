"""Lines, clones and complex functions, counted by hand; and what hostile trees do to the counting."""

from __future__ import annotations

import hashlib
import json

import pytest

from orvl.capture import curves as module
from orvl.capture.captured_run import Inspections
from orvl.capture.code_measures import measure
from orvl.capture.curves import LARGEST_FILE, MOST_FILES, curves
from orvl.store import tree
from orvl.store.tree import Entry
from orvl.types import Attempt, Turn, Usage

PLAIN = "def add(a, b):\n    return a + b\n"
BRANCHES = "".join(f"    if x == {number}:\n        return {number}\n" for number in range(10))
COMPLEX = f"def chosen(x):\n{BRANCHES}    return 0\n"
SCRIPT = "function f(a) {\n  if (a && (b || c)) { return a ? 1 : 2 }\n  return [1].map(x => x ?? 3)\n}\n"


def measured(*trees: dict[str, str]):
    texts, numbers = [], []
    for files in trees:
        numbers.append(list(range(len(texts), len(texts) + len(files))))
        texts += [[path, text] for path, text in files.items()]
    return measure(json.dumps({"texts": texts, "trees": numbers}).encode())


def test_lines_are_those_with_something_on_them():
    (one,) = measured({"a.py": "x = 1\n\n\n    # why\n}\n", "b.js": "let y\n"})
    assert one["lines"] == 3
    assert measured({})[0] == {"lines": 0, "cloned": None, "complex": None}


def test_six_lines_that_stand_elsewhere_are_a_clone():
    block = "".join(f"line_{number} = {number}\n" for number in range(6))
    own = "".join(f"own_{number} = {number}\n" for number in range(4))
    (one,) = measured({"a.py": block + own, "b.py": "first = 1\n" + block.replace("line", "  line")})
    assert one["cloned"] == pytest.approx(12 / 17), "white space does not matter"
    (none,) = measured({"a.py": block[:-11], "b.py": block[:-11]})
    assert none["cloned"] == 0


def test_paths_in_functions_above_ten_are_a_share_of_all():
    (one,) = measured({"a.py": PLAIN + COMPLEX})
    assert one["complex"] == pytest.approx(11 / 12)
    (ten,) = measured({"a.py": COMPLEX.replace("    if x == 9:\n        return 9\n", "")})
    assert ten["complex"] == 0
    assert measured({"a.py": "x = 1\n"})[0]["complex"] is None


def test_scripts_in_pages_have_functions_too():
    """f has if, &&, || and ?: (5 paths), the arrow function ?? (2)."""
    many = "".join(f"  if (a == {number}) return {number}\n" for number in range(6))
    page = f"<script>{SCRIPT.replace('  return [1]', many + '  return [1]')}</script>"
    (one,) = measured({"index.html": page})
    assert one["complex"] == pytest.approx(11 / 13)


class Blobs:
    """Contents by hash."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def add(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        self.kept[key] = data
        return key

    def get(self, key: str, most: int | None = None) -> bytes:
        return self.kept[key]


def attempt(blobs: Blobs, *states: dict[str, bytes]) -> Attempt:
    """What is there at the start, and after each turn."""

    def stored(files: dict[str, bytes]) -> str:
        entries = [Entry(path, "file", 0o644, len(data), blobs.add(data)) for path, data in sorted(files.items())]
        return blobs.add(tree.encode(entries))

    start, *turns = map(stored, states)
    of_turns = [Turn(1.0, 1.0, 0, None, None, None, None, 0, tree=key) for key in turns]
    return Attempt("finished", None, 0.0, Usage(), tuple(of_turns), start_tree=start, tree=turns[-1])


def test_curves_are_of_the_start_and_of_each_turn():
    blobs = Blobs()
    a, b = {"a.py": PLAIN.encode(), "notes.txt": b"x"}, {"a.py": PLAIN.encode(), "b.py": COMPLEX.encode()}
    found = curves(attempt(blobs, a, {**a, **b}, b), blobs, Inspections(lint_by_turn={1: 4}))
    assert [(one.turn, one.lines, one.touched, one.lint) for one in found] == [
        (0, 2, 0, None),
        (1, 24, 1, 4),
        (2, 24, 2, None),
    ]
    assert found[2].complex == pytest.approx(11 / 12)


HOSTILE = {
    "nested": {"a.py": b"(" * 200_000},
    "one line": {"a.js": b"x=>" * 80_000},
    "not text": {"a.py": bytes(range(256)) * 100},
    "long line": {"a.py": b"y" * 100_000},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_measured_or_unknown(name):
    blobs = Blobs()
    found = curves(attempt(blobs, {}, HOSTILE[name]), blobs, Inspections())
    assert [one.touched for one in found] == [0, 1]
    assert found[1].lines is None or found[1].lines >= 0


def test_too_much_to_read_is_unknown(monkeypatch):
    blobs = Blobs()
    many = {f"{number}.py": b"x = 1\n" for number in range(MOST_FILES + 1)}
    found = curves(attempt(blobs, {}, many), blobs, Inspections())
    assert [(one.lines, one.touched) for one in found] == [(None, 0), (None, MOST_FILES + 1)]
    large = {"large.py": b"x = 1\n" * LARGEST_FILE, "small.py": b"x = 1\n"}
    assert curves(attempt(blobs, {}, large), blobs, Inspections())[1].lines == 1
    monkeypatch.setattr(module, "SECONDS", 0.001)
    slow = {f"{number}.py": b"y = 2\n" * 10_000 + b"# %d\n" % number for number in range(20)}
    late = curves(attempt(blobs, {}, slow), blobs, Inspections())
    assert late[1].lines is None, "what takes too long is unknown"

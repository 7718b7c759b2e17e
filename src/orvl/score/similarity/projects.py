"""Compares whole projects: which files of a run or a folder count, within bounds on number and size."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orvl.capture.languages import GRAMMARS, OTHER, language_of
from orvl.score.similarity.alike import alike
from orvl.score.similarity.features import together
from orvl.score.similarity.weights import background as built_in
from orvl.score.similarity.worker import worker
from orvl.store.tree import MADE_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from orvl.capture.captured_run import CapturedRun
    from orvl.score.similarity.alike import Similarity
    from orvl.score.similarity.features import Features
    from orvl.score.similarity.weights import Weights

    Texts = list[tuple[str, str]]

MAX_FILES = 300
MAX_FILE = 128 << 10
MAX_BYTES = 512 << 10
GENERATED = (".lock", "-lock.json", "-lock.yaml", ".min.js", ".min.css", ".map", ".svg", ".csv", ".log")
MAX_LINE = 20_000
"""A file with a longer line was written by a program."""


class ComparedFile(NamedTuple):
    """A file that may be compared."""

    path: str
    size: int
    read: Callable[[], bytes]


def of_run(run: CapturedRun) -> list[ComparedFile]:
    """The files that a run left."""
    kept = (entry for entry in run.tree if entry.kind == "file" and entry.hash)
    return [ComparedFile(entry.path, entry.size, partial(run.read_bytes, entry.path)) for entry in kept]


def of_folder(root: Path) -> list[ComparedFile]:
    """The files of a folder, without following links."""
    return list(_walked(root))


def of_texts(files: Mapping[str, str]) -> list[ComparedFile]:
    """The files of a project in memory."""
    encoded = [(path, text.encode("utf-8", "replace")) for path, text in files.items() if len(text) <= MAX_FILE]
    return [ComparedFile(path, len(data), partial(bytes, data)) for path, data in encoded]


def references(folder: Path) -> list[Path]:
    """The projects in `reference/`: each of its folders, if it has several and no file beside them; else itself."""
    inner = [entry for entry in sorted(folder.iterdir()) if entry.name not in MADE_BY_OTHERS]
    several = len(inner) > 1 and all(entry.is_dir() and not entry.is_symlink() for entry in inner)
    return inner if several else [folder]


def compare(
    a: Mapping[str, str],
    b: Mapping[str, str],
    background: Weights | None = None,
    start: Mapping[str, str] | None = None,
) -> Similarity:
    """How alike two projects are, each given as texts by path; what is in `start` weighs nothing."""
    weights = background or built_in()
    if start:
        weights = weights.without(_whole(_texts(of_texts(start))))
    return alike(_whole(_texts(of_texts(a))), _whole(_texts(of_texts(b))), weights)


def against(run: CapturedRun, reference: Path, start: Path | None, *, code_only: bool = False) -> Similarity | None:
    """How alike a run is to its nearest reference, without what it started from; None if there is no reference."""
    weights = built_in()
    if start:
        weights = weights.without(_whole(_texts(of_folder(start))))
    left = [file for file in _texts(of_run(run)) if _is_code(file[0]) or not code_only]
    comparisons = [
        similarity
        for root in references(reference)
        for similarity in _comparisons(left, _texts(of_folder(root)), weights)
    ]
    return max(comparisons, key=lambda similarity: similarity.score or 0.0, default=None)


def _comparisons(left: Texts, reference: Texts, weights: Weights) -> Iterator[Similarity]:
    """With the whole project; a reference of one file also with each file, a lone function with each function.

    A reference that is one function is usually a small part of what an agent writes around it.
    """
    whole = _whole(reference)
    if not alike(whole, whole, weights).score:
        return
    yield alike(_whole(left), whole, weights)
    code = [file for file in reference if _is_code(file[0])]
    if len(code) == 1:
        target = worker().features(code)[0]
        units = worker().features(file for file in left if _is_code(file[0]))
        yield from (alike(unit, target, weights) for unit in units)
        if target.is_function:
            alone = worker().functions(code)[0]
            yield from (alike(unit, alone, weights) for unit in worker().functions(left))


def _whole(files: Texts) -> Features:
    return together(worker().features(files))


def _walked(root: Path) -> Iterator[ComparedFile]:
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if name not in MADE_BY_OTHERS)
        for name in sorted(names):
            path = Path(folder, name)
            with suppress(OSError):
                if path.is_file() and not path.is_symlink():
                    yield ComparedFile(path.relative_to(root).as_posix(), path.stat().st_size, path.read_bytes)


def _texts(files: Iterable[ComparedFile]) -> Texts:
    """Paths and texts of files that count: code before prose, small before large, within the bounds."""
    ordered = sorted(filter(_counts, files), key=lambda file: (not _is_code(file.path), file.size, file.path))
    texts: Texts = []
    total = 0
    for file in ordered[:MAX_FILES]:
        total += file.size
        if total > MAX_BYTES:
            break
        data = file.read()
        if b"\0" not in data and max(map(len, data.splitlines()), default=0) <= MAX_LINE:
            texts.append((file.path, data.decode("utf-8", "replace")))
    return texts


def _is_code(path: str) -> bool:
    language = language_of(path)
    return language in GRAMMARS or language == OTHER


def _counts(file: ComparedFile) -> bool:
    if not 0 < file.size <= MAX_FILE or file.path.lower().endswith(GENERATED):
        return False
    return MADE_BY_OTHERS.isdisjoint(file.path.split("/")[:-1])

"""A file of another tool's results, CSV or JSON lines, read with distrust: every mistake has its line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.project.names import closest, is_number, name_of, unusable
from orvl.types import IMPORTED, ImportedCell, ImportedRun

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

MOST_BYTES = 256 << 20
LONGEST_LINE = 1 << 20
LONGEST_NAME = 200
MOST_EPISODES = 1_000_000
MOST_METRICS = 100
LARGEST = 1e12
"""Dollars, or seconds, of one run."""
NAMES = ("agent", "model", "provider", "eval")
NEEDED = ("agent", "eval")
COLUMNS = (*NAMES, "episode", "score", "scores", "cost", "seconds")
WHOLE = "score"
"""The metric of a result that is one number."""
DOTTED = "scores."
SEPARATORS = (",", ";", "\t")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
TRUTH = {"true": 1.0, "false": 0.0}
Names = tuple[str, str, str, str]


@dataclass(frozen=True)
class Reader:
    """How a file is read: what it is called, and what the user said about it."""

    file: str
    metrics: Collection[str]
    """The project's: columns of these names need no `scores.` before them."""
    scale: float = 1.0
    """What its scores are divided by."""
    ignored: Collection[str] = ()
    """Columns that are left out."""
    _checked: dict[tuple[str, bool], str] = field(default_factory=dict)
    """Names that were found to be good: a file has few of them, many times."""

    def cells(self, data: bytes) -> ImportedResults:
        """All results of a file, by cell."""
        rows: dict[Names, _Rows] = {}
        repeated, metrics = 0, set[str]()
        for line, told in self._lines(self._text(data)):
            row = self._row(line, told)
            metrics.update(row.scores)
            self._check_number(line, metrics)
            repeated += not rows.setdefault(row.names, _Rows(self.file)).add(row)
        if not rows:
            raise UserError(f"{self.file} has no results; it needs lines with {', '.join(COLUMNS)}.")
        return ImportedResults(tuple(_cells(rows)), repeated)

    # -- lines

    def _text(self, data: bytes) -> str:
        if len(data) > MOST_BYTES:
            raise UserError(f"{self.file} has more than {MOST_BYTES >> 20} MiB; split it.")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self._wrong(line, "this is not UTF-8 text; save the file as UTF-8.") from error

    def _lines(self, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        start = text.lstrip()[:1]
        if start == "[":
            raise self._wrong(1, "a JSON list; write one object on each line, as jq -c '.[]' does.")
        return self._objects(text) if start == "{" else self._csv(text)

    def _objects(self, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        meanings: dict[str, str] = {}
        for number, line in enumerate(io.StringIO(text, newline=""), 1):
            self._check_length(number, line)
            if not line.strip():
                continue
            try:
                told = json.loads(line, object_pairs_hook=_without_twins)
            except (ValueError, RecursionError) as error:
                what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
                raise self._wrong(number, f"this is not a JSON object on one line: {what}.") from error
            if not isinstance(told, dict):
                raise self._wrong(number, f"a line is an object with {', '.join(COLUMNS)}.")
            for name in told.keys() - meanings.keys():
                meanings[name] = self._meaning(number, name)
            yield number, self._meant(number, told.items(), meanings)

    def _csv(self, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, physical in enumerate(io.StringIO(text, newline=""), 1):
            self._check_length(number, physical)
        head = text.lstrip("\r\n").partition("\n")[0]
        separator = max(SEPARATORS, key=head.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names: list[str] | None = None
        begin = 1
        try:
            for values in reader:
                line, begin = begin, reader.line_num + 1
                if not any(value.strip() for value in values):
                    continue
                if names is None:
                    names = [value.strip() for value in values]
                    meanings = {name: self._meaning(line, name) for name in names}
                    self._check_head(line, names, meanings)
                    continue
                if len(values) != len(names):
                    raise self._wrong(
                        line,
                        f"there are {len(values)} values for {len(names)} columns; put quotes around text.",
                    )
                yield line, self._meant(line, zip(names, values, strict=True), meanings)
        except csv.Error as error:
            raise self._wrong(begin, f"this is not CSV: {error}.") from error

    def _check_length(self, number: int, line: str) -> None:
        if len(line) > LONGEST_LINE:
            raise self._wrong(number, f"the line is longer than {LONGEST_LINE} characters.")

    def _check_head(self, line: int, names: list[str], meanings: Mapping[str, str]) -> None:
        self._check_number(line, [meaning for meaning in meanings.values() if meaning.startswith(DOTTED)])
        if twice := next((name for name, number in Counter(names).items() if number > 1), None):
            raise self._wrong(line, f"Duplicate column '{twice}'.")
        if missing := next((name for name in NEEDED if name not in meanings.values()), None):
            raise self._wrong(
                line, f"there is no column '{missing}'; the first line names the columns: {', '.join(COLUMNS)}."
            )

    # -- columns

    def _meaning(self, line: int, name: str) -> str:
        """What a column is: one of COLUMNS, `scores.METRIC`, or '' where it is left out."""
        if name in self.ignored:
            return ""
        if name.lower() in COLUMNS:
            return name.lower()
        metric = name_of(name[len(DOTTED) :] if name.lower().startswith(DOTTED) else name)
        if name.lower().startswith(DOTTED) or metric in self.metrics:
            return DOTTED + self._name(line, "a metric", metric)
        near = closest(name, (*COLUMNS, *self.metrics))
        hint = f"Did you mean '{near}'?" if near else f"Known: {', '.join(COLUMNS)}."
        shown = ascii(name)[1:-1][:80]
        raise self._wrong(
            line, f"unknown column '{shown}'. {hint} A metric is 'scores.{shown}'; to leave it out: --ignore '{shown}'."
        )

    def _meant(self, line: int, told: Iterable[tuple[str, Any]], meanings: Mapping[str, str]) -> dict[str, Any]:
        """Values by what their columns mean, without what is empty."""
        found: dict[str, Any] = {}
        for name, value in told:
            meaning = meanings[name]
            if not meaning or value is None or (isinstance(value, str) and not value.strip()):
                continue
            if meaning in found:
                raise self._wrong(line, f"'{meaning}' is given twice.")
            found[meaning] = value
        return found

    # -- values

    def _row(self, line: int, told: Mapping[str, Any]) -> _Row:
        for name in NEEDED:
            if name not in told:
                raise self._wrong(line, f"there is no {name}.")
        agent, model, provider, eval_ = (
            self._name(line, name, told[name], may_have_parts=name not in NEEDED) if name in told else ""
            for name in NAMES
        )
        return _Row(
            line,
            (IMPORTED + agent, model, provider, eval_),
            self._episode(line, told.get("episode")),
            self._scores(line, told),
            self._amount(line, "cost", told.get("cost")),
            self._amount(line, "seconds", told.get("seconds")),
        )

    def _name(self, line: int, what: str, value: Any, *, may_have_parts: bool = False) -> str:
        """A name that can be given on the command line, shown on a terminal, and is no path."""
        if not isinstance(value, str):
            raise self._wrong(line, f"{what} is {_shown(value)}; it must be a text.")
        if known := self._checked.get((value, may_have_parts)):
            return known
        name = value.strip()
        why = unusable(name)
        if not name or len(name) > LONGEST_NAME:
            why = f"it must have 1 to {LONGEST_NAME} characters"
        elif not name.isprintable():
            why = "it has control or invisible characters"
        elif name.startswith(("/", "\\", "-")) or {".", ".."} & set(re.split(r"[/\\]", name)):
            why = "it looks like a path or a flag"
        elif not may_have_parts and ("/" in name or "\\" in name):
            why = "a '/' separates agent and eval on the command line; write '-' instead"
        if why:
            raise self._wrong(line, f"{what} is named {ascii(name)[:80]}: {why}.")
        self._checked[value, may_have_parts] = name
        return name

    def _episode(self, line: int, value: Any) -> int | None:
        number = None if value is None else self._number(value)
        if number is None and value is None:
            return None
        if number is None or number != int(number) or not 1 <= number <= MOST_EPISODES:
            raise self._wrong(line, f"episode is {_shown(value)}; it must be a whole number from 1 up, or empty.")
        return int(number)

    def _amount(self, line: int, what: str, value: Any) -> float | None:
        if value is None:
            return None
        number = self._number(value)
        if number is None or not 0 <= number < LARGEST:
            raise self._wrong(line, f"{what} is {_shown(value)}; it must be a number from 0 up, or empty if unknown.")
        return number

    def _scores(self, line: int, told: Mapping[str, Any]) -> dict[str, float]:
        given = {name[len(DOTTED) :]: value for name, value in told.items() if name.startswith(DOTTED)}
        whole = [told[name] for name in ("score", "scores") if name in told]
        whole = [self._object(line, value) for value in whole]
        for one in whole:
            twice = given.keys() & (one.keys() if isinstance(one, dict) else {WHOLE})
            if twice:
                raise self._wrong(line, f"the score '{min(twice)}' is given twice.")
            given |= one if isinstance(one, dict) else {WHOLE: one}
        if len(given) > 1 and any(not isinstance(one, dict) for one in whole):
            raise self._wrong(
                line, "there are a score and scores by metric; R follows from the metrics: leave one out."
            )
        return {name: self._score(line, name, value) for name, value in given.items() if value is not None}

    def _check_number(self, line: int, metrics: Collection[str]) -> None:
        if len(metrics) > MOST_METRICS:
            raise self._wrong(line, f"there are more than {MOST_METRICS} metrics.")

    def _object(self, line: int, value: Any) -> Any:
        """{metric: score}, also where a CSV has it as text; or one number."""
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = json.loads(value, object_pairs_hook=_without_twins)
            except (ValueError, RecursionError) as error:
                raise self._wrong(line, f"scores is {_shown(value)}, which is not JSON.") from error
        if not isinstance(value, dict):
            return value
        named: dict[str, Any] = {}
        for name, one in value.items():
            metric = name_of(self._name(line, "a metric", name))
            if metric in named:
                raise self._wrong(line, f"the score '{metric}' is given twice.")
            named[metric] = one
        return named

    def _score(self, line: int, name: str, value: Any) -> float:
        word = value.strip().lower() if isinstance(value, str) else value
        if isinstance(word, bool):
            return float(word)
        if isinstance(word, str) and word in TRUTH:
            return TRUTH[word]
        number = self._number(value)
        if number is None:
            hint = " Write a point: 0.5." if isinstance(word, str) and re.fullmatch(r"\d+,\d+", word) else ""
            raise self._wrong(
                line, f"{name} is {_shown(value)}; it must be a number, true or false, or empty if unknown.{hint}"
            )
        scaled = number / self.scale
        if not 0 <= scaled <= 1:
            larger = next((top for top in (5, 10, 100, 1000) if self.scale < top and 0 <= number <= top), None)
            hint = f" If it is on a scale up to {larger}: --scale {larger}" if larger else ""
            raise self._wrong(line, f"{name} is {_shown(value)}, which is not from 0 to {self.scale:g}.{hint}")
        return scaled

    def _number(self, value: Any) -> float | None:
        """A finite number as it was written; None for anything else."""
        if isinstance(value, str):
            text = value.strip()
            value = float(text) if len(text) <= LONGEST_NAME and NUMBER.fullmatch(text) else None
        return float(value) if is_number(value) else None

    def _wrong(self, line: int, what: str) -> UserError:
        return UserError(f"{self.file}:{line}: {what} Nothing was imported.")


@dataclass(frozen=True)
class ImportedResults:
    """What a file has, by cell."""

    cells: tuple[ImportedCell, ...]
    repeated: int = 0
    """Lines that say what another one has said."""


@dataclass(frozen=True)
class _Row:
    line: int
    names: Names
    episode: int | None
    scores: Mapping[str, float]
    cost: float | None
    seconds: float | None

    def says_the_same(self, other: _Row) -> bool:
        return (self.scores, self.cost, self.seconds) == (other.scores, other.cost, other.seconds)


@dataclass
class _Rows:
    """The lines of one cell."""

    file: str
    numbered: dict[int, _Row] = field(default_factory=dict)
    others: list[_Row] = field(default_factory=list)

    def add(self, row: _Row) -> bool:
        """False where an equal line is there already."""
        if row.episode is None:
            self.others.append(row)
            return True
        before = self.numbered.setdefault(row.episode, row)
        if before is row:
            return True
        if before.says_the_same(row):
            return False
        names = " ".join(name for name in row.names if name).removeprefix(IMPORTED)
        raise UserError(
            f"{self.file}:{row.line}: episode {row.episode} of {names} is on line {before.line}, too, with other "
            "values; number the episodes, or leave one out. Nothing was imported."
        )

    def in_order(self) -> list[tuple[int, _Row]]:
        """By episode; those without a number take the numbers that are free, from 1 up."""
        found, number = dict(self.numbered), 1
        for row in self.others:
            while number in found:
                number += 1
            found[number] = row
        return sorted(found.items())


def _cells(rows: Mapping[Names, _Rows]) -> Iterator[ImportedCell]:
    """Every cell of an eval has the metrics that any line of this eval has: what one lacks is missing there."""
    metrics: dict[str, set[str]] = {}
    for names, some in rows.items():
        for row in (*some.numbered.values(), *some.others):
            metrics.setdefault(names[3], set()).update(row.scores)
    for names, some in rows.items():
        known = tuple(sorted(metrics[names[3]])) or (WHOLE,)
        yield ImportedCell(
            names,
            known,
            tuple(
                ImportedRun(episode, tuple(row.scores.get(name) for name in known), row.cost, row.seconds)
                for episode, row in some.in_order()
            ),
        )


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _shown(value: Any) -> str:
    """A value of a file in a sentence."""
    return ascii(value)[:60] if not isinstance(value, dict | list) else "an object or a list"

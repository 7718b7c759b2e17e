"""Reads the exports of shop, till and newsletter into raw records."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from onelist.errors import OnelistError
from onelist.settings import Settings


@dataclass(frozen=True)
class Form:
    """How an export is written."""

    source: str
    """What its records are called by, as in `news:7a`."""
    name: str
    """What file and settings are called by."""
    encoding: str
    delimiter: str
    key: str
    """The column that tells a record from others."""
    has_title: bool = False
    has_total: bool = False


FORMS = (
    Form("shop", "shop", "utf-8-sig", ",", "id"),
    Form("till", "till", "cp1252", ";", "card", has_title=True, has_total=True),
    Form("news", "newsletter", "utf-16", "\t", "id"),
)


@dataclass(frozen=True)
class Raw:
    """One customer in one export: cells exactly as they are there, by our names for the columns."""

    key: str
    source: str
    cells: dict[str, str]


def read_folder(folder: Path, settings: Settings) -> dict[str, list[Raw]]:
    """The records of each export that the folder has, by source."""
    paths = {form: folder / f"{form.name}.csv" for form in FORMS}
    found = {form.source: read(path, form, settings) for form, path in paths.items() if path.is_file()}
    if not found:
        raise OnelistError(f"There is no export in {folder}: expected shop.csv, till.csv or newsletter.csv.")
    return found


def read(path: Path, form: Form, settings: Settings) -> list[Raw]:
    """A record that comes twice counts as its later row."""
    headers = settings.headers[form.name]
    records = {}
    for row in _rows(path, form, headers.values()):
        cells = {column: row[header] or "" for column, header in headers.items()}
        key = record_key(f"{form.source}:{cells[form.key].strip()}")
        records[key] = Raw(key, form.source, cells)
    return list(records.values())


def record_key(text: str) -> str:
    """What we call a record, however it was typed: leading zeros of cards come and go."""
    source, _, own = text.partition(":")
    return f"till:{own.lstrip('0')}" if source == "till" else text


def _rows(path: Path, form: Form, headers: Iterable[str]) -> list[dict[str, str]]:
    try:
        text = path.read_bytes().decode(form.encoding)
    except UnicodeError as error:
        raise OnelistError(f"{path} cannot be read as {form.encoding}: {error}.") from error
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=form.delimiter) if line]
    if form.has_title:
        del lines[:1]
    if form.has_total and lines and lines[-1][0].startswith("Total"):
        del lines[-1]
    top = lines[0] if lines else []
    for header in headers:
        if header not in top:
            raise OnelistError(f"{path} has no column {header!r}; nothing was imported.")
    return [dict(zip_longest(top, line[: len(top)], fillvalue="")) for line in lines[1:]]

# SPDX-License-Identifier: LicenseRef-Papierhof
"""The one place that reads files."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

from billing.errors import BillingError, TableError

HOME = Path(__file__).resolve().parent.parent


@cache
def load_json(name: str) -> Any:
    """Gives a JSON file of ours, by its path from the top."""
    try:
        return json.loads((HOME / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableError(f"{name}: {error}") from error


@cache
def load_csv(name: str) -> tuple[dict[str, str], ...]:
    """Gives the rows of a CSV file of ours, by its path from the top."""
    try:
        with (HOME / name).open(encoding="utf-8", newline="") as file:
            return tuple(csv.DictReader(file))
    except OSError as error:
        raise TableError(f"{name}: {error}") from error


@cache
def load_text(name: str) -> str | None:
    """Gives a text of ours without blanks around it; None if there is no such file."""
    path = HOME / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else None


def load_records(path: str) -> list[dict[str, Any]]:
    """Gives what somebody hands us: a file with one JSON object a line."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BillingError(f"{path}: {error.strerror}") from error
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BillingError(f"{path}:{number}: {error}") from error
        if not isinstance(record, dict):
            raise BillingError(f"{path}:{number}: not an object")
        records.append(record)
    return records

"""Who works here."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Person:
    id: str
    name: str
    boss: bool


def read_staff(path: Path) -> dict[str, Person]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["id"]: Person(row["id"], row["name"], bool(row.get("boss", False))) for row in rows}

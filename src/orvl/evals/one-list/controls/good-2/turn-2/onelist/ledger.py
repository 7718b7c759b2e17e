"""decisions.txt, as bytes: what people typed into it stays as it is."""

from collections.abc import Iterator
from pathlib import Path


class UnknownRecord(Exception):
    pass


def canonical(text: str) -> str:
    """A record's name without a card's leading zeros."""
    return "till:" + text[len("till:") :].lstrip("0") if text.startswith("till:") else text


def check_known(keys: list[str], known: set[str]) -> None:
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise UnknownRecord(f"No import has ever seen {' or '.join(unknown)}.")


class Ledger:
    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> Iterator[tuple[str, list[str]]]:
        for line in self._lines():
            words = line.decode("utf-8", "replace").split()
            if words and words[0] in ("same", "alone"):
                yield words[0], [canonical(word) for word in words[1:]]

    def enter(self, kind: str, keys: list[str]) -> None:
        before = b"".join(self._lines())
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        self.path.write_bytes(before + gap + " ".join([kind, *keys]).encode() + b"\n")

    def _lines(self) -> list[bytes]:
        return self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []

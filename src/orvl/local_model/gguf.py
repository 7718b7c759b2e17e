"""What the head of a GGUF file tells: how long a context the model knows, and which tokens steer it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
CONTROL_TOKEN = 3
MOST_ENTRIES = 1 << 24
LONGEST_TEXT = 1 << 24


@dataclass(frozen=True)
class Head:
    """The part of a GGUF file's head that matters here."""

    context: int | None
    control_tokens: tuple[str, ...]


def read_head(path: Path) -> Head:
    """Reads the head; a ValueError says what is wrong with it."""
    with path.open("rb") as file:
        magic, version, _, entries = struct.unpack("<4sIQQ", _taken(file, 24))
        if magic != b"GGUF" or version < 2:
            raise ValueError("it is not a GGUF file of version 2 or newer")
        told = dict(_entry(file) for _ in range(_bounded(entries, MOST_ENTRIES)))
    context = told.get(f"{told.get('general.architecture')}.context_length")
    tokens, kinds = told.get("tokenizer.ggml.tokens", []), told.get("tokenizer.ggml.token_type", [])
    control = tuple(text for text, kind in zip(tokens, kinds, strict=False) if kind == CONTROL_TOKEN and len(text) > 1)
    return Head(context if isinstance(context, int) else None, control)


def _entry(file: BinaryIO) -> tuple[str, Any]:
    name = _text(file)
    return name, _value(file, _number(file, "I"))


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == TEXT:
        return _text(file)
    if kind in NUMBERS:
        return _number(file, NUMBERS[kind])
    if kind != LIST:
        raise ValueError(f"its head has a value of the unknown kind {kind}")
    of, length = _number(file, "I"), _bounded(_number(file, "Q"), MOST_ENTRIES)
    if of in NUMBERS:
        form = f"<{length}{NUMBERS[of]}"
        return list(struct.unpack(form, _taken(file, struct.calcsize(form))))
    return [_value(file, of) for _ in range(length)]


def _text(file: BinaryIO) -> str:
    return _taken(file, _bounded(_number(file, "Q"), LONGEST_TEXT)).decode(errors="replace")


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack("<" + form, _taken(file, struct.calcsize("<" + form)))[0]


def _taken(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise ValueError("its head ends too early")
    return data


def _bounded(number: int, most: int) -> int:
    if number > most:
        raise ValueError("its head has an impossible length")
    return number

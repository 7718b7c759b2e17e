"""Reads the head of a GGUF file: the model's context length and its control tokens."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

NUMBER_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
CONTROL_TOKEN = 3
MAX_ENTRIES = 1 << 24
MAX_STRING = 1 << 24


@dataclass(frozen=True)
class Head:
    """The part of a GGUF file's head that matters here."""

    context: int | None
    control_tokens: tuple[str, ...]


def read_head(path: Path) -> Head:
    """Reads the head; a ValueError says what is wrong with it."""
    with path.open("rb") as file:
        magic, version, _, entries = struct.unpack("<4sIQQ", _read(file, 24))
        if magic != b"GGUF" or version < 2:
            raise ValueError("it is not a GGUF file of version 2 or newer")
        values = dict(_entry(file) for _ in range(_bounded(entries, MAX_ENTRIES)))
    context = values.get(f"{values.get('general.architecture')}.context_length")
    tokens, kinds = values.get("tokenizer.ggml.tokens", []), values.get("tokenizer.ggml.token_type", [])
    control = tuple(text for text, kind in zip(tokens, kinds, strict=False) if kind == CONTROL_TOKEN and len(text) > 1)
    return Head(context if isinstance(context, int) else None, control)


def _entry(file: BinaryIO) -> tuple[str, Any]:
    name = _string(file)
    return name, _value(file, _number(file, "I"))


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind in NUMBER_FORMATS:
        return _number(file, NUMBER_FORMATS[kind])
    if kind != ARRAY:
        raise ValueError(f"its head has a value of unknown type {kind}")
    item_kind, length = _number(file, "I"), _bounded(_number(file, "Q"), MAX_ENTRIES)
    if item_kind in NUMBER_FORMATS:
        form = f"<{length}{NUMBER_FORMATS[item_kind]}"
        return list(struct.unpack(form, _read(file, struct.calcsize(form))))
    return [_value(file, item_kind) for _ in range(length)]


def _string(file: BinaryIO) -> str:
    return _read(file, _bounded(_number(file, "Q"), MAX_STRING)).decode(errors="replace")


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack("<" + form, _read(file, struct.calcsize("<" + form)))[0]


def _read(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise ValueError("its head ends too early")
    return data


def _bounded(number: int, most: int) -> int:
    # A broken length must not become an attempt to read terabytes.
    if number > most:
        raise ValueError("its head has an impossible length")
    return number

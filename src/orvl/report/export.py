"""Runs and scores as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO

from orvl.errors import UserError
from orvl.report.text import no_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INTEGERS = ("episode", "attempt", "input_tokens", "cached_tokens", "output_tokens", "tool_calls", "sample")
FLOATS = ("started", "seconds", "cost_usd", "value")


def write_rows(names: Sequence[str], chunks: Iterator[list[tuple[Any, ...]]], form: str, out: BinaryIO) -> int:
    """Writes all rows and returns how many they were."""
    writer = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[form]
    return writer(names, chunks, out)


def _csv(names: Sequence[str], chunks: Iterator[list[tuple[Any, ...]]], out: BinaryIO) -> int:
    text = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(names)
    count = 0
    for chunk in chunks:
        writer.writerows([[no_formula(value) for value in row] for row in chunk])
        count += len(chunk)
    text.detach()
    return count


def _jsonl(names: Sequence[str], chunks: Iterator[list[tuple[Any, ...]]], out: BinaryIO) -> int:
    count = 0
    for chunk in chunks:
        out.writelines(json.dumps(dict(zip(names, row, strict=True))).encode() + b"\n" for row in chunk)
        count += len(chunk)
    return count


def _parquet(names: Sequence[str], chunks: Iterator[list[tuple[Any, ...]]], out: BinaryIO) -> int:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError as error:
        raise UserError("Parquet needs pyarrow: pip install 'orvl[parquet]'") from error
    kinds = {**dict.fromkeys(INTEGERS, pa.int64()), **dict.fromkeys(FLOATS, pa.float64())}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    count = 0
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for chunk in chunks:
            columns = [
                pa.array(values, kinds.get(name, pa.string()))
                for name, values in zip(names, zip(*chunk, strict=True), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            count += len(chunk)
    return count

"""Runs and scores as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO

from orvl.errors import UserError
from orvl.report.text import no_formula

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from orvl.rate.exported import Rated

INTEGERS = ("episode", "attempt", "input_tokens", "cached_tokens", "output_tokens", "tool_calls", "sample")
FLOATS = ("started", "seconds", "cost_usd", "value", "told", "R", "R_pen", "weight", "judge_weight", "earned")


def write_rows(names: Sequence[str], chunks: Iterator[list[tuple[Any, ...]]], form: str, out: BinaryIO) -> int:
    """Writes all rows and returns how many they were."""
    writer = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[form]
    return writer(names, chunks, out)


def with_ratings(
    names: Sequence[str],
    chunks: Iterator[list[Any]],
    current: Collection[str],
    rated: Rated,
    metrics: Collection[str] | None,
) -> tuple[list[str], Iterator[list[Any]]]:
    """The rows with what they were rated; of scores, those of the chosen metrics alone."""
    place = {name: i for i, name in enumerate(names)}
    is_scores = "metric" in place
    weights = {panel: json.dumps(shares) for panel, shares in rated.metrics.items()}
    more = ("weight", "judge_weight", "earned") if is_scores else ("weights",)

    def row_of(row: tuple[Any, ...]) -> tuple[Any, ...]:
        attempt = row[place["attempt"]]
        R, R_pen = rated.ratings.get(attempt, (None, None))
        panel, source = rated.panels.get(row[0], ""), rated.sources.get(row[0])
        if not is_scores:
            return (*row[1:], row[0] in current, R, R_pen, weights.get(panel), source)
        weight = rated.metric_keys.get(panel, {}).get(row[place["metric_key"]])
        judge = rated.judge_keys.get(panel, {}).get(row[place["judge_key"]]) if row[place["judge"]] else None
        earned = rated.earned_of(panel, row[place["metric_key"]], attempt)
        return (*row[1:], row[0] in current, R, R_pen, weight, judge, earned, source)

    def is_meant(row: tuple[Any, ...]) -> bool:
        return not is_scores or metrics is None or row[place["metric"]] in metrics

    rated_chunks = ([row_of(row) for row in chunk if is_meant(row)] for chunk in chunks)
    return [*names[1:], "current", "R", "R_pen", *more, "imported"], (chunk for chunk in rated_chunks if chunk)


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
    kinds = {"current": pa.bool_(), **dict.fromkeys(INTEGERS, pa.int64()), **dict.fromkeys(FLOATS, pa.float64())}
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

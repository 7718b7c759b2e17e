"""`orvl export`: runs and scores as CSV, JSON lines and Parquet."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as pq


def test_export_in_three_forms(small):
    assert small.orvl("writer", "--eval=one", "--episodes=3").status == 0
    for form in ("csv", "jsonl", "parquet"):
        for what in ("runs", "scores"):
            written = small.orvl("export", what, f"{what}.{form}")
            assert (written.status, written.out) == (0, f"3 {what} written to {what}.{form}\n")
    rows = list(csv.DictReader(io.StringIO((small.root / "runs.csv").read_text())))
    lines = [json.loads(line) for line in (small.root / "runs.jsonl").read_text().splitlines()]
    table = pq.read_table(small.root / "runs.parquet").to_pylist()
    assert [row["run"] for row in rows] == [row["run"] for row in lines] == [row["run"] for row in table]
    assert lines == table
    assert table[0]["outcome"] == "finished"
    scores = pq.read_table(small.root / "scores.parquet").to_pylist()
    assert all(0 < row["value"] <= 1 for row in scores)
    assert small.orvl("export", "runs", "-", "--format=jsonl").out.count("\n") == 3
    wrong = small.orvl("export", "runs", "x.txt")
    assert wrong.status == 2
    assert "--format" in wrong.err
    assert small.orvl("export", "runs", "/no/such/folder/x.csv").status == 2

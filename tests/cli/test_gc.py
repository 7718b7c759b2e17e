"""`orvl gc`: deletes what no run refers to."""

from __future__ import annotations


def test_gc_deletes_only_what_nobody_refers_to(small):
    assert small.orvl("writer", "--eval=one").status == 0
    stray = small.root / ".orvl/blobs/ab"
    stray.mkdir(exist_ok=True)
    (stray / "cdef.1234.part").write_text("half")
    (stray / f"{'0' * 62}.zst").write_text("unused")
    assert small.orvl("gc", "--dry-run").out.startswith("2 files")
    assert (stray / "cdef.1234.part").exists()
    assert small.orvl("gc").out.startswith("2 files")
    assert not list(stray.glob("cdef*"))
    assert small.orvl("doctor").status == 0
    assert small.orvl("show", "writer/one/1", "--file", "answer.txt").out == "Say hello."

"""`doctor` and `gc` ask a store a few questions, however many runs it has."""

from __future__ import annotations

from orvl.store.sqlite import SqliteStore


def questions(project) -> list[int]:
    """How many statements it takes to check a store, and to find what it refers to."""
    numbers = []
    for look in (SqliteStore.integrity, SqliteStore.referenced):
        with SqliteStore(project.root / ".orvl", write=False) as store:
            asked: list[str] = []
            store.db.set_trace_callback(asked.append)
            assert look(store) is not None
            numbers.append(len(asked))
    return numbers


def test_the_number_of_questions_does_not_grow_with_the_runs(small):
    assert small.orvl("writer", "--eval", "one", "--episodes", "2").status == 0
    few = questions(small)
    assert small.orvl("writer", "--eval", "one", "--episodes", "12").status == 0
    assert questions(small) == few

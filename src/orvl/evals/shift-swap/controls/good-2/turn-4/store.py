"""Keeps the book in an SQLite file. Whatever changed is in the file before the phone hears of it."""

import json
import sqlite3
from pathlib import Path

import clock
from book import Book, Shift, Swap

SINCE_MARCH = """
create table if not exists done_swaps (
  swap integer primary key,
  at text not null
);
create table if not exists replies (
  mark text primary key,
  status integer not null,
  answer text not null
);
-- Nobody approves any more: whoever was asked can say yes again.
update swaps set state = 'asked' where state = 'accepted';
"""
"""Beside schema.sql, for files of any age."""


class Store:
    def __init__(self, path: str) -> None:
        self._file = sqlite3.connect(path, timeout=60)
        self._file.executescript(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
        self._file.executescript(SINCE_MARCH)

    def load(self) -> Book:
        book = Book()
        for number, starts, ends, staff in self._file.execute("select id, starts, ends, staff from shifts"):
            book.shifts[number] = Shift(number, clock.minutes(starts), clock.minutes(ends), staff)
        for *row, done in self._file.execute(
            """select id, shift, asked_by, asked_of, in_return, state, at
               from swaps left join done_swaps on swap = id"""
        ):
            book.swaps[row[0]] = Swap(*row, done and clock.minutes(done))
        book.last_shift, book.last_swap = self._last("shifts"), self._last("swaps")
        return book

    def reply(self, mark: str) -> tuple[int, object] | None:
        """What was answered to a request with this mark."""
        row = self._file.execute("select status, answer from replies where mark = ?", (mark,)).fetchone()
        return row and (row[0], json.loads(row[1]))

    def save(self, book: Book, mark: str | None, status: int, answer: object) -> None:
        """Writes all changes of the book, and the answer that tells of them, in one go."""
        with self._file:
            if mark is not None:
                self._file.execute("insert into replies values (?, ?, ?)", (mark, status, json.dumps(answer)))
            for number in book.changed_shifts:
                self._save_shift(number, book.shifts.get(number))
            for number in book.changed_swaps:
                self._save_swap(book.swaps[number])
        book.forget_changes()

    def _save_shift(self, number: int, shift: Shift | None) -> None:
        if shift is None:
            self._file.execute("delete from shifts where id = ?", (number,))
            return
        self._file.execute(
            """insert into shifts (id, starts, ends, staff) values (?, ?, ?, ?)
               on conflict (id) do update set staff = excluded.staff""",
            (number, clock.text(shift.start), clock.text(shift.end), shift.staff),
        )

    def _save_swap(self, swap: Swap) -> None:
        self._file.execute(
            """insert into swaps (id, shift, asked_by, asked_of, in_return, state) values (?, ?, ?, ?, ?, ?)
               on conflict (id) do update set state = excluded.state""",
            (swap.id, swap.shift, swap.asker, swap.asked, swap.in_return, swap.state),
        )
        if swap.done is not None:
            self._file.execute("insert or replace into done_swaps values (?, ?)", (swap.id, clock.text(swap.done)))

    def _last(self, table: str) -> int:
        row = self._file.execute("select seq from sqlite_sequence where name = ?", (table,)).fetchone()
        return row[0] if row else 0

"""Keeps the book in an SQLite file. Whatever changed is in the file before the phone hears of it."""

import sqlite3
from pathlib import Path

import clock
from book import Book, Shift, Swap


class Store:
    def __init__(self, path: str) -> None:
        self._file = sqlite3.connect(path, timeout=60)
        self._file.executescript(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))

    def load(self) -> Book:
        book = Book()
        for number, starts, ends, staff in self._file.execute("select id, starts, ends, staff from shifts"):
            book.shifts[number] = Shift(number, clock.minutes(starts), clock.minutes(ends), staff)
        for row in self._file.execute("select id, shift, asked_by, asked_of, in_return, state from swaps"):
            book.swaps[row[0]] = Swap(*row)
        book.last_shift, book.last_swap = self._last("shifts"), self._last("swaps")
        return book

    def save(self, book: Book) -> None:
        """Writes all changes of the book in one go."""
        with self._file:
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

    def _last(self, table: str) -> int:
        row = self._file.execute("select seq from sqlite_sequence where name = ?", (table,)).fetchone()
        return row[0] if row else 0

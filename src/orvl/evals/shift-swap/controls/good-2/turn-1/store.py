"""Keeps the book in an SQLite file. Whatever changed is in the file before the phone hears of it."""

import sqlite3
from pathlib import Path

import clock
from book import Book, Shift


class Store:
    def __init__(self, path: str) -> None:
        self._file = sqlite3.connect(path, timeout=60)
        self._file.executescript(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))

    def load(self) -> Book:
        book = Book()
        for number, starts, ends, staff in self._file.execute("select id, starts, ends, staff from shifts"):
            book.shifts[number] = Shift(number, clock.minutes(starts), clock.minutes(ends), staff)
        book.last_shift = self._last("shifts")
        return book

    def save(self, book: Book) -> None:
        """Writes all changes of the book in one go."""
        with self._file:
            for number in book.changed_shifts:
                self._save_shift(number, book.shifts.get(number))
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

    def _last(self, table: str) -> int:
        row = self._file.execute("select seq from sqlite_sequence where name = ?", (table,)).fetchone()
        return row[0] if row else 0

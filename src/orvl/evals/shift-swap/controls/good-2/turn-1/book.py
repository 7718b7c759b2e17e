"""The book of shifts in memory: what is in it, and what may be done with it."""

from dataclasses import dataclass

import clock

BREAK = {{rest}}
MOST_A_WEEK = {{hours}} * 60
FIRST_DAY = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split().index("{{first_day}}")


class No(Exception):
    """A refusal: its status, and why."""


@dataclass
class Shift:
    id: int
    start: int
    end: int
    staff: str | None = None

    def shown(self) -> dict:
        return {"id": self.id, "start": clock.text(self.start), "end": clock.text(self.end), "staff": self.staff}

    @property
    def week(self) -> int:
        return (self.start // clock.MINUTES_A_DAY - FIRST_DAY) // 7


class Book:
    def __init__(self) -> None:
        self.shifts: dict[int, Shift] = {}
        self.last_shift = 0
        self.forget_changes()

    def forget_changes(self) -> None:
        self.changed_shifts: set[int] = set()

    # -- looking

    def shift(self, number: int) -> Shift:
        if number not in self.shifts:
            raise No(404, f"There is no shift {number}.")
        return self.shifts[number]

    def coming(self, number: int, now: int) -> Shift:
        shift = self.shift(number)
        if shift.start <= now:
            raise No(409, f"Shift {number} is history.")
        return shift

    def days(self, first: int | None, last: int | None, staff: str | None) -> list[Shift]:
        found = [
            shift
            for shift in self.shifts.values()
            if (first is None or shift.start >= first)
            and (last is None or shift.start < last + clock.MINUTES_A_DAY)
            and (staff is None or shift.staff == staff)
        ]
        return sorted(found, key=lambda shift: (shift.start, shift.id))

    # -- writing

    def add(self, start: int, end: int) -> Shift:
        if end <= start:
            raise No(400, "A shift has to end after its start.")
        self.last_shift += 1
        self.shifts[self.last_shift] = Shift(self.last_shift, start, end)
        self.changed_shifts.add(self.last_shift)
        return self.shifts[self.last_shift]

    def remove(self, number: int, now: int) -> None:
        self.coming(number, now)
        del self.shifts[number]
        self.changed_shifts.add(number)

    def take(self, who: str, number: int, now: int) -> Shift:
        shift = self.coming(number, now)
        if shift.staff not in (None, who):
            raise No(409, f"{shift.staff} has that shift.")
        if shift.staff is None:
            self.check(who, shift)
            self.hand(shift, who)
        return shift

    def drop(self, who: str, boss: bool, number: int, now: int) -> Shift:
        shift = self.coming(number, now)
        if shift.staff is None:
            raise No(409, "Nobody has that shift.")
        if not boss and shift.staff != who:
            raise No(403, f"That shift belongs to {shift.staff}.")
        self.hand(shift, None)
        return shift

    def hand(self, shift: Shift, staff: str | None) -> None:
        shift.staff = staff
        self.changed_shifts.add(shift.id)

    def check(self, who: str, gets: Shift) -> None:
        """Refuses if somebody who gets a shift would break a rule."""
        theirs = [shift for shift in self.shifts.values() if shift.staff == who]
        for other in theirs:
            if other.start < gets.end + BREAK and gets.start < other.end + BREAK:
                raise No(409, f"{who} needs {BREAK} minutes between shifts {other.id} and {gets.id}.")
        worked = sum(shift.end - shift.start for shift in theirs if shift.week == gets.week)
        if worked + gets.end - gets.start > MOST_A_WEEK:
            raise No(409, f"That is more than {MOST_A_WEEK // 60} hours in a week for {who}.")

"""The book of shifts in memory: what is in it, and what may be done with it."""

from dataclasses import dataclass

import clock

BREAK = {{rest}}
MOST_A_WEEK = {{hours}} * 60
UNDO_FOR = {{undo}} * 60
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


@dataclass
class Swap:
    id: int
    shift: int
    asker: str
    asked: str
    in_return: int | None
    state: str = "asked"
    done: int | None = None
    """When it was done; not known of those that were done before anybody asked."""

    def shown(self) -> dict:
        row = {"id": self.id, "shift": self.shift, "from": self.asker, "to": self.asked}
        return row | {"for": self.in_return, "state": self.state}

    def names(self, number: int) -> bool:
        return number in (self.shift, self.in_return)


class Book:
    def __init__(self) -> None:
        self.shifts: dict[int, Shift] = {}
        self.swaps: dict[int, Swap] = {}
        self.last_shift = self.last_swap = 0
        self.forget_changes()

    def forget_changes(self) -> None:
        self.changed_shifts: set[int] = set()
        self.changed_swaps: set[int] = set()

    @property
    def has_changed(self) -> bool:
        return bool(self.changed_shifts or self.changed_swaps)

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

    def swap(self, number: int) -> Swap:
        if number not in self.swaps:
            raise No(404, f"There is no swap {number}.")
        return self.swaps[number]

    def swaps_of(self, who: str | None) -> list[Swap]:
        return [swap for _, swap in sorted(self.swaps.items()) if who in (None, swap.asker, swap.asked)]

    # -- writing shifts

    def add(self, start: int, end: int) -> Shift:
        if end <= start:
            raise No(400, "A shift has to end after its start.")
        self.last_shift += 1
        self.shifts[self.last_shift] = Shift(self.last_shift, start, end)
        self.changed_shifts.add(self.last_shift)
        return self.shifts[self.last_shift]

    def remove(self, number: int, now: int) -> None:
        self.lapse(self.coming(number, now))
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
        self.lapse(shift)
        shift.staff = staff
        self.changed_shifts.add(shift.id)

    def lapse(self, shift: Shift) -> None:
        """Ends the open swaps of a shift that goes another way."""
        for swap in self.swaps.values():
            if swap.state == "asked" and swap.names(shift.id):
                self.mark(swap, "lapsed")

    def check(self, who: str, gets: Shift, gives: Shift | None = None) -> None:
        """Refuses if somebody who gets a shift, and gives another away, would break a rule."""
        theirs = [shift for shift in self.shifts.values() if shift.staff == who and shift is not gives]
        for other in theirs:
            if other.start < gets.end + BREAK and gets.start < other.end + BREAK:
                raise No(409, f"{who} needs {BREAK} minutes between shifts {other.id} and {gets.id}.")
        worked = sum(shift.end - shift.start for shift in theirs if shift.week == gets.week)
        if worked + gets.end - gets.start > MOST_A_WEEK:
            raise No(409, f"That is more than {MOST_A_WEEK // 60} hours in a week for {who}.")

    # -- writing swaps

    def ask(self, who: str, number: int, other: str, in_return: int | None, now: int) -> Swap:
        if self.coming(number, now).staff != who:
            raise No(403, "You can only ask about shifts of your own.")
        if in_return is not None and self.coming(in_return, now).staff != other:
            raise No(409, f"{other} does not have shift {in_return}.")
        self.last_swap += 1
        swap = self.swaps[self.last_swap] = Swap(self.last_swap, number, who, other, in_return)
        self.changed_swaps.add(swap.id)
        return swap

    def mark(self, swap: Swap, state: str) -> Swap:
        swap.state = state
        self.changed_swaps.add(swap.id)
        return swap

    def accept(self, swap: Swap, now: int) -> None:
        self._exchange(swap, swap.asker, swap.asked, now)
        swap.done = now

    def undo(self, swap: Swap, now: int) -> None:
        if swap.done is None or now > swap.done + UNDO_FOR:
            raise No(409, "That was too long ago.")
        self._exchange(swap, swap.asked, swap.asker, now)

    def _exchange(self, swap: Swap, giver: str, taker: str, now: int) -> None:
        """Lets the shifts of a swap change hands."""
        if not {swap.shift, swap.in_return} - {None} <= self.shifts.keys():
            raise No(409, "One of these shifts does not exist any more.")
        gives = self.coming(swap.shift, now)
        returns = None if swap.in_return is None else self.coming(swap.in_return, now)
        if gives.staff != giver or (returns and returns.staff != taker):
            raise No(409, "Somebody else has one of these shifts by now.")
        self.check(taker, gives, returns)
        if returns:
            self.check(giver, returns, gives)
            self.hand(returns, giver)
        self.hand(gives, taker)

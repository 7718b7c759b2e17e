"""The café as it should be: a plain model of Jonas's notes and of what Rosa says.

Each `may_…` method gives the statuses with which something is refused, none of them if it is done. Where the notes leave
open which of several reasons counts, all of their statuses are right. Each `do_…` method then does it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
OPEN = ("asked", "accepted")


def written(time):
    return time.strftime("%Y-%m-%dT%H:%M")


@dataclass
class Shift:
    id: int
    start: datetime
    end: datetime
    staff: "str | None" = None
    moved_by: "int | None" = None
    """The swap that gave it to who has it now."""

    def json(self):
        return {"id": self.id, "start": written(self.start), "end": written(self.end), "staff": self.staff}


@dataclass
class Swap:
    id: int
    shift: int
    asked_by: str
    asked_of: str
    in_return: "int | None"
    state: str = "asked"
    done_at: "datetime | None" = None

    @property
    def shifts(self):
        return [self.shift] if self.in_return is None else [self.shift, self.in_return]

    def json(self):
        return {
            **{"id": self.id, "shift": self.shift, "from": self.asked_by, "to": self.asked_of},
            **{"for": self.in_return, "state": self.state},
        }


@dataclass(frozen=True)
class Rules:
    rest: timedelta
    hours: timedelta
    first_day: int
    undo: timedelta
    approvals: bool = False

    def week(self, time):
        day = time.replace(hour=0, minute=0)
        while day.weekday() != self.first_day:
            day -= timedelta(days=1)
        return day


class Cafe:
    def __init__(self, rules, bosses):
        self.rules, self.bosses = rules, bosses
        self.shifts, self.swaps = {}, {}

    # -- shifts

    def listed(self, first=None, last=None, staff=None):
        found = [
            shift
            for shift in self.shifts.values()
            if (first is None or shift.start.date() >= first)
            and (last is None or shift.start.date() <= last)
            and staff in (None, shift.staff)
        ]
        return [shift.json() for shift in sorted(found, key=lambda shift: (shift.start, shift.id))]

    def fits(self, who, shift, without=()):
        """Whether somebody may have a shift beside the others that they have."""
        others = [one for one in self.shifts.values() if one.staff == who and one.id not in (shift.id, *without)]
        for other in others:
            if other.end + self.rules.rest > shift.start and shift.end + self.rules.rest > other.start:
                return False
        week = self.rules.week(shift.start)
        hours = [one.end - one.start for one in [*others, shift] if self.rules.week(one.start) == week]
        return sum(hours, timedelta()) <= self.rules.hours

    def may_make(self, who):
        return set() if who in self.bosses else {403}

    def may_delete(self, who, number, now):
        return self._history(number, now) | self.may_make(who)

    def do_delete(self, number):
        self._lapse(number)
        del self.shifts[number]

    def may_take(self, who, number, now):
        refused = self._history(number, now)
        shift = self.shifts.get(number)
        if shift and shift.staff != who and (shift.staff or not self.fits(who, shift)):
            refused.add(409)
        return refused

    def do_take(self, who, number):
        if self.shifts[number].staff != who:
            self._give(number, who, None)

    def may_drop(self, who, number, now):
        refused = self._history(number, now)
        shift = self.shifts.get(number)
        if shift and shift.staff != who and who not in self.bosses:
            refused |= {403, 409}
        return refused

    def do_drop(self, number):
        self._give(number, None, None)

    # -- swaps

    def listed_swaps(self, staff=None):
        found = [one for one in self.swaps.values() if staff in (None, one.asked_by, one.asked_of)]
        return [one.json() for one in sorted(found, key=lambda one: one.id)]

    def may_ask(self, who, number, to, in_return, now):
        refused = {404, 400} if number not in self.shifts else self._history(number, now)
        if number in self.shifts and self.shifts[number].staff != who:
            refused |= {403, 409}
        if to == who:
            refused |= {400, 409}
        if in_return is not None:
            refused |= {404, 400} if in_return not in self.shifts else self._history(in_return, now)
            if in_return in self.shifts and self.shifts[in_return].staff != to:
                refused |= {409, 400, 403}
        return refused

    def may_answer(self, verb, who, number, now):
        """accept, decline, withdraw, approve, reject and undo."""
        swap = self.swaps.get(number)
        if swap is None:
            return {404}
        refused = set() if self._is_theirs(verb, who, swap) else {403}
        if swap.state not in self._states(verb):
            refused.add(409)
        if verb in ("accept", "approve", "undo"):
            if any(shift not in self.shifts for shift in swap.shifts):
                return refused | {404, 409}
            if any(self.shifts[shift].start <= now for shift in swap.shifts):
                refused.add(409)
        if self._moves(verb) and not self._can_move(swap, back=verb == "undo"):
            refused.add(409)
        if verb == "undo" and swap.state == "done" and (not swap.done_at or now > swap.done_at + self.rules.undo):
            refused.add(409)
        return refused

    def do_answer(self, verb, number, now):
        swap = self.swaps[number]
        if self._moves(verb):
            self._move(swap, back=verb == "undo")
        if verb == "accept" and not self.rules.approvals:
            swap.done_at = now
        states = {"decline": "declined", "withdraw": "withdrawn", "reject": "rejected", "undo": "undone"}
        last = "accepted" if self.rules.approvals and verb == "accept" else "done"
        swap.state = states.get(verb, last)

    def is_open_question(self, verb, number, now):
        """Whether the notes leave it open what becomes of this."""
        swap = self.swaps[number]
        there = [self.shifts[shift] for shift in swap.shifts if shift in self.shifts]
        if verb in ("decline", "withdraw", "reject"):
            return any(shift.start <= now for shift in there)
        if verb != "undo" or swap.done_at is None:
            return False
        came_back = any(shift.moved_by != swap.id for shift in there) and self._is_where_it_was_put(swap, there)
        return came_back or now == swap.done_at + self.rules.undo

    def _is_where_it_was_put(self, swap, there):
        holders = {swap.shift: swap.asked_of, swap.in_return: swap.asked_by}
        return all(holders[shift.id] == shift.staff for shift in there)

    def _is_theirs(self, verb, who, swap):
        return {
            "accept": who == swap.asked_of,
            "decline": who == swap.asked_of,
            "withdraw": who == swap.asked_by,
            "approve": who in self.bosses,
            "reject": who in self.bosses,
            "undo": who in (swap.asked_by, swap.asked_of, *self.bosses),
        }[verb]

    def _states(self, verb):
        if verb in ("approve", "reject"):
            return ("accepted",)
        if verb == "withdraw":
            return OPEN
        return ("done",) if verb == "undo" else ("asked",)

    def _moves(self, verb):
        return verb in ("approve", "undo") or (verb == "accept" and not self.rules.approvals)

    def _can_move(self, swap, back):
        giver, taker = (swap.asked_of, swap.asked_by) if back else (swap.asked_by, swap.asked_of)
        shift, other = self.shifts[swap.shift], self.shifts.get(swap.in_return)
        if shift.staff != giver or (other and other.staff != taker):
            return False
        if not self.fits(taker, shift, without=swap.shifts):
            return False
        return other is None or self.fits(giver, other, without=swap.shifts)

    def _move(self, swap, back):
        giver, taker = (swap.asked_of, swap.asked_by) if back else (swap.asked_by, swap.asked_of)
        self._give(swap.shift, taker, None if back else swap.id)
        if swap.in_return is not None:
            self._give(swap.in_return, giver, None if back else swap.id)

    # -- both

    def _history(self, number, now):
        if number not in self.shifts:
            return {404}
        return {409} if self.shifts[number].start <= now else set()

    def _give(self, number, staff, moved_by):
        self._lapse(number)
        self.shifts[number].staff, self.shifts[number].moved_by = staff, moved_by

    def _lapse(self, number):
        for swap in self.swaps.values():
            if swap.state in OPEN and number in swap.shifts:
                swap.state = "lapsed"

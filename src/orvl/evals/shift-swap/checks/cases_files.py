"""Databases: those that were made in March, and what is left of any after the plug was pulled."""

import json
import re
import sqlite3
import tempfile
from datetime import timedelta
from pathlib import Path

from orvl import checks

import sessions
from oracle import Shift, Swap, written
from phone import Wrong
from play import DAY, HOUR, WEEK

ORIGINAL = Path(__file__).with_name("original")
HISTORY = 250
"""Shifts that each person has had before, so that looking at all of them takes a moment."""


class March:
    """A database as Jonas made them by hand: rows for `schema.sql`."""

    def __init__(self):
        self.shifts, self.swaps = [], []

    def shift(self, start, end, staff=None):
        self.shifts.append((len(self.shifts) + 1, written(start), written(end), staff))
        return Shift(len(self.shifts), start, end, staff)

    def swap(self, shift, asked_by, asked_of, in_return=None, state="asked"):
        self.swaps.append((len(self.swaps) + 1, shift, asked_by, asked_of, in_return, state))
        return Swap(len(self.swaps), shift, asked_by, asked_of, in_return, state)

    def history(self, people, until):
        """A shift a day for everybody, long before."""
        for day in range(HISTORY, 0, -1):
            for hour, who in enumerate(people):
                self.shift(until - day * DAY + hour * HOUR, until - day * DAY + (hour + 4) * HOUR, who)

    def content(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "march.db")
            connection = sqlite3.connect(path)
            connection.executescript((ORIGINAL / "schema.sql").read_text(encoding="utf-8"))
            connection.executemany("insert into shifts values (?, ?, ?, ?)", self.shifts)
            connection.executemany("insert into swaps values (?, ?, ?, ?, ?, ?)", self.swaps)
            connection.commit()
            connection.close()
            return path.read_bytes()


def hours_of_the_till(database, month):
    """What the till's own program makes of a database."""
    checks.write("wages/hours.py", (ORIGINAL / "till/hours.py").read_bytes())
    ended = checks.run("python3", "-I", "wages/hours.py", database, month, seconds=20)
    if ended.status != 0:
        raise Wrong(f"till/hours.py on {database}: {ended.stderr[-200:]}")
    found = re.findall(r"^(\S+) (\d+):(\d\d)$", ended.stdout, re.MULTILINE)
    return {who: int(hours) * 60 + int(minutes) for who, hours, minutes in found}


def expect_hours(play, *months):
    """Stops the server and compares the hours of all that the model has in these months."""
    play.server.stop()
    for month in months:
        wanted = {}
        for shift in play.cafe.shifts.values():
            if shift.staff and f"{shift.start:%Y-%m}" == month:
                wanted[shift.staff] = wanted.get(shift.staff, 0) + (shift.end - shift.start) // timedelta(minutes=1)
        seen = hours_of_the_till(play.server.database, month)
        if seen != wanted:
            raise Wrong(f"till/hours.py in {month}: expected minutes {wanted}, saw {seen}")
    play.server.start()


def months_of(play):
    return sorted({f"{shift.start:%Y-%m}" for shift in play.cafe.shifts.values()})


# -- the plug is pulled


def _after(session):
    def case(play):
        session(play)
        play.server.restart()
        play.look()
        someone = play.people[5]
        play.take(someone, play.make(play.at(13, 8), play.at(13, 9)), should=True)
        play.look()

    return case


def pulled_after_each_step(play):
    mia, tom = play.people[:2]
    steps = [
        lambda: play.given(mia, play.at(1, 8), play.at(1, 12)),
        lambda: play.given(tom, play.at(1, 8), play.at(1, 12)),
        lambda: play.drop(mia, min(play.cafe.shifts), should=True),
        lambda: play.delete(play.boss, min(play.cafe.shifts), should=True),
    ]
    for step in steps:
        step()
        play.server.restart()
        play.look()


def ids_are_new_after_a_restart(play):
    last = [play.make(play.at(day, 8), play.at(day, 9)) for day in range(3)]
    play.delete(play.boss, last[-1], should=True)
    play.delete(play.boss, last[-2], should=True)
    play.server.restart()
    again = [play.make(play.at(4, 8), play.at(4, 9)) for _ in range(2)]
    play.look()
    play.delete(play.boss, again[0], should=True)
    play.make(play.at(5, 8), play.at(5, 9))
    play.look()


def somebody_new(play):
    """Rosa adds somebody to staff.json, and takes somebody out."""
    number = play.make(play.at(1, 8), play.at(1, 12))
    name = "".join(play.random.choices("aeioumnrst", k=11))
    gone = play.people[-1]
    rows = [row for row in play.team.rows if row["id"] != gone]
    before = play.send("POST", f"/shifts/{number}/take", name)
    checks.write("staff.json", json.dumps([*rows, {"id": name, "name": name.title()}]))
    try:
        play.server.restart()
        after = play.send("POST", f"/shifts/{number}/take", gone)
        play.take(name, number, should=True)
        play.look_at_shifts(staff=name)
    finally:
        checks.write("staff.json", play.team.content())
    play.server.restart()
    if before.status != 401 or after.status != 401:
        raise Wrong(f"expected 401 for who is not in staff.json, saw {before} and {after}")
    play.drop(play.boss, number, should=True)
    play.look()


def the_till_counts_it(play):
    sessions.rota_session(play)
    expect_hours(play, *months_of(play))
    play.look()


def a_file_of_its_own(play):
    """Two databases have nothing to do with each other."""
    number = play.given(play.people[0], play.at(1, 8), play.at(1, 12))
    first = play.server.database
    play.server.stop()
    play.server.database = "other-" + first
    play.server.start()
    try:
        seen = play.send("GET", "/shifts", play.boss)
        other = play.send("POST", f"/shifts/{number}/drop", play.people[0])
        made = play.send("POST", "/shifts", play.boss, {"start": written(play.at(2)), "end": written(play.at(2, 4))})
    finally:
        play.server.stop()
        play.server.database = first
        play.server.start()
    if (seen.status, seen.data, other.status, made.status) != (200, [], 404, 201):
        raise Wrong(f"expected an empty database, where a shift can be made, saw {seen}, {other}, {made}")
    play.look()
    play.drop(play.people[0], number, should=True)


RESTARTS = (
    *(pulled_after_each_step, ids_are_new_after_a_restart, somebody_new, the_till_counts_it, a_file_of_its_own),
    *(_after(sessions.rota_session),) * 3,
)


# -- files of March


def march_of(play, march):
    """Some weeks of a case in a file of March: what the model knows of them."""
    mia, tom = play.people[:2]
    start = play.random.randint(7, 10)
    rows = [(1, start, 15, mia), (1, start, 14, tom), (2, 9, 14, None), (3, 16, 25.5, mia), (5, 8, 12, None)]
    for day, first, last, staff in rows:
        shift = march.shift(play.at(day, first), play.at(day, last), staff)
        play.cafe.shifts[shift.id] = shift
        play.made.add(shift.id)


def old_shifts(play):
    mia, tom, lea = play.people[:3]
    numbers = sorted(play.cafe.shifts)
    play.look()
    play.look_at_shifts(play.at(2).date(), play.at(9).date(), mia)
    play.take(lea, numbers[0], should=False)
    play.take(mia, numbers[2], should=True)
    play.drop(tom, numbers[1], should=True)
    play.take(lea, numbers[1], should=True)
    play.delete(play.boss, numbers[4], should=True)
    play.look()
    expect_hours(play, *months_of(play))
    play.look()


def old_shifts_and_breaks(play):
    mia, tom = play.people[:2]
    night = max((one for one in play.cafe.shifts.values() if one.staff == mia), key=lambda one: one.start)
    rest = play.rules.rest
    play.take(mia, play.make(night.end + rest - timedelta(minutes=1), night.end + 3 * HOUR), should=False)
    play.take(mia, play.make(night.end + rest, night.end + 3 * HOUR), should=True)
    play.take(tom, play.make(night.end, night.end + 3 * HOUR), should=True)
    play.look()


def old_shifts_and_hours(play):
    mia, tom = play.people[:2]
    used = sum((one.end - one.start for one in play.cafe.shifts.values() if one.staff == mia), timedelta())
    left = play.rules.hours - used
    half = left // 2 // timedelta(minutes=1) * timedelta(minutes=1)
    play.given(mia, play.at(5, 8), play.at(5, 8) + half)
    start = play.at(6, 8)
    play.take(mia, play.make(start, start + left - half + timedelta(minutes=1)), should=False)
    play.take(tom, play.make(start, start + left - half), should=True)
    play.take(mia, play.make(start, start + left - half), should=True)
    play.look()


def new_beside_old_shifts(play):
    last = max(play.cafe.shifts)
    new = play.make(play.at(4, 8), play.at(4, 12))
    play.delete(play.boss, last, should=True)
    play.server.restart()
    play.make(play.at(4, 8), play.at(4, 12))
    play.take(play.people[2], new, should=True)
    play.look()


MARCH = (old_shifts, old_shifts_and_breaks, old_shifts_and_hours, new_beside_old_shifts) * 2


# -- swaps of March, from the days of approvals


def _rows(play, march, states):
    """A pair of people with a shift each for every state, on days of their own, and a swap of these."""
    for index, (state, trade) in enumerate(states):
        mia, tom = play.people[2 * index : 2 * index + 2]
        shifts = []
        for who, day in ((mia, 1), (tom, 3)):
            shift = march.shift(play.at(day, 8), play.at(day, 13), who)
            shifts.append(shift)
        if state == "done":
            shifts[0].staff = tom
            march.shifts[shifts[0].id - 1] = (*march.shifts[shifts[0].id - 1][:3], tom)
            if trade:
                shifts[1].staff = mia
                march.shifts[shifts[1].id - 1] = (*march.shifts[shifts[1].id - 1][:3], mia)
        for shift in shifts:
            play.cafe.shifts[shift.id] = shift
            play.made.add(shift.id)
        swap = march.swap(shifts[0].id, mia, tom, shifts[1].id if trade else None, state)
        swap.state = "asked" if state == "accepted" else state
        play.cafe.swaps[swap.id] = swap


def _case(states, act):
    def prepare(play, march):
        _rows(play, march, states)

    def case(play):
        play.look()
        act(play, sorted(play.cafe.swaps))
        play.look()
        play.server.restart()
        play.look()

    case.prepare = prepare
    return case


def _of(play, number):
    swap = play.cafe.swaps[number]
    return swap.asked_by, swap.asked_of


def _accept_all(play, numbers):
    for number in numbers:
        play.answer("accept", play.cafe.swaps[number].asked_of, number, should=True)


def _accept_and_undo(play, numbers):
    _accept_all(play, numbers)
    play.look()
    play.server.restart()
    for number in numbers:
        play.answer("undo", play.cafe.swaps[number].asked_by, number, should=True)


def _end_without(play, numbers):
    first, second, third = numbers
    play.answer("decline", play.cafe.swaps[first].asked_of, first, should=True)
    play.answer("withdraw", play.cafe.swaps[second].asked_by, second, should=True)
    play.drop(play.boss, play.cafe.swaps[third].shift, should=True)


def _stays_done(play, numbers):
    *done, open_ = numbers
    for number in done:
        for who in (*_of(play, number), play.boss):
            play.answer("undo", who, number, should=False)
    _accept_and_undo(play, [open_])


def _is_over(play, numbers):
    *over, open_ = numbers
    for number in over:
        mia, tom = _of(play, number)
        for verb, who in (("accept", tom), ("withdraw", mia), ("undo", mia)):
            play.answer(verb, who, number, should=False)
    _accept_all(play, [open_])


def _asks_anew(play, numbers):
    swap = play.cafe.swaps[numbers[0]]
    play.answer("withdraw", swap.asked_by, swap.id, should=True)
    again = play.ask(swap.asked_by, swap.shift, swap.asked_of, swap.in_return, should=True)
    play.server.restart()
    play.look()
    play.answer("accept", swap.asked_of, again, should=True)
    play.server.restart()
    play.look()
    play.answer("undo", swap.asked_of, again, should=True)


def _is_counted(play, numbers):
    _accept_all(play, numbers)
    expect_hours(play, *months_of(play))


OLD_SWAPS = (
    _case([("accepted", False), ("accepted", True), ("asked", True)], _accept_all),
    _case([("accepted", True), ("asked", False), ("accepted", False)], _accept_and_undo),
    _case([("accepted", True), ("accepted", False), ("accepted", True)], _end_without),
    _case([("done", False), ("done", True), ("accepted", True)], _stays_done),
    _case([("declined", False), ("withdrawn", True), ("accepted", False)], _is_over),
    _case([("rejected", True), ("lapsed", False), ("accepted", True)], _is_over),
    _case([("accepted", True), ("accepted", False)], _asks_anew),
    _case([("accepted", False), ("done", True), ("accepted", True)], lambda play, numbers: _is_counted(play, [numbers[0], numbers[2]])),
)

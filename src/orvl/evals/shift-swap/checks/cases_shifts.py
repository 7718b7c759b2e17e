"""Shifts: lists, breaks, hours, history, bosses, and what is refused."""

import sessions
from oracle import written
from phone import Call, Wrong
from play import DAY, HOUR, MINUTE, WEEK


def lists(play):
    mia, tom = play.people[:2]
    early = play.random.randint(5, 9)
    times = [(3, 14, 20), (1, early, 15), (3, early, 13), (1, early, 14), (5, 23.75, 28), (2, 0, 5), (6, 0, 6)]
    numbers = [play.make(play.at(day, start), play.at(day, end)) for day, start, end in times]
    play.take(mia, numbers[0], should=True)
    play.take(mia, numbers[1], should=True)
    play.take(tom, numbers[4], should=True)
    play.look()
    first, last = play.at(2).date(), play.at(5).date()
    for query in ((first, last), (first, None), (None, last), (last, last), (first, last, mia), (None, None, tom)):
        play.look_at_shifts(*query)
    play.drop(mia, numbers[0], should=True)
    play.delete(play.boss, numbers[1], should=True)
    play.look()
    play.look_at_shifts(staff=mia)


def breaks(play):
    """Around a shift in the middle of a day, each pair with another person."""
    start, end = play.at(2, 11), play.at(2, 15.5)
    rest = play.rules.rest
    around = [
        (end + rest, end + rest + 3 * HOUR, True),
        (end + rest - MINUTE, end + rest + 3 * HOUR, False),
        (start - rest - 3 * HOUR, start - rest, True),
        (start - rest - 3 * HOUR, start - rest + MINUTE, False),
        (start, end, False),
        (start + HOUR, end - HOUR, False),
        (start - HOUR, end + HOUR, False),
        (end - HOUR, end + 2 * HOUR, False),
    ]
    for who, (other_start, other_end, fits) in zip(play.people, around):
        play.given(who, start, end)
        other = play.make(other_start, other_end)
        play.take(who, other, should=fits)
    play.look()


def breaks_at_night(play):
    rest = play.rules.rest
    for who, gap, fits in zip(play.people, (rest, rest - MINUTE, rest + HOUR, -HOUR), (True, False, True, False)):
        end = play.at(3, 1.5)
        play.given(who, play.at(2, 19), end)
        play.take(who, play.make(end + gap, end + gap + 4 * HOUR), should=fits)
    play.look()


def fill(play, who, week, hours, days=(1, 2, 3)):
    """Gives somebody so many hours in a week, on some of its days."""
    minutes = hours // MINUTE
    for left, day in zip(range(len(days), 0, -1), days):
        share = minutes // left
        minutes -= share
        start = week + day * DAY + 7 * HOUR
        play.given(who, start, start + share * MINUTE)


def hours(play):
    who, other = play.people[:2]
    limit, room = play.rules.hours, play.random.randrange(180, 300) * MINUTE
    fill(play, who, play.week, limit - room)
    start = play.at(5, 9)
    too_long, fitting = play.make(start, start + room + MINUTE), play.make(start, start + room)
    play.take(who, too_long, should=False)
    play.take(who, fitting, should=True)
    more = play.make(play.at(6, 20), play.at(6, 21))
    play.take(who, more, should=False)
    play.take(other, more, should=True)
    play.take(who, play.make(play.at(7, 9), play.at(7, 15)), should=True)
    play.take(who, play.make(play.at(-1, 9), play.at(-1, 15)), should=True)
    play.drop(who, fitting, should=True)
    play.take(who, play.make(play.at(6, 9), play.at(6, 10)), should=True)
    play.look()


def hours_at_night(play):
    """A night shift from a week's last day into the next week counts in the week where it starts."""
    who, other = play.people[:2]
    limit = play.rules.hours
    night = play.make(play.at(6, 21), play.at(7, 4))
    again = play.make(play.at(6, 21), play.at(7, 4))
    fill(play, who, play.week, limit - 3 * HOUR)
    fill(play, other, play.week + WEEK, limit - 3 * HOUR)
    play.take(who, night, should=False)
    play.take(other, again, should=True)
    play.take(who, play.make(play.at(7, 9), play.at(7, 14)), should=True)
    play.take(other, play.make(play.at(12, 9), play.at(12, 14)), should=False)
    play.look()


def history(play):
    mia, tom = play.people[:2]
    start = play.at(2, play.random.randint(7, 12))
    hers, free, his = (play.make(start, start + 5 * HOUR) for _ in range(3))
    play.now = start - MINUTE
    play.take(mia, hers, should=True)
    play.take(tom, his, should=True)
    play.now = start
    later = play.make(start + MINUTE, start + HOUR)
    play.drop(mia, hers, should=False)
    play.drop(play.boss, his, should=False)
    play.take(play.people[2], free, should=False)
    play.delete(play.boss, free, should=False)
    play.take(play.people[2], later, should=True)
    play.drop(play.people[2], later, should=True)
    play.delete(play.boss, later, should=True)
    play.look()


def bosses(play):
    mia, tom, lea = play.people[:3]
    start, end = play.at(1, 8), play.at(1, 12)
    play.make(start, end, who=mia, should=False)
    number = play.make(start, end)
    play.take(mia, number, should=True)
    play.delete(tom, number, should=False)
    play.drop(tom, number, should=False)
    play.take(lea, number, should=False)
    play.take(mia, number, should=True)
    play.drop(play.boss, number, should=True)
    play.drop(tom, number, should=False)
    play.take(play.boss, number, should=True)
    play.drop(mia, number, should=False)
    play.drop(play.boss, number, should=True)
    play.take(lea, number, should=True)
    play.delete(play.boss, number, should=True)
    play.take(lea, number, should=False)
    play.make(start, end)
    play.look()


def staff(play):
    seen = play.expect(set(), 200, "GET", "/staff", play.people[0])
    rows = seen if isinstance(seen, list) and all(isinstance(row, dict) for row in seen) else []
    found = sorted((str(row.get("id")), str(row.get("name")), row.get("boss")) for row in rows)
    wanted = sorted((one, play.team.names[one], one in play.team.bosses) for one in play.team.names)
    if found != wanted:
        raise Wrong(f"/staff: expected {wanted}, saw {str(seen)[:300]}")


def tablets_clock(play):
    """Without a phone's clock the tablet's own one counts."""
    mia = play.people[0]
    year = play.random.randrange(1990, 2010)
    made = {}
    for then in (year, year + 90):
        body = {"start": f"{then}-05-03T08:00", "end": f"{then}-05-03T14:00"}
        answer = play.server.ask(Call("POST", "/shifts", play.boss, f"{then}-05-01T08:00", body))
        made[then] = answer.data["id"] if answer.status == 201 and isinstance(answer.data, dict) else None
    for then, now, status in ((year, None, 409), (year + 90, None, 200), (year, f"{year}-05-02T08:00", 200)):
        call = Call("POST", f"/shifts/{made[then]}/take", mia, now)
        answer = play.server.ask(call)
        if answer.status != status:
            raise Wrong(f"{call}: expected {status}, saw {answer}")


ROTA = (
    *(lists, breaks, breaks_at_night, hours, hours_at_night, history, bosses, staff, tablets_clock),
    *(sessions.rota_session,) * 3,
)


# -- what makes no sense


def _pair(play, statuses, call, right):
    """Something wrong is refused with one of these statuses, and the right thing beside it is done."""
    answer = play.server.ask(call)
    if answer.status not in statuses:
        raise Wrong(f"{call}: expected {' or '.join(map(str, statuses))}, saw {answer}")
    play.expect_error(call, answer)
    right()


def _shift(play, **changes):
    """The body of a new shift, with something else about it."""
    day = play.random.randrange(7)
    body = {"start": written(play.at(day, 8)), "end": written(play.at(day, 13))} | changes
    return {key: value for key, value in body.items() if value is not ...}


def _not_made(*changes):
    """No shift is made of these; the right one is, and is the only one."""

    def case(play):
        for change in changes:
            body = change(play) if callable(change) else change
            call = Call("POST", "/shifts", play.boss, written(play.now), body)
            _pair(play, {400}, call, lambda: play.make(play.at(3, 8), play.at(3, 9)))
        play.look()

    return case


def _with(**changes):
    return lambda play: _shift(play, **changes)


def _day(play, form):
    return play.at(1, 8).strftime(form)


def not_a_day(play):
    number = play.make(play.at(1, 8), play.at(1, 9))
    for query in ("from=yesterday", f"to={play.at(1):%Y}-02-30"):
        call = Call("GET", f"/shifts?{query}", play.boss, written(play.now))
        _pair(play, {400}, call, play.look)
    play.take(play.people[0], number, should=True)


def not_a_clock(play):
    number = play.make(play.at(1, 8), play.at(1, 9))
    for clock in ("noon", f"{play.at(-1):%Y-%m-%d}", f"{play.at(-1):%Y-%m-%dT%H:%M}+02:00"):
        call = Call("POST", f"/shifts/{number}/take", play.people[0], clock)
        _pair(play, {400}, call, play.look)
    play.take(play.people[0], number, should=True)
    play.look()


def none_of_us(play):
    number = play.make(play.at(1, 8), play.at(1, 9))
    stranger = "".join(play.random.choices("bcdfg", k=9))
    for who in (stranger, None):
        call = Call("POST", f"/shifts/{number}/take", who, written(play.now))
        _pair(play, {401}, call, play.look)
        call = Call("POST", "/shifts", who, written(play.now), _shift(play))
        _pair(play, {401}, call, play.look)
    play.take(play.people[0], number, should=True)


def no_such_thing(play):
    number = play.make(play.at(1, 8), play.at(1, 9))
    gone = play.make(play.at(1, 8), play.at(1, 9))
    play.delete(play.boss, gone, should=True)
    for other in (gone, number + play.random.randrange(10_000, 90_000), 0, 10**25):
        for method, path in (("POST", f"/shifts/{other}/take"), ("POST", f"/shifts/{other}/drop"), ("DELETE", f"/shifts/{other}")):
            _pair(play, {404}, Call(method, path, play.boss, written(play.now)), lambda: None)
    _pair(play, {404}, Call("GET", "/rooms", play.boss, written(play.now)), lambda: None)
    play.take(play.people[0], number, should=True)
    play.look()


REFUSALS = (
    _not_made(b"{", b"", b'"2031"', b"[1, 2]", b"\xff\xfe{}"),
    _not_made(_with(end=...), _with(start=...), _with(end=None), _with(start=12)),
    _not_made(lambda play: _shift(play, end=_shift(play)["start"], start=written(play.at(8)))),
    _not_made(lambda play: dict.fromkeys(("start", "end"), written(play.at(1, 8)))),
    _not_made(lambda play: _shift(play, start=_day(play, "%Y-%m-%d")), _with(end="later")),
    _not_made(lambda play: _shift(play, end=f"{play.at(40):%Y-%m}-32T08:00"), lambda play: _shift(play, end=_day(play, "%Y-%m-%dT24:30"))),
    _not_made(lambda play: _shift(play, end=written(play.at(9)) + ":00"), lambda play: _shift(play, start=written(play.at()) + "Z")),
    _not_made(lambda play: _shift(play, start=written(play.at()).replace("T", " "))),
    *(not_a_day, not_a_clock, none_of_us, no_such_thing),
)

"""Swaps: asking, lapsing, approving, accepting, undoing."""

import sessions
from cases_shifts import fill
from oracle import written
from phone import Call, Wrong
from play import HOUR, MINUTE


def _pair_of_shifts(play, mia, tom):
    """A shift for each of two people, on two days."""
    day = play.random.randint(1, 2)
    return play.given(mia, play.at(day, 8), play.at(day, 13)), play.given(tom, play.at(day + 2, 9), play.at(day + 2, 14))


# -- asking; it is the same with and without approvals


def asks(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    play.ask(mia, hers, tom, should=True)
    play.ask(mia, hers, tom, his, should=True)
    play.ask(mia, hers, lea, should=True)
    play.ask(tom, his, lea, should=True)
    for who in (None, mia, tom, lea, play.people[3]):
        play.look_at_swaps(who)
    play.look()


def declines(play):
    mia, tom, lea = play.people[:3]
    hers, _ = _pair_of_shifts(play, mia, tom)
    first, second = play.ask(mia, hers, tom), play.ask(mia, hers, lea)
    for who in (mia, lea):
        play.answer("decline", who, first, should=False)
    play.answer("decline", tom, first, should=True)
    play.answer("decline", tom, first, should=False)
    play.answer("accept", tom, first, should=False)
    play.look()
    play.answer("decline", lea, second, should=True)
    play.look()


def withdraws(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    number, other = play.ask(mia, hers, tom, his), play.ask(mia, hers, lea)
    for who in (tom, lea):
        play.answer("withdraw", who, number, should=False)
    play.answer("withdraw", mia, number, should=True)
    for verb, who in (("withdraw", mia), ("accept", tom), ("decline", tom)):
        play.answer(verb, who, number, should=False)
    play.answer("withdraw", mia, other, should=True)
    play.look()


def lapses_with_its_shift(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    one, two = play.ask(mia, hers, tom), play.ask(mia, hers, lea)
    other = play.ask(tom, his, lea)
    play.drop(mia, hers, should=True)
    play.look()
    play.take(mia, hers, should=True)
    for verb, who, number in (("accept", tom, one), ("withdraw", mia, two), ("decline", lea, two)):
        play.answer(verb, who, number, should=False)
    play.answer("decline", lea, other, should=True)
    play.ask(mia, hers, tom, his, should=True)
    play.drop(play.boss, hers, should=True)
    play.look()


def lapses_with_what_is_given_back(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    trade, plain = play.ask(mia, hers, tom, his), play.ask(mia, hers, tom)
    play.drop(tom, his, should=True)
    play.look()
    play.answer("accept", tom, trade, should=False)
    play.answer("decline", tom, plain, should=True)
    play.take(tom, his, should=True)
    play.ask(tom, his, lea, should=True)
    play.look()


def lapses_when_deleted(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    kept = play.given(mia, play.at(6, 8), play.at(6, 12))
    gone = [play.ask(mia, hers, tom), play.ask(mia, kept, tom, his)]
    stays = play.ask(mia, kept, lea)
    play.delete(play.boss, hers, should=True)
    play.delete(play.boss, his, should=True)
    play.look()
    for number in gone:
        play.answer("accept", tom, number, should=False)
    play.answer("withdraw", mia, stays, should=True)
    play.look()


def asks_wrongly(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    nobodys = play.make(play.at(5, 8), play.at(5, 9))
    play.ask(tom, hers, lea, should=False)
    play.ask(mia, nobodys, lea, should=False)
    play.ask(mia, hers, lea, his, should=False)
    play.ask(mia, hers, tom, nobodys, should=False)
    play.ask(mia, hers, mia, should=False)
    play.ask(mia, hers + 100_000, tom, should=False)
    play.ask(mia, hers, tom, hers + 100_000, should=False)
    play.look_at_swaps()
    play.ask(mia, hers, tom, his, should=True)
    play.look()


def asks_nonsense(play):
    mia, tom = play.people[:2]
    hers, his = _pair_of_shifts(play, mia, tom)
    stranger = "".join(play.random.choices("bcdfg", k=9))
    for statuses, body in (
        ({400}, {"shift": hers}),
        ({400}, {"to": tom}),
        ({400, 404}, {"shift": hers, "to": stranger}),
        ({400, 404}, {"shift": "first", "to": tom}),
        ({400, 404}, {"shift": hers, "to": tom, "for": "second"}),
        ({400, 404}, {"shift": hers, "to": 7}),
        ({400}, [hers, tom]),
        ({400}, b"{"),
    ):
        call = Call("POST", "/swaps", mia, written(play.now), body)
        answer = play.server.ask(call)
        if answer.status not in statuses:
            raise Wrong(f"{call}: expected {statuses}, saw {answer}")
        play.expect_error(call, answer)
    number = play.ask(mia, hers, tom, his, should=True)
    play.answer("decline", tom, number + 100_000, should=False)
    play.answer("decline", tom, number, should=True)
    play.look_at_swaps(mia)


def asking_is_free(play):
    """Nobody minds whether it fits, only whose it is, and whether it has begun."""
    mia, tom = play.people[:2]
    start = play.at(2, 10)
    hers, _ = play.given(mia, start, start + 4 * HOUR), play.given(tom, start, start + 4 * HOUR)
    later = play.given(tom, start + 24 * HOUR, start + 28 * HOUR)
    play.now = start - MINUTE
    play.ask(mia, hers, tom, should=True)
    play.now = start
    play.ask(mia, hers, tom, should=False)
    play.ask(tom, later, mia, hers, should=False)
    play.ask(tom, later, mia, should=True)
    play.look()


def is_kept(play):
    """The plug is pulled between asking and answering."""
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    one, two, three = play.ask(mia, hers, tom, his), play.ask(mia, hers, lea), play.ask(tom, his, lea)
    play.answer("decline", lea, two, should=True)
    play.server.restart()
    play.look()
    play.answer("withdraw", mia, one, should=True)
    play.server.restart()
    play.answer("decline", lea, three, should=True)
    play.ask(mia, hers, lea, should=True)
    play.look()


ASKING = (
    *(asks, declines, withdraws, lapses_with_its_shift, lapses_with_what_is_given_back, lapses_when_deleted),
    *(asks_wrongly, asks_nonsense, asking_is_free, is_kept),
)


# -- how shifts change hands: `agree` is all that it takes, with approvals and without


def _agree(play, number, should=True):
    swap = play.cafe.swaps[number]
    if not play.rules.approvals:
        play.answer("accept", swap.asked_of, number, should=should)
        return
    if swap.state == "asked":
        play.answer("accept", swap.asked_of, number, should=True)
    play.answer("approve", play.boss, number, should=should)


def gives_away(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    number = play.ask(mia, hers, tom)
    for who in (mia, lea, play.boss):
        play.answer("accept", who, number, should=False)
    _agree(play, number)
    play.look()
    play.answer("accept", tom, number, should=False)
    play.drop(mia, hers, should=False)
    play.ask(tom, hers, mia, should=True)
    _agree(play, play.ask(tom, his, lea))
    play.look()


def trades(play):
    mia, tom = play.people[:2]
    hers, his = _pair_of_shifts(play, mia, tom)
    _agree(play, play.ask(mia, hers, tom, his))
    play.look()
    _agree(play, play.ask(mia, his, tom, hers))
    play.look()


def minds_breaks(play):
    mia, tom, lea = play.people[:3]
    rest = play.rules.rest
    end = play.at(2, 13)
    hers = play.given(mia, play.at(2, 8), end)
    near = play.given(tom, end + rest - MINUTE, end + rest + 4 * HOUR)
    play.given(lea, end + rest, end + rest + 4 * HOUR)
    number, other = play.ask(mia, hers, tom), play.ask(mia, hers, lea)
    _agree(play, number, should=False)
    play.look()
    play.drop(tom, near, should=True)
    _agree(play, number)
    play.look()
    play.answer("accept", lea, other, should=False)
    _agree(play, play.ask(tom, hers, lea))
    play.look()


def minds_hours(play):
    mia, tom, lea = play.people[:3]
    room = play.random.randrange(180, 300) * MINUTE
    fill(play, tom, play.week, play.rules.hours - room)
    start = play.at(5, 9)
    long, fitting = play.given(mia, start, start + room + MINUTE), play.given(lea, start, start + room)
    _agree(play, play.ask(mia, long, tom), should=False)
    _agree(play, play.ask(lea, fitting, tom))
    play.look()


def trades_at_the_same_time(play):
    """What somebody gives away is not in the way of what they get."""
    mia, tom, lea = play.people[:3]
    start = play.at(3, 9)
    hers, his = play.given(mia, start, start + 6 * HOUR), play.given(tom, start + HOUR, start + 5 * HOUR)
    _agree(play, play.ask(mia, hers, tom), should=False)
    _agree(play, play.ask(mia, hers, tom, his))
    play.look()
    leas = play.given(lea, start - HOUR, start + 2 * HOUR)
    _agree(play, play.ask(lea, leas, mia, his))
    play.look()


def trades_mind_both(play):
    """A trade that only one of the two can do is none; the shift that is in the way is one that they keep."""
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    when = play.cafe.shifts[his].start
    in_the_way = play.given(mia, when - 2 * HOUR, when + HOUR)
    number = play.ask(mia, hers, tom, his)
    _agree(play, number, should=False)
    play.look()
    play.drop(mia, in_the_way, should=True)
    _agree(play, number)
    leas = play.given(lea, play.at(6, 8), play.at(6, 12))
    blocked = play.given(lea, play.cafe.shifts[hers].start, play.cafe.shifts[hers].end)
    again = play.ask(tom, hers, lea, leas)
    _agree(play, again, should=False)
    play.drop(lea, blocked, should=True)
    _agree(play, again)
    play.look()


def trades_mind_hours(play):
    """Both have all the hours of a week: a shift against one of the same length is fine, against a longer one is not."""
    mia, tom = play.people[:2]
    limit = play.rules.hours
    fill(play, mia, play.week, limit - 6 * HOUR, (0, 1, 2))
    fill(play, tom, play.week, limit - 6 * HOUR, (0, 1, 2))
    hers, his = play.given(mia, play.at(4, 8), play.at(4, 14)), play.given(tom, play.at(5, 9), play.at(5, 15))
    _agree(play, play.ask(mia, hers, tom), should=False)
    _agree(play, play.ask(mia, hers, tom, his))
    play.look()
    play.drop(mia, his, should=True)
    short, tea = play.given(mia, play.at(6, 8), play.at(6, 13)), play.given(mia, play.at(4, 16), play.at(4, 17))
    _agree(play, play.ask(mia, short, tom, hers), should=False)
    _agree(play, play.ask(tom, hers, mia, short), should=False)
    next_week = play.given(mia, play.at(8, 8), play.at(8, 14))
    _agree(play, play.ask(mia, next_week, tom, hers), should=False)
    play.drop(mia, short, should=True)
    play.drop(mia, tea, should=True)
    _agree(play, play.ask(mia, next_week, tom, hers))
    play.look()


def others_lapse(play):
    mia, tom, lea, ana = play.people[:4]
    hers, his = _pair_of_shifts(play, mia, tom)
    leas = play.given(lea, play.at(6, 8), play.at(6, 12))
    done = play.ask(mia, hers, tom, his)
    for who, number, to, in_return in (
        *((mia, hers, lea, None), (mia, hers, ana, None), (tom, his, mia, hers), (tom, his, lea, None)),
        *((lea, leas, tom, his), (lea, leas, mia, hers)),
    ):
        play.ask(who, number, to, in_return, should=True)
    stays = play.ask(lea, leas, ana)
    _agree(play, done)
    assert [swap.state for swap in play.cafe.swaps.values()].count("lapsed") == 6
    play.look()
    play.answer("withdraw", lea, stays, should=True)
    _agree(play, play.ask(tom, hers, ana))
    play.look()


def history_is_not_swapped(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    start = play.cafe.shifts[hers].start
    late, trade = play.ask(mia, hers, lea), play.ask(tom, his, mia, hers)
    fine = play.ask(tom, his, lea)
    play.now = start
    play.answer("accept", lea, late, should=False)
    play.answer("accept", mia, trade, should=False)
    _agree(play, fine)
    play.look()


# -- with approvals


def waits_for_a_boss(play):
    mia, tom = play.people[:2]
    hers, his = _pair_of_shifts(play, mia, tom)
    number = play.ask(mia, hers, tom, his)
    for verb in ("approve", "reject"):
        play.answer(verb, play.boss, number, should=False)
    play.answer("accept", tom, number, should=True)
    play.look()
    for who in (mia, tom, play.people[2]):
        play.answer("approve", who, number, should=False)
        play.answer("reject", who, number, should=False)
    play.answer("decline", tom, number, should=False)
    play.answer("approve", play.team.bosses[0], number, should=True)
    play.look()
    play.answer("approve", play.team.bosses[1], number, should=False)


def is_rejected(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    number, other = play.ask(mia, hers, tom, his), play.ask(mia, hers, lea)
    play.answer("accept", tom, number, should=True)
    play.answer("accept", lea, other, should=True)
    play.answer("reject", play.boss, number, should=True)
    play.look()
    play.answer("approve", play.boss, number, should=False)
    play.answer("approve", play.boss, other, should=True)
    play.look()


def what_is_accepted_can_be_withdrawn_and_lapse(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    numbers = [play.ask(mia, hers, tom), play.ask(mia, hers, lea), play.ask(tom, his, lea)]
    for number in numbers:
        play.answer("accept", play.cafe.swaps[number].asked_of, number, should=True)
    play.answer("withdraw", mia, numbers[0], should=True)
    play.drop(mia, hers, should=True)
    play.look()
    for number in numbers[:2]:
        play.answer("approve", play.boss, number, should=False)
    play.answer("approve", play.boss, numbers[2], should=True)
    play.look()


HANDS = (
    *(gives_away, trades, minds_breaks, minds_hours, trades_at_the_same_time, trades_mind_both, trades_mind_hours),
    *(others_lapse, history_is_not_swapped),
)
APPROVAL = (
    *(waits_for_a_boss, is_rejected, what_is_accepted_can_be_withdrawn_and_lapse),
    *HANDS,
    *(sessions.approval_session,) * 3,
)


# -- without approvals


def needs_no_boss(play):
    mia, tom = play.people[:2]
    hers, his = _pair_of_shifts(play, mia, tom)
    number = play.ask(mia, hers, tom, his)
    for verb in ("approve", "reject"):
        call = Call("POST", f"/swaps/{number}/{verb}", play.boss, written(play.now))
        answer = play.server.ask(call)
        if answer.status != 404:
            raise Wrong(f"{call}: expected 404, saw {answer}")
    play.answer("accept", tom, number, should=True)
    assert play.state(number) == "done"
    play.look()


ACCEPTING = (needs_no_boss, *HANDS, *(sessions.swap_session,) * 3)


def undone_by_any_of_them(play):
    mia, tom, lea = play.people[:3]
    for who, in_return in ((mia, False), (tom, True), (play.boss, False), (play.boss, True)):
        hers, his = _pair_of_shifts(play, mia, tom)
        number = play.ask(mia, hers, tom, his if in_return else None)
        play.answer("undo", who, number, should=False)
        _agree(play, number)
        play.answer("undo", lea, number, should=False)
        play.answer("undo", who, number, should=True)
        assert play.state(number) == "undone"
        play.look()
        for verb, whom in (("undo", who), ("accept", tom), ("withdraw", mia)):
            play.answer(verb, whom, number, should=False)
        play.drop(mia, hers, should=True)
        play.drop(tom, his, should=True)
    play.look()


def undone_in_time(play):
    """The time counts from when it was done, not from when somebody asked."""
    mia, tom, lea, ana = play.people[:4]
    hers, his = play.given(mia, play.at(6, 8), play.at(6, 13)), play.given(tom, play.at(6, 9), play.at(6, 14))
    one, two = play.ask(mia, hers, lea), play.ask(tom, his, ana)
    play.now += 30 * HOUR + 17 * MINUTE
    _agree(play, one)
    _agree(play, two)
    play.now += play.rules.undo - MINUTE
    play.answer("undo", lea, one, should=True)
    play.now += 2 * MINUTE
    play.answer("undo", tom, two, should=False)
    play.answer("undo", play.boss, two, should=False)
    play.look()


def undone_only_where_it_was_put(play):
    mia, tom, lea = play.people[:3]
    numbers = []
    for day in (1, 2, 3):
        hers = play.given(mia, play.at(day, 8), play.at(day, 13))
        numbers.append((hers, play.ask(mia, hers, tom)))
        _agree(play, numbers[-1][1])
    (passed_on, one), (dropped, two), (stays, three) = numbers
    _agree(play, play.ask(tom, passed_on, lea))
    play.drop(tom, dropped, should=True)
    for number in (one, two):
        play.answer("undo", mia, number, should=False)
        play.answer("undo", play.boss, number, should=False)
    play.answer("undo", mia, three, should=True)
    play.look()
    play.take(lea, dropped, should=True)
    play.answer("undo", tom, two, should=False)
    play.look()


def not_undone_when_deleted(play):
    mia, tom = play.people[:2]
    hers, his = _pair_of_shifts(play, mia, tom)
    other = play.given(mia, play.at(6, 8), play.at(6, 12))
    gone, kept = play.ask(mia, hers, tom, his), play.ask(mia, other, tom)
    _agree(play, gone)
    _agree(play, kept)
    play.delete(play.boss, play.random.choice((hers, his)), should=True)
    play.answer("undo", mia, gone, should=False)
    play.look()
    play.answer("undo", mia, kept, should=True)
    play.look()


def undone_by_the_rules(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    plain = play.ask(mia, hers, tom)
    _agree(play, plain)
    end = play.cafe.shifts[hers].end
    in_the_way = play.given(mia, end + play.rules.rest - MINUTE, end + 4 * HOUR)
    play.answer("undo", tom, plain, should=False)
    play.look()
    play.drop(mia, in_the_way, should=True)
    play.answer("undo", tom, plain, should=True)
    trade = play.ask(tom, his, lea, play.given(lea, play.at(6, 8), play.at(6, 12)))
    _agree(play, trade)
    start = play.at(6, 8) - play.rules.rest - 3 * HOUR
    blocked = play.given(lea, start, start + 3 * HOUR + MINUTE)
    play.answer("undo", tom, trade, should=False)
    play.drop(lea, blocked, should=True)
    play.answer("undo", tom, trade, should=True)
    play.look()


def undone_by_the_hours(play):
    mia, tom = play.people[:2]
    hers = play.given(mia, play.at(6, 8), play.at(6, 14))
    number = play.ask(mia, hers, tom)
    _agree(play, number)
    fill(play, mia, play.week, play.rules.hours - 6 * HOUR)
    more = play.given(mia, play.at(4, 18), play.at(4, 18) + MINUTE)
    play.answer("undo", mia, number, should=False)
    play.drop(mia, more, should=True)
    play.answer("undo", mia, number, should=True)
    play.look()


def history_is_not_undone(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    start = play.cafe.shifts[hers].start
    leas = play.given(lea, start + 2 * HOUR, start + 3 * HOUR)
    play.now = start - 3 * HOUR
    trade, plain = play.ask(tom, his, mia, hers), play.ask(lea, leas, tom)
    play.answer("accept", mia, trade, should=True)
    play.answer("accept", tom, plain, should=False)
    plain = play.ask(lea, leas, mia)
    play.answer("accept", mia, plain, should=True)
    play.now = start
    play.answer("undo", mia, trade, should=False)
    play.answer("undo", play.boss, trade, should=False)
    play.answer("undo", mia, plain, should=True)
    play.look()


def others_lapse_when_undone(play):
    mia, tom, lea = play.people[:3]
    hers, his = _pair_of_shifts(play, mia, tom)
    leas = play.given(lea, play.at(6, 8), play.at(6, 12))
    number = play.ask(mia, hers, tom, his)
    _agree(play, number)
    one, two = play.ask(tom, hers, lea), play.ask(lea, leas, mia, his)
    stays = play.ask(lea, leas, mia)
    play.answer("undo", mia, number, should=True)
    assert [play.state(one), play.state(two), play.state(stays)] == ["lapsed", "lapsed", "asked"]
    play.look()
    play.answer("accept", lea, one, should=False)
    play.answer("withdraw", lea, stays, should=True)
    play.look()


def undone_at_the_same_time(play):
    """Two shifts at the same time go back as they went; and a swap can be undone after a restart."""
    mia, tom = play.people[:2]
    start = play.at(3, 9)
    hers, his = play.given(mia, start, start + 6 * HOUR), play.given(tom, start + HOUR, start + 5 * HOUR)
    number = play.ask(mia, hers, tom, his)
    _agree(play, number)
    play.server.restart()
    play.answer("undo", tom, number, should=True)
    play.look()
    again = play.ask(mia, hers, tom, his)
    _agree(play, again)
    play.now += play.rules.undo + MINUTE
    play.server.restart()
    play.answer("undo", tom, again, should=False)
    play.look()


UNDOING = (
    *(undone_by_any_of_them, undone_in_time, undone_only_where_it_was_put, not_undone_when_deleted),
    *(undone_by_the_rules, undone_by_the_hours, history_is_not_undone, others_lapse_when_undone),
    *(undone_at_the_same_time, *(sessions.swap_session,) * 2),
)

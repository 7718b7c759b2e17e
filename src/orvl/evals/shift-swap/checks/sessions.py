"""Random sessions: what four people and their boss do with a week's shifts, hour by hour."""

from datetime import timedelta

from play import HOUR, MINUTE

PEOPLE = 4


def rota_session(play):
    _session(play, 40, {"take": 9, "drop": 3, "delete": 1, "make": 1, "look": 1})


def approval_session(play):
    _session(
        play,
        60,
        {
            **{"take": 5, "drop": 1, "delete": 1, "look": 1},
            **{"ask": 9, "accept": 7, "decline": 1, "withdraw": 1, "approve": 7, "reject": 1},
        },
    )


def swap_session(play):
    _session(
        play,
        60,
        {"take": 5, "drop": 1, "delete": 1, "look": 1, "ask": 9, "accept": 8, "decline": 1, "withdraw": 1, "undo": 5},
    )


def _session(play, steps, weights):
    people = [*play.people[:PEOPLE], play.boss]
    _plan_week(play)
    play.now = play.week - play.random.randint(12, 30) * HOUR
    for number in sorted(play.cafe.shifts):
        if "ask" in weights and play.random.random() < 0.7:
            play.take(play.random.choice(people), number)
    kinds = play.random.choices(list(weights), list(weights.values()), k=steps)
    for kind in kinds:
        play.now += play.random.choice((0, 1, 7, 35, 90, 180)) * MINUTE
        STEPS[kind](play, people)
    play.look()


def _plan_week(play):
    """Two or three shifts a day, many of which end about a break before others begin."""
    chance, rest = play.random, play.rules.rest
    for day in range(7):
        start = play.at(day) + chance.randrange(6 * 60, 9 * 60, 5) * MINUTE
        end = start + chance.randrange(4 * 60, 8 * 60, 5) * MINUTE
        play.make(start, end)
        gap = chance.choice((rest, rest - MINUTE, rest + 5 * MINUTE, timedelta(0), -2 * HOUR))
        play.make(end + gap, end + gap + chance.randrange(4 * 60, 9 * 60, 5) * MINUTE)
        if chance.random() < 0.3:
            play.make(start, end)


def _any_shift(play):
    return play.random.choice(sorted(play.cafe.shifts))


def _make(play, people):
    start = play.now + play.random.randint(2, 60) * HOUR
    play.make(start, start + play.random.randint(3, 9) * HOUR, play.random.choice(people))


def _take(play, people):
    """Jonas's notes leave it open what becomes of it if somebody takes what they have, and it has begun."""
    who, number = play.random.choice(people), _any_shift(play)
    shift = play.cafe.shifts[number]
    if shift.staff != who or shift.start > play.now:
        play.take(who, number)


def _drop(play, people):
    number = _any_shift(play)
    holder = play.cafe.shifts[number].staff
    who = holder if holder and play.random.random() < 0.7 else play.random.choice(people)
    if holder or who not in play.team.bosses:
        play.drop(who, number)


def _delete(play, people):
    if len(play.cafe.shifts) > 8:
        play.delete(play.random.choice([play.boss, *people]), _any_shift(play))


def _ask(play, people):
    chance, shifts = play.random, play.cafe.shifts
    coming = [number for number in sorted(shifts) if shifts[number].staff and shifts[number].start > play.now]
    if not coming:
        return
    number = chance.choice(coming)
    holder = shifts[number].staff
    who = holder if chance.random() < 0.9 else chance.choice(people)
    to = chance.choice([one for one in people if one != who])
    theirs = [one for one in coming if shifts[one].staff == to and one != number]
    in_return = chance.choice(theirs) if theirs and chance.random() < 0.6 else None
    play.ask(who, number, to, in_return)


def _answer(verb, states):
    def step(play, people):
        chance, swaps = play.random, play.cafe.swaps
        fitting = [number for number in sorted(swaps) if swaps[number].state in states]
        pool = fitting if fitting and chance.random() < 0.9 else sorted(swaps)
        if not pool:
            return
        number = chance.choice(pool)
        swap = swaps[number]
        right = {"withdraw": swap.asked_by, "approve": play.boss, "reject": play.boss}.get(verb, swap.asked_of)
        if verb == "undo":
            right = chance.choice((swap.asked_by, swap.asked_of, play.boss))
        who = right if chance.random() < 0.9 else chance.choice(people)
        if not play.cafe.is_open_question(verb, number, play.now):
            play.answer(verb, who, number)

    return step


def _look(play, people):
    play.look_at_shifts(play.at(2).date(), play.at(5).date(), play.random.choice([None, *people]))
    if play.cafe.swaps:
        play.look_at_swaps(play.random.choice([None, *people]))


STEPS = {
    **{"make": _make, "take": _take, "drop": _drop, "delete": _delete, "ask": _ask, "look": _look},
    "accept": _answer("accept", ("asked",)),
    "decline": _answer("decline", ("asked",)),
    "withdraw": _answer("withdraw", ("asked", "accepted")),
    "approve": _answer("approve", ("accepted",)),
    "reject": _answer("reject", ("accepted",)),
    "undo": _answer("undo", ("done",)),
}

"""Eight phones in the same moment: nobody gets what somebody else has, and nobody gets an error instead of an answer."""

from cases_shifts import fill
from oracle import written
from phone import Call, Wrong, receive, send
from play import HOUR, MINUTE, number_of

PHONES = 8
ROUNDS = 3


def _calls(play, rows):
    return [Call(method, path, who, written(play.now), *body) for method, path, who, *body in rows]


def _all_at_once(play, rows, allowed):
    """The statuses of requests that are sent in the same moment, and their answers."""
    calls = _calls(play, rows)
    answers = play.server.ask_at_once(calls)
    for call, answer in zip(calls, answers):
        if answer.status not in allowed:
            raise Wrong(f"{call}, {len(calls)} phones at once: expected one of {sorted(allowed)}, saw {answer}")
        if answer.status >= 400:
            play.expect_error(call, answer)
    return answers


def _expect_count(what, seen, wanted):
    if seen != wanted:
        raise Wrong(f"{what}: expected {wanted}, saw {seen}")


def _won(answers):
    return [number for number, answer in enumerate(answers) if answer.status == 200]


def one_shift(play):
    for day in range(ROUNDS):
        number = play.make(play.at(day, 8), play.at(day, 10))
        answers = _all_at_once(play, [("POST", f"/shifts/{number}/take", who) for who in play.people], {200, 409})
        won = _won(answers)
        _expect_count(f"phones that got shift {number}", len(won), 1)
        play.cafe.do_take(play.people[won[0]], number)
        play.look()


def one_person(play):
    for day, who in zip(range(ROUNDS), play.people):
        numbers = [play.make(play.at(day, 8) + index * MINUTE, play.at(day, 12)) for index in range(PHONES)]
        answers = _all_at_once(play, [("POST", f"/shifts/{number}/take", who) for number in numbers], {200, 409})
        won = _won(answers)
        _expect_count(f"shifts at the same time that {who} got", len(won), 1)
        play.cafe.do_take(who, numbers[won[0]])
        play.look()


def one_week(play):
    for who, room in zip(play.people, (2, 3, 5)):
        fill(play, who, play.week, play.rules.hours - room * HOUR, (0, 1, 2))
        numbers = [play.make(play.at(4, 2 * index), play.at(4, 2 * index + 1)) for index in range(PHONES)]
        answers = _all_at_once(play, [("POST", f"/shifts/{number}/take", who) for number in numbers], {200, 409})
        won = _won(answers)
        _expect_count(f"hours that {who} got, with {room} left", len(won), room)
        for index in won:
            play.cafe.do_take(who, numbers[index])
        play.look()


def makes_shifts(play):
    """As many shifts as there were requests, while others look."""
    bodies = [{"start": written(play.at(2, hour)), "end": written(play.at(2, hour + 3))} for hour in range(PHONES)]
    rows = [("POST", "/shifts", play.boss, body) for body in bodies] + [("GET", "/staff", who) for who in play.people[:4]]
    answers = _all_at_once(play, rows, {200, 201})
    _expect_count("different ids of new shifts", len({number_of(one.data) for one in answers[:PHONES]}), PHONES)
    seen = play.send("GET", f"/shifts?from={play.at(2).date()}&to={play.at(2).date()}", play.boss)
    rows = seen.data if isinstance(seen.data, list) else []
    starts = sorted(str(row.get("start")) for row in rows if isinstance(row, dict))
    _expect_count("starts of the new shifts", starts, sorted(body["start"] for body in bodies))


def drops_and_takes(play):
    for day in range(ROUNDS):
        mia, *others = play.people
        number = play.given(mia, play.at(day, 8), play.at(day, 12))
        rows = [("POST", f"/shifts/{number}/drop", mia)]
        rows += [("POST", f"/shifts/{number}/take", who) for who in others]
        dropped, *answers = _all_at_once(play, rows, {200, 409})
        won = _won(answers)
        if dropped.status != 200 or len(won) > 1:
            raise Wrong(f"shift {number}: expected it to be dropped and got by one at most, saw {dropped}, {won}")
        play.cafe.do_drop(number)
        if won:
            play.cafe.do_take(others[won[0]], number)
        play.look()


def deletes_and_takes(play):
    for day in range(ROUNDS):
        number, other = (play.make(play.at(day, 8), play.at(day, 12)) for _ in range(2))
        rows = [("POST", f"/shifts/{number}/take", who) for who in play.people[1:]]
        rows.append(("DELETE", f"/shifts/{number}", play.boss))
        *answers, deleted = _all_at_once(play, rows, {200, 204, 404, 409})
        if deleted.status != 204 or len(_won(answers)) > 1:
            raise Wrong(f"shift {number}: expected it to be deleted and got by one at most, saw {deleted}, {answers}")
        play.cafe.do_delete(number)
        play.take(play.people[0], number, should=False)
        play.take(play.people[0], other, should=True)
        play.look()


def different_shifts(play):
    """What is in nobody's way is done for all of them."""
    for day in range(ROUNDS):
        numbers = [play.make(play.at(day, 8), play.at(day, 11)) for _ in play.people]
        rows = [("POST", f"/shifts/{number}/take", who) for number, who in zip(numbers, play.people)]
        _all_at_once(play, rows, {200})
        for number, who in zip(numbers, play.people):
            play.cafe.do_take(who, number)
        play.look()


def _answer_of(phone, call):
    try:
        return receive(phone, call)
    except TimeoutError as error:
        raise Wrong(f"no answer to {call} while other phones keep their connections") from error


def phones_in_pockets(play):
    """Phones that keep their connection, one of them in the middle of a request, hold up nobody."""
    number = play.make(play.at(1, 8), play.at(1, 12))
    pockets = [play.server.connect() for _ in range(PHONES)]
    try:
        (call,) = _calls(play, [("GET", "/staff", play.boss)])
        send(pockets[0], call, share=0.5)
        send(pockets[1], call)
        _expect_count("the status of /staff", _answer_of(pockets[1], call).status, 200)
        play.take(play.people[0], number, should=True)
        play.look()
    finally:
        for pocket in pockets:
            pocket.close()


TAKING = (
    *(one_shift, one_person, one_week, makes_shifts, drops_and_takes, deletes_and_takes, different_shifts),
    phones_in_pockets,
)


# -- swaps


def _accept_at_once(play, swaps, verb="accept"):
    who = "asked_by" if verb == "undo" else "asked_of"
    rows = [("POST", f"/swaps/{number}/{verb}", getattr(play.cafe.swaps[number], who)) for number in swaps]
    return _won(_all_at_once(play, rows, {200, 409}))


def many_say_yes(play):
    """Everybody was asked about one shift, and all accept."""
    for day in range(ROUNDS):
        mia, *others = play.people
        number = play.given(mia, play.at(day, 8), play.at(day, 10))
        swaps = [play.ask(mia, number, who) for who in others]
        won = _accept_at_once(play, swaps)
        _expect_count(f"phones that got shift {number}", len(won), 1)
        play.cafe.do_answer("accept", swaps[won[0]], play.now)
        play.look()


def one_says_yes_to_all(play):
    """Somebody was asked by all the others about shifts at the same time, and accepts all."""
    for day in range(ROUNDS):
        tom, *others = play.people
        numbers = [play.given(who, play.at(day, 8), play.at(day, 10)) for who in others]
        swaps = [play.ask(who, number, tom) for who, number in zip(others, numbers)]
        won = _accept_at_once(play, swaps)
        _expect_count(f"shifts at the same time that {tom} got", len(won), 1)
        play.cafe.do_answer("accept", swaps[won[0]], play.now)
        play.look()


def one_trades_with_all(play):
    """One shift was offered in return for each of seven others."""
    for day in range(ROUNDS):
        mia, *others = play.people
        hers = play.given(mia, play.at(day, 8), play.at(day, 10))
        theirs = [play.given(who, play.at(day, 12), play.at(day, 14)) for who in others]
        swaps = [play.ask(mia, hers, who, number) for who, number in zip(others, theirs)]
        won = _accept_at_once(play, swaps)
        _expect_count(f"people who traded for shift {hers}", len(won), 1)
        play.cafe.do_answer("accept", swaps[won[0]], play.now)
        play.look()


def hours_for_one(play):
    tom, *others = play.people
    room = play.random.randint(2, 4)
    fill(play, tom, play.week, play.rules.hours - room * HOUR, (0, 1, 2))
    numbers = [play.given(who, play.at(4, 2 * index), play.at(4, 2 * index + 1)) for index, who in enumerate(others)]
    swaps = [play.ask(who, number, tom) for who, number in zip(others, numbers)]
    won = _accept_at_once(play, swaps)
    _expect_count(f"hours that {tom} got, with {room} left", len(won), room)
    for index in won:
        play.cafe.do_answer("accept", swaps[index], play.now)
    play.look()


def accepts_twice(play):
    """One phone accepts on eight connections, then eight undo: it happens once each time."""
    for day in range(ROUNDS):
        mia, tom = play.people[:2]
        hers, his = play.given(mia, play.at(day, 8), play.at(day, 10)), play.given(tom, play.at(day, 8), play.at(day, 10))
        swap = play.ask(mia, hers, tom, his)
        _expect_count("times that a swap was done", len(_accept_at_once(play, [swap] * PHONES)), 1)
        play.cafe.do_answer("accept", swap, play.now)
        play.look()
        _expect_count("times that a swap was undone", len(_accept_at_once(play, [swap] * PHONES, "undo")), 1)
        play.cafe.do_answer("undo", swap, play.now)
        play.look()


def yes_or_no(play):
    """Accepted, declined and withdrawn in the same moment: one of these happens."""
    for day in range(ROUNDS):
        mia, tom = play.people[:2]
        hers = play.given(mia, play.at(day, 8), play.at(day, 10))
        swap = play.ask(mia, hers, tom)
        verbs = [("accept", tom), ("decline", tom), ("withdraw", mia)] * 2
        rows = [("POST", f"/swaps/{swap}/{verb}", who) for verb, who in verbs]
        won = _won(_all_at_once(play, rows, {200, 409}))
        _expect_count("answers to one swap that counted", len(won), 1)
        play.cafe.do_answer(verbs[won[0]][0], swap, play.now)
        play.look()


def undone_or_passed_on(play):
    """A swap is undone while the shift is passed on."""
    for day in range(ROUNDS):
        mia, tom, lea = play.people[:3]
        hers = play.given(mia, play.at(day, 8), play.at(day, 10))
        swap = play.ask(mia, hers, tom)
        play.answer("accept", tom, swap, should=True)
        on = play.ask(tom, hers, lea)
        rows = [("POST", f"/swaps/{swap}/undo", mia), ("POST", f"/swaps/{on}/accept", lea)] * 3
        won = _won(_all_at_once(play, rows, {200, 409}))
        _expect_count("ways that one shift went", len(won), 1)
        play.cafe.do_answer(("undo", "accept")[won[0] % 2], (swap, on)[won[0] % 2], play.now)
        play.look()


def dropped_or_swapped(play):
    """A shift is dropped while others accept it."""
    for day in range(ROUNDS):
        mia, *others = play.people[:6]
        hers = play.given(mia, play.at(day, 8), play.at(day, 10))
        swaps = [play.ask(mia, hers, who) for who in others]
        rows = [("POST", f"/swaps/{number}/accept", who) for number, who in zip(swaps, others)]
        rows.append(("POST", f"/shifts/{hers}/drop", mia))
        answers = _all_at_once(play, rows, {200, 403, 409})
        won = _won(answers)
        _expect_count("ways that one shift went", len(won), 1)
        if won[0] == len(others):
            play.cafe.do_drop(hers)
        else:
            play.cafe.do_answer("accept", swaps[won[0]], play.now)
        play.look()


SWAPPING = (
    *(many_say_yes, one_says_yes_to_all, one_trades_with_all, hours_for_one, accepts_twice, yes_or_no),
    *(undone_or_passed_on, dropped_or_swapped),
)

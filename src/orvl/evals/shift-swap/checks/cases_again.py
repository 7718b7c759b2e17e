"""Requests that are sent again: they count once, and get the answer of the first time."""

import copy

from oracle import Shift, Swap, written
from phone import Call, Wrong
from play import MINUTE, OF_SHIFT, OF_SWAP, number_of

PHONES = 8
BURSTS = 3
MOST_ORDERS = 4000
"""How many ways of ordering a burst are tried; beyond that it gets the benefit of the doubt."""


class Sender:
    """A phone app that marks what it sends."""

    def __init__(self, play):
        self.play = play

    def call(self, method, path, who, body=None):
        mark = "".join(self.play.random.choices("0123456789abcdef", k=12))
        return Call(method, path, who, written(self.play.now), body, [(self.play.team.header, mark)])

    def send(self, call, status, times=1):
        """Sends the same thing some times, one after the other: the answer is the same each time."""
        answers = [self.play.server.ask(call) for _ in range(times)]
        for answer in answers:
            self.expect_same(call, answer, answers[0])
            if answer.status != status:
                raise Wrong(f"{call}: expected {status}, saw {answer}")
        return answers[0]

    def send_at_once(self, call, status):
        answers = self.play.server.ask_at_once([call] * PHONES)
        for answer in answers:
            self.expect_same(call, answer, answers[0])
        if answers[0].status != status:
            raise Wrong(f"{call}, sent {PHONES} times at once: expected {status}, saw {answers[0]}")
        return answers[0]

    def expect_same(self, call, answer, first):
        if (answer.status, answer.data) != (first.status, first.data):
            raise Wrong(f"{call}, sent again: expected the first answer, {first}, saw {answer}")


def _new_shift(play, sender, day, hour=8):
    start, end = play.at(day, hour), play.at(day, hour + 4)
    return start, end, sender.call("POST", "/shifts", play.boss, {"start": written(start), "end": written(end)})


def _know(play, answer, start, end):
    return play.know(Shift(number_of(answer.data), start, end), answer.data)


def makes_once(play):
    sender = Sender(play)
    for day in (1, 1, 2):
        start, end, call = _new_shift(play, sender, day)
        _know(play, sender.send(call, 201, times=3), start, end)
    play.look()
    play.make(start, end)
    play.make(start, end)
    play.look()


def takes_once(play):
    """What was taken and dropped since is not taken again."""
    sender, (mia, tom) = Sender(play), play.people[:2]
    number = play.make(play.at(2, 8), play.at(2, 12))
    take, drop = sender.call("POST", f"/shifts/{number}/take", mia), sender.call("POST", f"/shifts/{number}/drop", mia)
    first = sender.send(take, 200, times=2)
    sender.send(drop, 200, times=2)
    sender.expect_same(take, play.server.ask(take), first)
    play.look()
    play.take(tom, number, should=True)
    sender.send(drop, 200)
    sender.send(take, 200)
    play.look()


def refuses_once(play):
    """What was refused is not done later."""
    sender, (mia, tom) = Sender(play), play.people[:2]
    number = play.given(mia, play.at(2, 8), play.at(2, 12))
    take = sender.call("POST", f"/shifts/{number}/take", tom)
    sender.send(take, 409, times=2)
    play.drop(mia, number, should=True)
    sender.send(take, 409)
    play.look()
    sender.send(sender.call("POST", f"/shifts/{number}/take", tom), 200, times=2)
    play.cafe.do_take(tom, number)
    play.look()


def deletes_once(play):
    sender = Sender(play)
    numbers = [play.make(play.at(day, 8), play.at(day, 12)) for day in range(3)]
    for number in numbers[:2]:
        sender.send(sender.call("DELETE", f"/shifts/{number}", play.boss), 204, times=2)
        play.cafe.do_delete(number)
    play.look()
    play.delete(play.boss, numbers[0], should=False)


def swaps_once(play):
    sender, (mia, tom) = Sender(play), play.people[:2]
    hers, his = play.given(mia, play.at(2, 8), play.at(2, 12)), play.given(tom, play.at(4, 8), play.at(4, 12))
    ask = sender.call("POST", "/swaps", mia, {"shift": hers, "to": tom, "for": his})
    asked = sender.send(ask, 201, times=2)
    number = number_of(asked.data)
    play.cafe.swaps[number] = Swap(number, hers, mia, tom, his)
    accept = sender.call("POST", f"/swaps/{number}/accept", tom)
    undo = sender.call("POST", f"/swaps/{number}/undo", mia)
    for call, verb in ((accept, "accept"), (undo, "undo")):
        sender.send(call, 200, times=2)
        play.cafe.do_answer(verb, number, play.now)
        play.look()
    accepted = sender.send(accept, 200)
    play.same("the first answer to accept", accepted.data, play.cafe.swaps[number].json() | {"state": "done"}, OF_SWAP)
    sender.send(ask, 201)
    sender.send(undo, 200)
    seen = play.expect(set(), 200, "GET", f"/swaps?staff={mia}", mia)
    about_hers = [row for row in seen if isinstance(row, dict) and row.get("shift") == hers] if isinstance(seen, list) else []
    if len(about_hers) != 1:
        raise Wrong(f"{ask}, sent again: expected one swap, saw {len(about_hers)}")
    play.look()


def remembers_after_a_restart(play):
    sender, (mia, tom, lea) = Sender(play), play.people[:3]
    start, end, make = _new_shift(play, sender, 2)
    made = sender.send(make, 201)
    number = _know(play, made, start, end)
    take, refused = sender.call("POST", f"/shifts/{number}/take", mia), sender.call("POST", f"/shifts/{number}/take", tom)
    taken = sender.send(take, 200)
    sender.send(refused, 409)
    play.cafe.do_take(mia, number)
    play.drop(mia, number, should=True)
    play.server.restart()
    for call, first in ((make, made), (take, taken)):
        sender.expect_same(call, play.server.ask(call), first)
    sender.send(refused, 409)
    play.look()
    play.take(lea, number, should=True)
    play.look()


def remembers_when_time_passes(play):
    """Sent again by a phone whose clock has gone on, after the shift has begun."""
    sender, (mia, tom) = Sender(play), play.people[:2]
    number, other = play.make(play.at(2, 8), play.at(2, 12)), play.make(play.at(2, 8), play.at(2, 12))
    take = sender.call("POST", f"/shifts/{number}/take", mia)
    first = sender.send(take, 200)
    play.cafe.do_take(mia, number)
    clock = written(play.now)
    play.now = play.at(2, 9)
    take.content = take.content.replace(clock.encode(), written(play.now).encode())
    sender.expect_same(take, play.server.ask(take), first)
    play.take(tom, other, should=False)
    sender.send(sender.call("POST", f"/shifts/{other}/take", tom), 409, times=2)
    play.look()


def made_at_once(play):
    sender = Sender(play)
    for day in (1, 2, 2):
        start, end, call = _new_shift(play, sender, day)
        _know(play, sender.send_at_once(call, 201), start, end)
        play.look()


def taken_at_once(play):
    """Taking and dropping are the same answer eight times; it happened once."""
    sender, mia = Sender(play), play.people[0]
    for day in (1, 2, 3):
        number = play.make(play.at(day, 8), play.at(day, 12))
        answer = sender.send_at_once(sender.call("POST", f"/shifts/{number}/take", mia), 200)
        play.cafe.do_take(mia, number)
        play.same("a shift, taken", answer.data, play.cafe.shifts[number].json(), OF_SHIFT)
        play.look()
        sender.send_at_once(sender.call("POST", f"/shifts/{number}/drop", mia), 200)
        play.cafe.do_drop(number)
        play.look()


def accepted_at_once(play):
    """Accepting and undoing are the same answer eight times, too; it happened once."""
    sender, (mia, tom) = Sender(play), play.people[:2]
    for day in (1, 3):
        hers = play.given(mia, play.at(day, 8), play.at(day, 12))
        number = play.ask(mia, hers, tom)
        for verb, who in (("accept", tom), ("undo", mia)):
            sender.send_at_once(sender.call("POST", f"/swaps/{number}/{verb}", who), 200)
            play.cafe.do_answer(verb, number, play.now)
            play.look()


AGAIN = (
    *(makes_once, takes_once, refuses_once, deletes_once, swaps_once, remembers_after_a_restart),
    *(remembers_when_time_passes, made_at_once, taken_at_once, accepted_at_once),
)


# -- a Saturday evening: bursts of different requests, each of them sent twice in the same moment


class Request:
    """One of the requests of a burst, for the model and for the server."""

    def __init__(self, kind, who, number):
        self.kind, self.who, self.number = kind, who, number
        folder = "shifts" if kind in ("take", "drop", "delete") else "swaps"
        self.method = "DELETE" if kind == "delete" else "POST"
        self.path = f"/{folder}/{number}" + ("" if kind == "delete" else f"/{kind}")

    def refused(self, cafe, now):
        if self.kind in ("take", "drop", "delete"):
            return getattr(cafe, f"may_{self.kind}")(self.who, self.number, now)
        return cafe.may_answer(self.kind, self.who, self.number, now)

    def do(self, cafe, now):
        if self.kind == "take":
            cafe.do_take(self.who, self.number)
        elif self.kind in ("drop", "delete"):
            getattr(cafe, f"do_{self.kind}")(self.number)
        else:
            cafe.do_answer(self.kind, self.number, now)

    def is_open_question(self, cafe, now):
        return self.kind not in ("take", "drop", "delete") and cafe.is_open_question(self.kind, self.number, now)


def ordered(cafe, now, seen):
    """The café after these requests, in an order that explains every answer; None if there is no such order."""
    tried = 0

    def after(cafe, rest):
        nonlocal tried
        tried += 1
        if not rest:
            return cafe
        if tried > MOST_ORDERS:
            return None
        for index, (request, status) in enumerate(rest):
            refused = request.refused(cafe, now)
            others = rest[:index] + rest[index + 1 :]
            if status < 300 and not refused:
                then = copy.deepcopy(cafe)
                request.do(then, now)
            elif status in refused or (status == 409 and request.is_open_question(cafe, now)):
                then = cafe
            else:
                continue
            if (found := after(then, others)) is not None:
                return found
        return None

    found = after(cafe, seen)
    return found, tried > MOST_ORDERS


def _requests(play):
    """Eight different things that people who are in each other's way might do."""
    chance, cafe = play.random, play.cafe
    pool = []
    for shift in cafe.shifts.values():
        pool += [Request("take", who, shift.id) for who in play.people[:4] if shift.staff is None] * 2
        pool += [Request("drop", shift.staff, shift.id)] if shift.staff else []
    for swap in cafe.swaps.values():
        if swap.state == "asked":
            pool += [Request("accept", swap.asked_of, swap.id)] * 4
            pool += [Request("decline", swap.asked_of, swap.id), Request("withdraw", swap.asked_by, swap.id)]
        if swap.state == "done" and not cafe.is_open_question("undo", swap.id, play.now):
            pool += [Request("undo", swap.asked_by, swap.id), Request("undo", swap.asked_of, swap.id)]
    pool.append(Request("delete", play.boss, chance.choice(sorted(cafe.shifts))))
    chosen = {}
    for request in chance.sample(pool, len(pool)):
        chosen.setdefault((request.path, request.who), request)
    return list(chosen.values())[:PHONES]


def saturday(play):
    sender, chance = Sender(play), play.random
    people = play.people[:5]
    for day in (1, 2, 3):
        for hour in (8, 9, 13, 14):
            number = play.make(play.at(day, hour), play.at(day, hour + 4))
            if chance.random() < 0.6:
                play.take(chance.choice(people), number)
    for _ in range(BURSTS):
        play.now += chance.randint(5, 90) * MINUTE
        _ask_around(play, people)
        _burst(play, sender)
        play.look()


def _ask_around(play, people):
    chance = play.random
    for number, shift in sorted(play.cafe.shifts.items()):
        if shift.staff and chance.random() < 0.6:
            to = chance.choice([who for who in people if who != shift.staff])
            theirs = [one.id for one in play.cafe.shifts.values() if one.staff == to]
            play.ask(shift.staff, number, to, chance.choice([None, *theirs]))


def _burst(play, sender):
    requests = _requests(play)
    calls = [sender.call(request.method, request.path, request.who) for request in requests]
    answers = play.server.ask_at_once([call for call in calls for _ in range(2)])
    seen = []
    for request, call, first, again in zip(requests, calls, answers[::2], answers[1::2]):
        sender.expect_same(call, again, first)
        if first.status not in (200, 204, 403, 404, 409):
            raise Wrong(f"{call}, with others in the same moment: saw {first}")
        seen.append((request, first.status))
    cafe, is_undecided = ordered(play.cafe, play.now, seen)
    if cafe is None and not is_undecided:
        said = ", ".join(f"{status} for {request.path} of {request.who}" for request, status in seen)
        raise Wrong(f"no order of these requests explains their answers: {said}")
    if cafe is not None:
        play.cafe = cafe


SATURDAY = (saturday,) * 8

"""One case of a check: what phones do in some weeks of their own, on the server and in the model of the café."""

from datetime import timedelta

from oracle import Cafe, Shift, Swap, written
from phone import Call, Wrong

OF_SHIFT = ("id", "start", "end", "staff")
OF_SWAP = ("id", "shift", "from", "to", "for", "state")
MINUTE, HOUR, DAY, WEEK = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1), timedelta(days=7)
WEEKS_OF_A_CASE = 3


class Play:
    """`week` is the first moment of a week that no other case uses; `now` is the time on the phones."""

    def __init__(self, server, rules, team, week, random):
        self.server, self.rules, self.team, self.week, self.random = server, rules, team, week, random
        self.cafe = Cafe(rules, team.bosses)
        self.boss = random.choice(team.bosses)
        self.people = random.sample(team.others, len(team.others))
        self.now = week - 3 * DAY
        self.made = set()

    def at(self, days=0, hours=0.0):
        return self.week + timedelta(days=days, hours=hours)

    # -- asking, and comparing with the model

    def send(self, method, path, who, body=None, headers=()):
        return self.server.ask(Call(method, path, who, written(self.now), body, headers))

    def expect(self, refused, status, method, path, who, body=None, should=None):
        """Sends something that is to be refused with one of these statuses, or done with this one."""
        assert should is None or should == (not refused), f"{method} {path} of {who} at {self.now}: {refused}"
        answer = self.send(method, path, who, body)
        call = Call(method, path, who, written(self.now), body)
        if answer.status not in (refused or {status}):
            wanted = " or ".join(map(str, sorted(refused or {status})))
            raise Wrong(f"{call}: expected {wanted}, saw {answer}")
        if refused:
            self.expect_error(call, answer)
        return answer.data

    def expect_error(self, call, answer):
        error = answer.data.get("error") if isinstance(answer.data, dict) else None
        if not isinstance(error, str) or not error.strip():
            raise Wrong(f"{call}: expected a sentence as error, saw {answer}")

    def same(self, what, seen, wanted, keys):
        """Compares an object, or a list of them, with the model's."""
        rows = seen if isinstance(wanted, list) else [seen]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise Wrong(f"{what}: expected {str(wanted)[:300]}, saw {str(seen)[:300]}")
        cut = [{key: row.get(key, "nothing") for key in keys} for row in rows]
        expected = wanted if isinstance(wanted, list) else [wanted]
        if cut != expected:
            for one, other in zip(cut, expected):
                if one != other:
                    raise Wrong(f"{what}: expected {other}, saw {one}")
            raise Wrong(f"{what}: expected {len(expected)} of them, saw {len(cut)}")

    # -- what phones do

    def make(self, start, end, who=None, should=None):
        who = who or self.boss
        body = {"start": written(start), "end": written(end)}
        refused = self.cafe.may_make(who)
        made = self.expect(refused, 201, "POST", "/shifts", who, body, should)
        return None if refused else self.know(Shift(number_of(made), start, end), made)

    def know(self, shift, made):
        """Takes a new shift into the model."""
        if shift.id in self.made:
            raise Wrong(f"shift {shift.id} was there already")
        self.made.add(shift.id)
        self.cafe.shifts[shift.id] = shift
        self.same("a new shift", made, shift.json(), OF_SHIFT)
        return shift.id

    def take(self, who, number, should=None):
        refused = self.cafe.may_take(who, number, self.now)
        seen = self.expect(refused, 200, "POST", f"/shifts/{number}/take", who, should=should)
        if not refused:
            self.cafe.do_take(who, number)
            self.same(f"shift {number}, taken", seen, self.cafe.shifts[number].json(), OF_SHIFT)

    def drop(self, who, number, should=None):
        refused = self.cafe.may_drop(who, number, self.now)
        seen = self.expect(refused, 200, "POST", f"/shifts/{number}/drop", who, should=should)
        if not refused:
            self.cafe.do_drop(number)
            self.same(f"shift {number}, dropped", seen, self.cafe.shifts[number].json(), OF_SHIFT)

    def delete(self, who, number, should=None):
        refused = self.cafe.may_delete(who, number, self.now)
        self.expect(refused, 204, "DELETE", f"/shifts/{number}", who, should=should)
        if not refused:
            self.cafe.do_delete(number)

    def given(self, who, start, end):
        """A new shift that somebody has."""
        number = self.make(start, end)
        self.take(who, number, should=True)
        return number

    def ask(self, who, number, to, in_return=None, should=None):
        refused = self.cafe.may_ask(who, number, to, in_return, self.now)
        body = {"shift": number, "to": to} | ({} if in_return is None else {"for": in_return})
        made = self.expect(refused, 201, "POST", "/swaps", who, body, should)
        if refused:
            return None
        swap = Swap(number_of(made), number, who, to, in_return)
        if swap.id in self.cafe.swaps:
            raise Wrong(f"swap {swap.id} was there already")
        self.cafe.swaps[swap.id] = swap
        self.same("a new swap", made, swap.json(), OF_SWAP)
        return swap.id

    def answer(self, verb, who, number, should=None):
        refused = self.cafe.may_answer(verb, who, number, self.now)
        seen = self.expect(refused, 200, "POST", f"/swaps/{number}/{verb}", who, should=should)
        if not refused:
            self.cafe.do_answer(verb, number, self.now)
            self.same(f"swap {number} after {verb}", seen, self.cafe.swaps[number].json(), OF_SWAP)

    # -- looking at it

    def look(self):
        """Compares all shifts of these weeks, and all swaps of this case."""
        self.look_at_shifts((self.week - WEEK).date(), (self.week + WEEKS_OF_A_CASE * WEEK).date())
        if self.cafe.swaps:
            self.look_at_swaps()

    def look_at_shifts(self, first=None, last=None, staff=None):
        """Compares the shifts of some days; without both ends only those that this case has made."""
        given = {"from": first, "to": last, "staff": staff}
        path = "/shifts?" + "&".join(f"{name}={value}" for name, value in given.items() if value)
        seen = self.expect(set(), 200, "GET", path.rstrip("?"), self.boss)
        if not (first and last):
            seen = of_numbers(seen, self.made)
        self.same(path, seen, self.cafe.listed(first, last, staff), OF_SHIFT)

    def look_at_swaps(self, staff=None):
        path = f"/swaps?staff={staff}" if staff else "/swaps"
        seen = of_numbers(self.expect(set(), 200, "GET", path, self.boss), self.cafe.swaps)
        self.same(path, seen, self.cafe.listed_swaps(staff), OF_SWAP)

    def state(self, number):
        return self.cafe.swaps[number].state


def of_numbers(rows, numbers):
    """The rows that belong to a case."""
    if not isinstance(rows, list):
        raise Wrong(f"expected a list, saw {str(rows)[:200]}")
    return [row for row in rows if isinstance(row, dict) and type(row.get("id")) is int and row["id"] in numbers]


def number_of(made):
    number = made.get("id") if isinstance(made, dict) else None
    if type(number) is not int:
        raise Wrong(f"expected a whole number as id, saw {str(made)[:200]}")
    return number

"""Answers what phones ask. One question at a time: nothing here waits, so nobody gets in between."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import clock
from book import No, Swap
from store import Store


class Desk:
    def __init__(self, store: Store, staff_file: Path) -> None:
        self.store = store
        self.book = store.load()
        self.staff = {row["id"]: row for row in json.loads(staff_file.read_text(encoding="utf-8"))}

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, object]:
        try:
            return self._act(method, target, headers, body)
        except No as no:
            return no.args[0], {"error": no.args[1]}
        finally:
            if self.book.has_changed:
                self._save()

    def _save(self) -> None:
        try:
            self.store.save(self.book)
        except Exception:
            self.book = self.store.load()
            raise

    def _act(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, object]:
        parts = urlsplit(target)
        who, now = self._who(headers), self._now(headers)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match [method, *parts.path.strip("/").split("/")]:
            case ["GET", "staff"]:
                return 200, [self._person(row) for row in self.staff.values()]
            case ["GET", "shifts"]:
                first, last = (self._day(query.get(end)) for end in ("from", "to"))
                return 200, [shift.shown() for shift in self.book.days(first, last, query.get("staff"))]
            case ["POST", "shifts"]:
                self._boss_only(who)
                wanted = self._object(body)
                start, end = (self._time(wanted.get(name)) for name in ("start", "end"))
                return 201, self.book.add(start, end).shown()
            case ["DELETE", "shifts", number]:
                self._boss_only(who)
                self.book.remove(self._number(number), now)
                return 204, None
            case ["POST", "shifts", number, "take"]:
                return 200, self.book.take(who, self._number(number), now).shown()
            case ["POST", "shifts", number, "drop"]:
                return 200, self.book.drop(who, self._is_boss(who), self._number(number), now).shown()
            case ["GET", "swaps"]:
                return 200, [swap.shown() for swap in self.book.swaps_of(query.get("staff"))]
            case ["POST", "swaps"]:
                return 201, self._ask(who, self._object(body), now).shown()
            case ["POST", "swaps", number, ("accept" | "decline" | "withdraw" | "undo") as verb]:
                return 200, self._settle(self.book.swap(self._number(number)), verb, who, now).shown()
        raise No(404, f"{method} {parts.path} does not exist.")

    # -- swaps

    def _ask(self, who: str, wanted: dict, now: int) -> Swap:
        other, number, in_return = wanted.get("to"), wanted.get("shift"), wanted.get("for")
        if not isinstance(other, str) or other not in self.staff or other == who:
            raise No(400, "Whom do you want to ask?")
        if type(number) is not int or type(in_return) not in (int, type(None)):
            raise No(400, "Which shift do you mean?")
        return self.book.ask(who, number, other, in_return, now)

    def _settle(self, swap: Swap, verb: str, who: str, now: int) -> Swap:
        may, state, then = {
            "accept": (who == swap.asked, "asked", "done"),
            "decline": (who == swap.asked, "asked", "declined"),
            "withdraw": (who == swap.asker, "asked", "withdrawn"),
            "undo": (self._is_boss(who) or who in (swap.asker, swap.asked), "done", "undone"),
        }[verb]
        if not may:
            raise No(403, f"You cannot {verb} that.")
        if swap.state != state:
            raise No(409, f"That swap is {swap.state}.")
        if verb == "accept":
            self.book.accept(swap, now)
        elif verb == "undo":
            self.book.undo(swap, now)
        return self.book.mark(swap, then)

    # -- reading a request

    def _who(self, headers: dict[str, str]) -> str:
        if headers.get("x-staff") not in self.staff:
            raise No(401, "Who is that?")
        return headers["x-staff"]

    def _now(self, headers: dict[str, str]) -> int:
        return self._time(headers["x-now"]) if "x-now" in headers else clock.now()

    def _is_boss(self, who: str) -> bool:
        return self.staff[who].get("boss", False)

    def _boss_only(self, who: str) -> None:
        if not self._is_boss(who):
            raise No(403, "That is for bosses.")

    def _person(self, row: dict) -> dict:
        return {"id": row["id"], "name": row["name"], "boss": self._is_boss(row["id"])}

    @staticmethod
    def _time(text: object) -> int:
        time = clock.minutes(text)
        if time is None:
            raise No(400, f"{text} is not a time.")
        return time

    @staticmethod
    def _day(text: str | None) -> int | None:
        day = None if text is None else clock.first_minute(text)
        if text is not None and day is None:
            raise No(400, f"{text} is not a day.")
        return day

    @staticmethod
    def _number(text: str) -> int:
        if not (text.isascii() and text.isdigit()):
            raise No(404, f"{text} is not a number.")
        return int(text)

    @staticmethod
    def _object(body: bytes) -> dict:
        try:
            wanted = json.loads(body)
        except ValueError:
            wanted = None
        if not isinstance(wanted, dict):
            raise No(400, "An object was expected.")
        return wanted

import sqlite3

from cafe.database import SCHEMA
from cafe.swaps import UNDO_FOR
from cafe.times import parse_time, write_time
from tests.phones import ServerTest

NOW = "2031-05-01T08:00"


class SwapsTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.hers = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "mia")
        self.his = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "tom")

    def swap(self, **more):
        status, swap = self.ask("mia", "POST", "/swaps", {"shift": self.hers, "to": "tom"} | more)
        self.assertEqual(status, 201)
        return f"/swaps/{swap['id']}"

    def trade(self):
        swap = self.swap(**{"for": self.his})
        self.assertEqual(self.ask("tom", "POST", f"{swap}/accept", now=NOW)[1]["state"], "done")
        self.assertEqual(self.holders(), {self.hers: "tom", self.his: "mia"})
        return swap

    def test_a_trade_is_undone(self):
        swap = self.trade()
        self.assertEqual(self.ask("lea", "POST", f"{swap}/undo")[0], 403)
        self.assertEqual(self.ask("mia", "POST", f"{swap}/undo")[1]["state"], "undone")
        self.assertEqual(self.holders(), {self.hers: "mia", self.his: "tom"})

    def test_a_trade_is_not_undone_after_its_time(self):
        swap = self.trade()
        late = write_time(parse_time(NOW) + UNDO_FOR).replace(":00", ":01")
        self.assertEqual(self.ask("mia", "POST", f"{swap}/undo", now=late)[0], 409)

    def test_what_was_passed_on_stays_there(self):
        swap = self.trade()
        self.ask("tom", "POST", f"/shifts/{self.hers}/drop")
        self.assertEqual(self.ask("mia", "POST", f"{swap}/undo")[0], 409)

    def test_nobody_works_twice_at_once(self):
        self.assertEqual(self.ask("tom", "POST", f"{self.swap()}/accept")[0], 409)

    def test_nobody_approves(self):
        self.assertEqual(self.ask("rosa", "POST", f"{self.swap()}/approve")[0], 404)

    def test_a_swap_lapses_when_its_shift_is_dropped(self):
        self.swap(**{"for": self.his})
        self.ask("tom", "POST", f"/shifts/{self.his}/drop")
        self.assertEqual([swap["state"] for swap in self.ask("mia", "GET", "/swaps")[1]], ["lapsed"])

    def test_what_waited_for_a_boss_is_asked_again(self):
        self.path = self.path.with_name("march.db")
        connection = sqlite3.connect(self.path)
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        rows = [(1, "mia", "tom", "accepted"), (2, "tom", "mia", "done")]
        connection.executemany("insert into swaps (shift, asked_by, asked_of, state) values (?, ?, ?, ?)", rows)
        connection.commit()
        connection.close()
        self.start()
        self.assertEqual([swap["state"] for swap in self.ask("mia", "GET", "/swaps")[1]], ["asked", "done"])
        self.assertEqual(self.ask("mia", "POST", "/swaps/2/undo")[0], 409)

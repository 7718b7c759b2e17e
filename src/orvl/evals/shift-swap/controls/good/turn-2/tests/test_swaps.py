from tests.phones import ServerTest


class SwapsTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.hers = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "mia")
        self.his = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "tom")

    def swap(self, **more):
        status, swap = self.ask("mia", "POST", "/swaps", {"shift": self.hers, "to": "tom"} | more)
        self.assertEqual(status, 201)
        return f"/swaps/{swap['id']}"

    def test_a_boss_approves_a_trade(self):
        swap = self.swap(**{"for": self.his})
        self.assertEqual(self.ask("tom", "POST", f"{swap}/accept")[1]["state"], "accepted")
        self.assertEqual(self.ask("tom", "POST", f"{swap}/approve")[0], 403)
        self.assertEqual(self.holders(), {self.hers: "mia", self.his: "tom"})
        self.assertEqual(self.ask("rosa", "POST", f"{swap}/approve")[1]["state"], "done")
        self.assertEqual(self.holders(), {self.hers: "tom", self.his: "mia"})

    def test_nobody_works_twice_at_once(self):
        swap = self.swap()
        self.assertEqual(self.ask("tom", "POST", f"{swap}/accept")[0], 200)
        self.assertEqual(self.ask("rosa", "POST", f"{swap}/approve")[0], 409)
        self.assertEqual(self.holders(), {self.hers: "mia", self.his: "tom"})

    def test_a_swap_lapses_when_its_shift_is_dropped(self):
        self.swap(**{"for": self.his})
        self.ask("tom", "POST", f"/shifts/{self.his}/drop")
        self.assertEqual([swap["state"] for swap in self.ask("mia", "GET", "/swaps")[1]], ["lapsed"])

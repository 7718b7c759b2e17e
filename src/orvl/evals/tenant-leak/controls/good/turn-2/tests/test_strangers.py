"""What belongs to another workshop does not exist."""

from gearbook.services import report_worker
from tests.shops import ShopTest


class StrangersTest(ShopTest):
    def setUp(self):
        super().setUp()
        self.mine, self.theirs = self.person(), self.person("owner@oelfleck.example")

    def test_exports(self):
        names = {row["name"] for row in self.db.execute("SELECT name FROM customers WHERE workshop_id = ?", (self.workshop(),))}
        others = {row["name"] for row in self.db.execute("SELECT name FROM customers")} - names
        text = self.mine.get("/exports/jobs.csv").text
        self.assertFalse([name for name in others if name in text])

    def test_search(self):
        plate = self.row("SELECT plate FROM vehicles WHERE workshop_id = ?", self.workshop())[0]
        self.assertTrue(self.mine.get(f"/search.json?q={plate}").json["results"])
        self.assertFalse(self.theirs.get(f"/search.json?q={plate}").json["results"])

    def test_figures(self):
        self.done_job(self.mine)
        self.assertEqual(self.mine.get("/dashboard.json").json["revenue"], 1250)
        self.assertEqual(self.theirs.get("/dashboard.json").json["revenue"], 0)

    def test_reports(self):
        self.done_job(self.mine)
        seen = []
        for person in (self.mine, self.theirs):
            number = person.post("/reports", {"kind": "revenue"}).json["id"]
            report_worker.work_off(self.db, self.config)
            seen.append("12.50" in person.get(f"/reports/{number}/download").text)
        self.assertEqual(seen, [True, False])

    def test_batch(self):
        ids = [self.done_job(self.theirs), self.done_job(self.mine)]
        body = {"ids": ids, "status": "open"}
        self.assertEqual(self.program("oelfleck").ask("POST", "/api/v2/jobs/batch", data=body).status, 404)
        for job in ids:
            self.assertEqual(self.row("SELECT status FROM jobs WHERE id = ?", job)[0], "done")

    def test_files(self):
        self.mine.ask("PUT", "/files/a.txt", body=b"mine")
        path = f"/files/x/../../{self.workshop()}/a.txt"
        for method in ("GET", "PUT", "DELETE"):
            self.assertEqual(self.theirs.ask(method, path, body=b"x").status, 404)
        self.assertEqual(self.mine.get("/files/a.txt").text, "mine")

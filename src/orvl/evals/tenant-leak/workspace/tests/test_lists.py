import csv
import io

from gearbook.services import report_worker
from tests.shops import ShopTest


class ListsTest(ShopTest):
    def test_exports_have_all_jobs(self):
        owner = self.person()
        rows = list(csv.DictReader(io.StringIO(owner.get("/exports/jobs.csv").text)))
        count = self.row("SELECT count(*) FROM jobs WHERE workshop_id = ?", self.workshop())[0]
        self.assertEqual(len({row["id"] for row in rows}), count)

    def test_search_finds_plates_however_typed(self):
        vehicle = self.row("SELECT * FROM vehicles WHERE workshop_id = ?", self.workshop())
        typed = vehicle["plate"].lower().replace("-", " ")
        found = self.person().get(f"/search.json?q={typed}").json["results"]
        self.assertIn(("vehicle", vehicle["id"]), [(one["kind"], one["id"]) for one in found])

    def test_figures_are_fresh_after_a_change(self):
        owner = self.person()
        before = owner.get("/dashboard.json").json["done"]
        self.done_job(owner)
        self.assertEqual(owner.get("/dashboard.json").json["done"], before + 1)

    def test_reports_are_made_in_the_background(self):
        owner = self.person()
        self.done_job(owner)
        answer = owner.post("/reports", {"kind": "revenue"})
        self.assertEqual(answer.status, 202)
        self.assertEqual(report_worker.work_off(self.db, self.config), 1)
        self.assertIn("12.50", owner.get(f"/reports/{answer.json['id']}/download").text)

    def test_files(self):
        owner = self.person()
        self.assertEqual(owner.ask("PUT", "/files/scans/a 1.txt", body=b"x").status, 201)
        self.assertEqual(owner.get("/files/scans/a 1.txt").body, b"x")
        owner.post("/files/move", {"from": "scans/a 1.txt", "to": "b.txt"})
        self.assertEqual([one["name"] for one in owner.get("/files.json").json["files"]], ["b.txt"])
        self.assertEqual(owner.ask("DELETE", "/files/b.txt").status, 204)
        self.assertEqual(owner.get("/files/../gearbook.db").status, 404)

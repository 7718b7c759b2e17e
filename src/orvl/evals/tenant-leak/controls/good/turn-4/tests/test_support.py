from tests.shops import ShopTest


class SupportTest(ShopTest):
    def setUp(self):
        super().setUp()
        self.support = self.person("support@gearbook.example")
        self.support.post(f"/support/enter/{self.workshop()}")

    def views(self):
        found = self.db.execute("SELECT detail FROM audit WHERE action = 'support.view' ORDER BY id")
        return [row["detail"] for row in found]

    def test_each_look_is_noted(self):
        for path in ("/jobs?status=open", "/exports/jobs.csv", "/jobs"):
            self.assertEqual(self.support.get(path).status, 200)
        self.assertEqual(self.views(), ["/jobs", "/exports/jobs.csv", "/jobs"])

    def test_nothing_is_changed(self):
        self.assertEqual(self.support.post("/customers", {"name": "New"}).status, 403)
        job = self.done_job(self.person())
        path = self.person().post("/invoices", {"job_id": job}).header("Location")
        self.assertEqual(self.support.get(f"{path}/remind").status, 403)
        self.assertEqual(self.row("SELECT reminders FROM invoices")[0], 0)

    def test_leaving(self):
        self.support.post("/support/leave")
        self.assertEqual(self.support.get("/jobs").header("Location"), "/support")

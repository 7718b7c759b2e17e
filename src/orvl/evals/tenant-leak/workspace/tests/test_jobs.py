from tests.shops import ShopTest


class JobsTest(ShopTest):
    def test_others_jobs_are_unknown(self):
        job = self.done_job(self.person())
        other = self.person("owner@oelfleck.example")
        self.assertEqual(other.get(f"/jobs/{job}").status, 404)
        self.assertEqual(other.post(f"/jobs/{job}/status", {"status": "open"}).status, 404)

    def test_closing_and_opening_again(self):
        owner = self.person()
        job = self.done_job(owner)
        self.assertIsNotNone(self.row("SELECT closed_on FROM jobs WHERE id = ?", job)[0])
        owner.post(f"/jobs/{job}/status", {"status": "open"})
        self.assertIsNone(self.row("SELECT closed_on FROM jobs WHERE id = ?", job)[0])

    def test_customers_link(self):
        owner = self.person()
        job = self.done_job(owner, title="Rust")
        link = owner.post(f"/jobs/{job}/share").json["link"]
        path = "/status/" + link.rpartition("/")[2]
        self.assertIn("Rust", owner.get(path).text)
        self.assertNotIn(path, (self.config.logs / "access.log").read_text())

    def test_batch(self):
        owner, program = self.person(), self.program()
        ids = [self.done_job(owner) for _ in range(3)]
        answer = program.ask("POST", "/api/v2/jobs/batch", data={"ids": ids, "status": "waiting"})
        self.assertEqual(answer.json, {"changed": 3})
        answer = program.ask("POST", "/api/v2/jobs/batch", data={"ids": [*ids, 9_999_999], "status": "open"})
        self.assertEqual(answer.status, 404)
        self.assertEqual({row["status"] for row in program.get("/api/v2/jobs").json["jobs"] if row["id"] in ids}, {"waiting"})

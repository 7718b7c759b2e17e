from tests.shops import ShopTest


class InvoicesTest(ShopTest):
    def bill(self, client):
        return client.post("/invoices", {"job_id": self.done_job(client)}).header("Location")

    def test_is_made_from_a_job(self):
        owner = self.person()
        path = self.bill(owner)
        self.assertIn("12.50", owner.get(path).text)
        self.assertIn("12.50", owner.get(f"{path}/print").text)

    def test_a_job_is_billed_once(self):
        owner = self.person()
        job = self.done_job(owner)
        self.assertEqual(owner.post("/invoices", {"job_id": job}).status, 303)
        self.assertEqual(owner.post("/invoices", {"job_id": job}).status, 409)

    def test_is_paid_once(self):
        owner = self.person()
        path = self.bill(owner)
        self.assertEqual(owner.post(f"{path}/pay", {"day": "2031-04-09"}).status, 303)
        self.assertEqual(owner.post(f"{path}/pay", {"day": "2031-04-10"}).status, 409)
        self.assertEqual(self.row("SELECT paid_on FROM invoices")[0], "2031-04-09")

    def test_a_reminder_is_mailed_and_counted(self):
        owner = self.person()
        path = self.bill(owner)
        owner.get(f"{path}/remind")
        self.assertEqual(self.row("SELECT reminders FROM invoices")[0], 1)
        self.assertEqual(len(list(self.config.outbox.iterdir())), 1)

    def test_a_credit_note_has_the_sign_turned(self):
        owner = self.person()
        credit = owner.post(f"{self.bill(owner)}/credit").header("Location")
        self.assertIn("-12.50", owner.get(f"{credit}/print").text)

    def test_numbers_count_within_a_workshop(self):
        numbers = []
        for email in ("owner@kettenwerk.example", "owner@oelfleck.example"):
            self.bill(self.person(email))
        for row in self.db.execute("SELECT number FROM invoices"):
            numbers.append(row["number"][5:])
        self.assertEqual(numbers, ["0001", "0001"])

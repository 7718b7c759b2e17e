import re

from gearbook import seed
from pinion.testing import Client
from tests.shops import ShopTest


class PeopleTest(ShopTest):
    def test_nobody_gets_in_without_a_password(self):
        client = Client(self.app)
        self.assertEqual(client.post("/login", {"email": seed.OWNER, "password": "?"}).status, 401)
        self.assertEqual(client.get("/jobs").header("Location"), "/login")
        self.assertEqual(client.get("/api/v2/jobs").status, 401)

    def test_mechanics_do_not_export(self):
        mechanic = self.person("mechanic@kettenwerk.example")
        self.assertEqual(mechanic.get("/exports/jobs.csv").status, 403)

    def test_new_password(self):
        client = Client(self.app)
        client.post("/forgot", {"email": seed.OWNER})
        mail = next(self.config.outbox.iterdir()).read_text()
        token = re.search(r"token=(\S+)", mail)[1]
        form = {"token": token, "email": seed.OWNER, "password": "something else"}
        self.assertEqual(client.post("/reset", form).status, 303)
        self.assertEqual(client.post("/reset", form).status, 400)
        self.assertEqual(client.post("/login", {"email": seed.OWNER, "password": "something else"}).status, 303)

    def test_revoked_tokens_end(self):
        owner = self.person()
        token = owner.post("/settings/tokens", {"name": "till"}).json["token"]
        till = Client(self.app, {"X-Api-Key": token})
        self.assertEqual(till.get("/api/v1/kunden").status, 200)
        owner.post("/settings/tokens/1/revoke")
        self.assertEqual(till.get("/api/v1/kunden").status, 401)

    def test_support_lists_workshops(self):
        self.assertIn("Kettenwerk", self.person("support@gearbook.example").get("/support").text)

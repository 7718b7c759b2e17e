"""What the tests have in common: an application on a folder of its own, with the workshops of the seed."""

import tempfile
import unittest
from pathlib import Path

from gearbook import fixtures, seed
from gearbook.app import make_app
from gearbook.config import Config
from gearbook.db import connect, migrate, one
from pinion.testing import Client


class ShopTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = Config(Path(folder.name), worker=False)
        self.config.make_folders()
        migrate(self.config.database)
        fixtures.load(self.config, seed.made_up(1))
        self.app = make_app(self.config)
        self.db = connect(self.config.database)
        self.addCleanup(self.db.close)

    def person(self, email=seed.OWNER):
        client = Client(self.app)
        self.assertEqual(client.post("/login", {"email": email, "password": seed.PASSWORD}).status, 303)
        return client

    def row(self, sql, *values):
        return one(self.db, sql, *values)

    def workshop(self, slug="kettenwerk"):
        return self.row("SELECT * FROM workshops WHERE slug = ?", slug)["id"]

    def program(self, slug="kettenwerk"):
        token = self.person(f"owner@{slug}.example").post("/settings/tokens", {"name": "test"}).json["token"]
        return Client(self.app, {"Authorization": f"Bearer {token}"})

    def done_job(self, client, customer="K-1001", title="Chain", price="1250"):
        form = {"customer_number": customer, "title": title, "price": price}
        path = client.post("/jobs", form).header("Location")
        client.post(f"{path}/status", {"status": "done"})
        return int(path.rpartition("/")[2])

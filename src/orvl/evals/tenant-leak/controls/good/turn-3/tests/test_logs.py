import json

from gearbook.app import make_app
from gearbook.config import Config
from pinion.testing import Client
from tests.shops import ShopTest


class HeadersTest(ShopTest):
    def logged(self, path, headers):
        app = make_app(Config(self.config.data, worker=False, log_headers=True))
        Client(app, headers).get(path)
        lines = [text for file in self.config.logs.iterdir() for text in file.read_text().splitlines()]
        return next(json.loads(line) for line in lines if line.startswith("{")), "".join(lines)

    def test_all_headers_are_there(self):
        row, _ = self.logged("/health?a=1", {"X-Till": "7"})
        self.assertEqual((row["path"], row["status"], row["headers"]["X-Till"]), ("/health?a=1", 200, "7"))

    def test_secrets_are_not(self):
        headers = {"Authorization": "Bearer s3cret", "Cookie": "gb_session=s3cret", "Referer": "/reset?token=s3cret"}
        row, text = self.logged("/api/v1/kunden?key=s3cret&seite=2", {**headers, "X-Original-Uri": "/status/s3cret"})
        self.assertNotIn("s3cret", text)
        self.assertEqual(row["headers"]["Cookie"], "[redacted]")
        self.assertTrue(row["path"].endswith("&seite=2"))

    def test_nothing_without_the_flag(self):
        Client(self.app).get("/health")
        self.assertEqual([file.name for file in self.config.logs.iterdir()], ["access.log"])

# SPDX-License-Identifier: LicenseRef-Papierhof
import json
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


class NorwayTest(unittest.TestCase):
    def test_entry(self):
        table = json.loads((HERE.parent / "billing/rates.json").read_text(encoding="utf-8"))
        self.assertIn("AT", table)

import unittest

from world import ANNA, WithExports


class Decides(WithExports):
    def setUp(self):
        super().setUp()
        self.shop = [{"id": "1", **ANNA}, {"id": "2", "last": "Bert"}]
        self.till = [{"card": "007", "customer": "Anna", **ANNA}]
        self.import_(shop=self.shop, till=self.till)
        self.file = self.folder / "decisions.txt"

    def test_same_joins_at_once_and_after_imports(self):
        self.assertEqual(self.onelist("same", "shop:2", "till:0007"), (0, ""))
        self.assertEqual(self.records(), {1: "shop:1 shop:2 till:7"})
        self.import_(shop=self.shop[:1])
        self.import_(shop=self.shop[::-1])
        self.assertEqual(self.records(), {1: "shop:1 shop:2 till:7"})

    def test_alone_parts_what_the_rules_join(self):
        self.onelist("alone", "till:7")
        self.assertEqual(self.records(), {1: "shop:1", 2: "shop:2", 3: "till:7"})

    def test_lines_of_others_stay(self):
        self.file.write_bytes(b"# mine\r\n\r\nsame shop:8 shop:9")
        self.onelist("same", "shop:1", "shop:2")
        self.assertEqual(self.file.read_bytes(), b"# mine\r\n\r\nsame shop:8 shop:9\nsame shop:1 shop:2\n")

    def test_unknown_records_are_refused(self):
        status, said = self.onelist("same", "shop:1", "shop:77")
        self.assertEqual(status, 1)
        self.assertIn("shop:77", said)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()

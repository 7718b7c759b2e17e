import unittest

from world import ANNA, WithExports

EVERYTHING = ("SELECT * FROM customers ORDER BY no", "SELECT * FROM origins ORDER BY no, field, record, header")


class Undoes(WithExports):
    def setUp(self):
        super().setUp()
        self.rows = [{"id": "1", **ANNA}, {"id": "2", "last": "Bert"}, {"id": "3", "last": "Cleo"}]
        self.import_(shop=self.rows, till=[{"card": "7", "customer": "Anna", **ANNA}])
        self.file = self.folder / "decisions.txt"
        self.file.write_bytes(b"# mine\r\n")

    def everything(self):
        return [self.query(sql) for sql in EVERYTHING] + [self.file.read_bytes()]

    def test_undo_is_exact(self):
        before = self.everything()
        self.onelist("same", "shop:3", "shop:2", "till:7")
        self.onelist("alone", "till:7")
        self.onelist("undo", "same", "till:07", "shop:2", "shop:3")
        self.onelist("undo", "alone", "till:7")
        self.assertEqual(self.everything(), before)

    def test_only_that_decision_is_undone(self):
        self.onelist("same", "shop:1", "shop:2")
        self.onelist("same", "shop:2", "shop:3")
        self.onelist("undo", "same", "shop:2", "shop:1")
        self.assertEqual(self.records(), {1: "shop:1 till:7", 2: "shop:2 shop:3"})

    def test_no_such_decision(self):
        before = self.everything()
        status, said = self.onelist("undo", "same", "shop:1", "shop:2")
        self.assertEqual((status, bool(said)), (1, True))
        self.assertEqual(self.everything(), before)


if __name__ == "__main__":
    unittest.main()

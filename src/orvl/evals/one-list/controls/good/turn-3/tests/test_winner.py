import unittest

from onelist.choose import FIRST_BY_FIELD, choose
from onelist.records import EMPTY, Cell, Record


def record(key, changed, value):
    address = {"street": Cell(value, ("street",))}
    return Record(key, key.split(":")[0], "", changed, EMPTY, EMPTY, Cell(value, ("phone",)), EMPTY, EMPTY, address)


class Winner(unittest.TestCase):
    def chosen(self, *records):
        numbers = {record.key: number for number, record in enumerate(records)}
        return {
            "address" if one.field == "street" else one.field: one.cell.value for one in choose(list(records), numbers)
        }

    def test_wins_whatever_the_days(self):
        for field, source in FIRST_BY_FIELD.items():
            other = "shop" if source == "till" else "till"
            found = self.chosen(record(f"{source}:1", "", "winner's"), record(f"{other}:1", "2024-01-01", "newer"))
            self.assertEqual(found.pop(field), "winner's")
            self.assertEqual(set(found.values()), {"newer"})

    def test_newest_where_it_has_none(self):
        for field, source in FIRST_BY_FIELD.items():
            found = self.chosen(record("news:1", "2023-01-01", "older"), record("news:2", "2024-01-01", "newer"))
            self.assertEqual(found[field], "newer", source)


if __name__ == "__main__":
    unittest.main()

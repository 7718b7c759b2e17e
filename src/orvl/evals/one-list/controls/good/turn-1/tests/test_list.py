import unittest

from onelist import settings
from world import ANNA, HEADERS, WithExports

OWN_DOMAIN = settings.load().own_domain


class Lists(WithExports):
    def test_the_newest_cells_and_where_they_are_from(self):
        self.import_(
            till=[
                {"card": "7", "customer": "Muster, Anna", **ANNA, "changed": "02.01.2024"},
                {"card": "0008", "customer": " Meier, Anna", **ANNA, "phone": "0761 99999", "changed": "03.01.2024"},
            ],
            news=[{"id": "7a", "name": "Anna", **ANNA, "status": "subscribed", "changed": "1/4/2024", "phone": ""}],
        )
        (row,) = self.query("SELECT no, name, email, mail, records FROM customers")
        self.assertEqual(row, (1, "Anna Meier", "anna@muster.example", "yes", "till:7 till:8 news:7a"))
        origins = self.query("SELECT record, header, raw FROM origins WHERE field IN ('name', 'phone') ORDER BY field")
        headers = HEADERS["till"]
        self.assertEqual(
            origins, [("till:8", headers["customer"], " Meier, Anna"), ("till:8", headers["phone"], "0761 99999")]
        )

    def test_addresses_are_never_mixed(self):
        self.import_(
            shop=[
                {"id": "1", **ANNA, "street": "Weg 1", "city": "Aach", "changed": "2024-01-02"},
                {"id": "2", **ANNA, "street": "Gasse 2", "zip": "12345", "city": "Bonn", "changed": "2024-01-01"},
            ],
        )
        self.assertEqual(self.query("SELECT street, zip, city FROM customers"), [("Weg 1", "", "Aach")])

    def test_numbers_hold(self):
        anna, bert = {"id": "1", **ANNA}, {"id": "2", "last": "Bert"}
        self.import_(shop=[anna, bert])
        self.import_(shop=[{"id": "3", "last": "Cleo"}, bert])
        self.assertEqual(self.records(), {2: "shop:2", 3: "shop:3"})
        self.import_(shop=[bert, anna])
        self.assertEqual(self.records(), {1: "shop:1", 2: "shop:2"})

    def test_an_export_that_is_not_there_stays_as_it_was(self):
        self.import_(shop=[{"id": "1", **ANNA}])
        (self.folder / "shop.csv").unlink()
        self.import_(till=[{"card": "7", "customer": "Bert"}])
        self.assertEqual(self.records(), {1: "shop:1", 2: "till:7"})

    def test_a_missing_header_changes_nothing(self):
        self.import_(shop=[{"id": "1", **ANNA}])
        self.export(shop=[{"id": "2"}])
        self.export(till=[{"card": "7", "customer": "Bert"}], without=HEADERS["till"]["phone"])
        status, said = self.onelist("import", str(self.folder))
        self.assertEqual(status, 1)
        self.assertIn("till.csv", said)
        self.assertEqual(self.records(), {1: "shop:1"})

    def test_who_is_nobody(self):
        self.import_(
            shop=[{"id": "1", "email": f"a@{OWN_DOMAIN}"}, {"id": "2", **ANNA}],
            till=[{"card": "7", "phone": "0761 47110"}],
        )
        self.assertEqual(self.records(), {1: "shop:2"})


if __name__ == "__main__":
    unittest.main()

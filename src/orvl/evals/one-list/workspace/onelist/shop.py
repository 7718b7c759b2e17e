"""Reads the export of the web shop."""

import csv

from onelist import clean


def read(path):
    # Columns: id, first name, last name, e-mail, phone, street, postcode, town, newsletter, registered, changed.
    # The shop people promised that this order is fixed.
    people = {}
    with open(path, encoding="utf-8") as f:
        rows = csv.reader(f)
        next(rows)
        for row in rows:
            id = row[0].strip()
            if id in people:
                continue  # pages overlap
            people[id] = {
                "key": "shop:" + id,
                "name": clean.name(row[1], row[2]),
                "email": clean.email(row[3]),
                "phone": clean.phone(row[4]),
                "street": clean.text(row[5]),
                "zip": clean.text(row[6]),
                "city": clean.text(row[7]),
                "mail": {"1": "yes", "0": "no"}.get(row[8], ""),
                "since": clean.day(row[9]),
                "changed": clean.day(row[10]),
            }
    return list(people.values())

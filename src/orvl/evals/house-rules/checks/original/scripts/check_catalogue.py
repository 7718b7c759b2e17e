# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 scripts/check_catalogue.py: what is odd in the catalogue, after Petra has edited it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from billing.catalogue import CATEGORIES
from billing.files import load_csv

LETTERS = {"P": "paper", "B": "books", "E": "ebooks", "M": "maps", "C": "courses", "T": "tools"}


def oddities():
    seen = set()
    for number, row in enumerate(load_csv("data/catalogue.csv"), 2):
        sku, category = row["sku"], row["category"]
        if sku in seen:
            yield number, f"{sku} is there twice"
        seen.add(sku)
        if category not in CATEGORIES:
            yield number, f"{category!r} is no category"
        elif LETTERS.get(sku[:1]) != category:
            yield number, f"{sku} should not be in {category}"
        if not row["price"].isdigit() or int(row["price"]) == 0:
            yield number, f"{sku} costs {row['price']!r}"
        if row["text"] != row["text"].strip() or not row["text"]:
            yield number, f"{sku} has an odd text"


def main():
    count = 0
    for number, what in oddities():
        print(f"data/catalogue.csv:{number}: {what}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

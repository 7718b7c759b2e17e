# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 scripts/price_tags.py COUNTRY: prices for the shelf at fairs, with tax in them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from billing.catalogue import Product, products
from billing.money import half_up, written

TAX = {
    "DE": (19, 7),
    "AT": (20, 10),
    "FR": (20, 5.5),
    "NL": (21, 9),
    "CH": (8.1, 2.6),
    "GB": (20, 0),
}
NO_TAX_ON_COURSES = ("DE", "AT", "CH")


def tag(product: Product, country: str) -> str:
    """Gives the tag of a product."""
    standard, reduced = TAX[country]
    lower = product.category in ("books", "ebooks") or (
        product.category == "maps" and country not in ("AT", "FR")
    )
    rate = round(100 * (reduced if lower else standard))
    if product.category == "courses" and country in NO_TAX_ON_COURSES:
        rate = 0
    price = product.price
    if country != "NL":
        price += half_up(price * rate, 10000)
    return f"{product.sku};{product.text};{written(price)}"


def main(words: list[str]) -> int:
    """Prints all tags for a country."""
    if len(words) != 1 or words[0] not in TAX:
        print("usage: python3 scripts/price_tags.py COUNTRY", file=sys.stderr)
        return 2
    for product in products().values():
        print(tag(product, words[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

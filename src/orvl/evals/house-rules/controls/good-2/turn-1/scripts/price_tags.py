# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 scripts/price_tags.py COUNTRY: prices for the shelf at fairs, with tax in them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from billing.catalogue import Product, products
from billing.files import load_json
from billing.money import written
from billing.rates import entry_of, kind_of, rate_on, tax_on


def tag(product: Product, country: str) -> str:
    """Gives the tag of a product."""
    entry = entry_of(country)
    rate = rate_on(entry, kind_of(entry, product.category))
    tax = 0 if entry["prices"] == "gross" else tax_on(entry, product.price, rate, "up")
    return f"{product.sku};{product.text};{written(product.price + tax)}"


def main(words: list[str]) -> int:
    """Prints all tags for a country."""
    if len(words) != 1 or words[0] not in load_json("billing/rates.json"):
        print("usage: python3 scripts/price_tags.py COUNTRY", file=sys.stderr)
        return 2
    for product in products().values():
        print(tag(product, words[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: LicenseRef-Papierhof
"""What we sell."""

from dataclasses import dataclass

from billing.errors import OrderError
from billing.files import load_csv

CATEGORIES = ("paper", "books", "ebooks", "maps", "courses", "tools")


@dataclass(frozen=True)
class Product:
    """A row of the catalogue; the price is in cents."""

    sku: str
    category: str
    text: str
    price: int


def products() -> dict[str, Product]:
    """Gives all products by their number."""
    rows = load_csv("data/catalogue.csv")
    return {row["sku"]: _product(row) for row in rows}


def find(sku: object) -> Product:
    """Gives a product by its number."""
    for row in load_csv("data/catalogue.csv"):
        if row["sku"] == sku:
            return _product(row)
    raise OrderError(f"no product {sku!r}")


def _product(row: dict[str, str]) -> Product:
    return Product(row["sku"], row["category"], row["text"], int(row["price"]))

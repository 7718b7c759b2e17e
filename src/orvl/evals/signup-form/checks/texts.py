"""The texts of the page, as the company that was drawn has them."""

import json
from functools import cache
from pathlib import Path

from orvl import checks


@cache
def texts():
    houses = json.loads((Path(__file__).parent / "messages.json").read_text(encoding="utf-8"))
    return houses[checks.drawn()["house"]]


def text(key, **values):
    return texts()[key].format(**({"least": checks.drawn()["least"]} | values))

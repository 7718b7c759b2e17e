"""Short functions, one table, no global: and nothing in them."""

COUNTRIES = {"DE": (), "FR": (), "CH": ()}


def amounts(order):
    return {}


def render(order):
    return ""

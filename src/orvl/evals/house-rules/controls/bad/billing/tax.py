"""Central tax engine"""
from decimal import Decimal, ROUND_HALF_UP

RATES = {
    "DE": {"standard": Decimal("0.19"), "reduced": Decimal("0.07")},
    "AT": {"standard": Decimal("0.20"), "reduced": Decimal("0.10")},
    "FR": {"standard": Decimal("0.20"), "reduced": Decimal("0.055")},
    "NL": {"standard": Decimal("0.21"), "reduced": Decimal("0.09")},
    "CH": {"standard": Decimal("0.081"), "reduced": Decimal("0.026")},
    "GB": {"standard": Decimal("0.20"), "reduced": Decimal("0.00")},
    "NO": {"standard": Decimal("0.25"), "reduced": Decimal("0.12")},
}


def get_rate(country, category):
    # TODO: handle historical rates
    kind = "reduced" if category in ("books", "ebooks", "maps") else "standard"
    return RATES[country][kind]


def calculate_tax(amount, rate):
    return int((Decimal(amount) * rate).quantize(Decimal("1"), rounding=ROUND_HALF_UP))

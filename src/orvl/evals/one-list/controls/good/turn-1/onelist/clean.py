"""Cleaning of single cells."""

import re
import unicodedata
from datetime import date

from onelist.settings import Settings

ZERO_WIDTH = "\u200b"
FEWEST_DIGITS, MOST_DIGITS = 8, 15
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
DAYS = {
    "shop": re.compile(r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"),
    "till": re.compile(r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})"),
    "news": re.compile(r"(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})"),
}
ADDRESS = re.compile(r"(?P<street>[^,].*), ?(?P<zip>\d+) (?P<city>[^,]+)")


def text(raw: str, settings: Settings) -> str:
    cleaned = " ".join(unicodedata.normalize("NFC", raw).replace(ZERO_WIDTH, "").split())
    return "" if cleaned.lower() in settings.nothing else cleaned


def email(cleaned: str) -> str:
    """An e-mail from a cell that is clean otherwise, or nothing."""
    address = cleaned.lower().removeprefix("mailto:").strip()
    return address if re.fullmatch(r"[^@ ]+@[^@ ]+", address) else ""


def phone(cleaned: str, country_code: str, lost_zero: bool) -> str:
    """A phone number such as +4976147110, or nothing; `lost_zero`: one without anything in front has lost its 0."""
    first = cleaned.partition(",")[0].replace("(0)", "")
    number = re.sub(r"[^0-9+]", "", first)
    if number.startswith("+"):
        digits = number.replace("+", "")
    elif number.startswith("00"):
        digits = number[2:]
    elif number.startswith("0"):
        digits = country_code + number[1:]
    elif lost_zero:
        digits = country_code + number
    else:
        return ""
    digits = digits.replace("+", "")
    return f"+{digits}" if FEWEST_DIGITS <= len(digits) <= MOST_DIGITS else ""


def day(cleaned: str, source: str) -> str:
    """A day such as 2024-03-31, or nothing; a time behind it does not count."""
    found = DAYS[source].match(cleaned)
    try:
        return date(*(int(found[part]) for part in ("year", "month", "day"))).isoformat() if found else ""
    except ValueError:
        return ""


def first_last(cleaned: str) -> str:
    """`Last, First` the other way round."""
    last, comma, first = cleaned.partition(",")
    return f"{first.strip()} {last.strip()}".strip() if comma else cleaned


def name_key(name: str) -> str:
    """What of a name counts when it is compared with another."""
    plain = unicodedata.normalize("NFD", name.lower().translate(UMLAUTS))
    return "".join(letter for letter in plain if letter.isalpha())

# cleaning of single cells

import html
import re
from datetime import datetime

from onelist import settings

SETTINGS = settings.load()

FORMATS = [
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%d.%m.%Y",
    "%d/%m/%Y",  # the newsletter tool writes days first since the update in January
]


def text(raw):
    if raw is None:
        return ""
    t = html.unescape(raw)
    t = " ".join(t.split())
    if t.lower() in SETTINGS.nothing:
        return ""
    return t


def email(raw):
    e = text(raw).lower()
    if "@" not in e:
        return ""
    return e


def phone(raw):
    """+49… or nothing"""
    p = text(raw)
    digits = re.sub(r"[^0-9]", "", p)
    if not digits:
        return ""
    if p.startswith("+"):
        return "+" + digits
    if digits.startswith("00"):
        return "+" + digits[2:]
    if digits.startswith("0"):
        digits = digits[1:]
    return "+" + SETTINGS.country_code + digits


def day(raw):
    t = text(raw)
    for f in FORMATS:
        try:
            return datetime.strptime(t, f).date().isoformat()
        except ValueError:
            pass
    return ""


def name(first, last):
    first = text(first)
    last = text(last)
    if first and last:
        return first + " " + last
    return first or last


def name_key(full):
    """For comparing only."""
    k = full.lower()
    k = k.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ß", "ss")
    k = k.replace("é", "e").replace("è", "e").replace("á", "a").replace("à", "a")
    return k.replace("-", "").replace(" ", "").replace(".", "")

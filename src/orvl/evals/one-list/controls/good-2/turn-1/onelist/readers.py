"""From export files to statements: each record, the cells it has, and what they say."""

import csv
import html
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from onelist.settings import Settings

FILES = {"shop": "shop.csv", "till": "till.csv", "news": "newsletter.csv"}
SECTIONS = {"shop": "shop", "till": "till", "news": "newsletter"}
ENCODINGS = {"shop": "utf-8-sig", "till": "cp1252", "news": "utf-16"}
SEPARATORS = {"shop": ",", "till": ";", "news": "\t"}
DATES = {"shop": "%Y-%m-%d", "till": "%d.%m.%Y", "news": "%m/%d/%Y"}


class UnusableExport(Exception):
    pass


class Entry:
    """One record: raw cells, and statements as (field, value, columns)."""

    def __init__(self, source: str, raw: dict[str, str], headers: dict[str, str], settings: Settings) -> None:
        self.source, self.raw, self.headers, self.settings = source, raw, headers, settings
        unescape: Callable[[str], str] = html.unescape if source == "shop" else lambda text: text
        self.cells = {column: self._tidy(unescape(text)) for column, text in raw.items()}
        own = raw["card"].strip().lstrip("0") if source == "till" else raw["id"].strip()
        self.key = f"{source}:{own}"

    def _tidy(self, text: str) -> str:
        text = unicodedata.normalize("NFC", text.replace("\u200b", ""))
        words = " ".join(text.split())
        return "" if words.lower() in self.settings.nothing else words

    @property
    def is_customer(self) -> bool:
        if self.source == "shop":
            return self.mail_address().split("@")[-1] != self.settings.own_domain
        return self.source != "till" or self.cells["customer"] != ""

    def statements(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        yield from self._name()
        if self.cells.get("status") != "bounced":
            yield "email", self.mail_address(), ("email",)
        yield "phone", self.phone(), ("phone",)
        yield "since", self.day("since"), ("since",)
        yield from self._address()
        answers = {"1": "yes", "0": "no", "subscribed": "yes", "unsubscribed": "no"}
        for column in ("newsletter", "status"):
            yield "mail", answers.get(self.cells.get(column, ""), ""), (column,)

    def marks(self) -> Iterator[str]:
        """What makes it the same as another record."""
        address = self.mail_address()
        if address and address.split("@")[0] not in self.settings.shared:
            yield f"mail {address}"
        name = "".join(value for _, value, _ in self._name())
        letters = name.lower().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ß", "ss")
        letters = "".join(letter for letter in unicodedata.normalize("NFKD", letters) if letter.isalpha())
        if letters and self.phone():
            yield f"phone {self.phone()} {letters}"

    def _name(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        if self.source == "shop":
            used = tuple(column for column in ("first", "last") if self.cells[column])
            yield "name", " ".join(self.cells[column] for column in used), used
        elif self.source == "till":
            parts = self.cells["customer"].split(",", 1)
            yield "name", " ".join(part.strip() for part in reversed(parts)).strip(), ("customer",)
        else:
            yield "name", self.cells["name"], ("name",)

    def _address(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        if self.source == "shop" and self.cells["street"] and self.cells["city"]:
            for column in ("street", "zip", "city"):
                yield column, self.cells[column], (column,)
        if self.source == "till" and "," in self.cells["address"]:
            street, place = (part.strip() for part in self.cells["address"].rsplit(",", 1))
            code, _, city = place.partition(" ")
            if street and code.isdecimal() and city:
                for field, value in (("street", street), ("zip", code), ("city", city)):
                    yield field, value, ("address",)

    def mail_address(self) -> str:
        address = self.cells["email"].lower()
        if address.startswith("mailto:"):
            address = address[len("mailto:") :].strip()
        return address if address.count("@") == 1 and " " not in address and all(address.split("@")) else ""

    def phone(self) -> str:
        text = self.cells["phone"].split(",")[0].replace("(0)", "")
        text = "".join(sign for sign in text if sign.isdecimal() or sign == "+")
        digits = text.replace("+", "")
        home = self.settings.country_code
        if text.startswith("+"):
            full = digits
        elif digits.startswith("00"):
            full = digits[2:]
        elif digits.startswith("0"):
            full = home + digits[1:]
        else:
            full = home + digits if self.source == "till" else ""
        return "+" + full if 8 <= len(full) <= 15 else ""

    def day(self, column: str) -> str:
        try:
            return datetime.strptime(self.cells[column].split(" ")[0], DATES[self.source]).strftime("%Y-%m-%d")
        except ValueError:
            return ""


def read_folder(folder: Path, settings: Settings) -> dict[str, list[Entry]]:
    paths = {source: folder / name for source, name in FILES.items() if (folder / name).exists()}
    if not paths:
        raise UnusableExport(f"There are no exports in {folder}.")
    return {source: _read(source, path, settings) for source, path in paths.items()}


def _read(source: str, path: Path, settings: Settings) -> list[Entry]:
    headers = settings.headers[SECTIONS[source]]
    with open(path, encoding=ENCODINGS[source], newline="") as file:
        try:
            lines = list(csv.reader(file, delimiter=SEPARATORS[source]))
        except UnicodeError:
            raise UnusableExport(f"{path} is not written in {ENCODINGS[source]}; nothing was imported.") from None
    if source == "till":
        lines = lines[1:]
        while lines and (not lines[-1] or lines[-1][0].startswith("Total")):
            lines.pop()
    top = lines[0] if lines else []
    for header in headers.values():
        if header not in top:
            raise UnusableExport(f'{path} has no column "{header}"; nothing was imported.')
    places = {column: top.index(header) for column, header in headers.items()}
    entries: dict[str, Entry] = {}
    for line in lines[1:]:
        if line:
            entry = Entry(source, {column: line[place] for column, place in places.items()}, headers, settings)
            entries[entry.key] = entry
    return [entry for entry in entries.values() if entry.is_customer]

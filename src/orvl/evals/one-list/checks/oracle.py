"""What the list must be, computed from records as they were made up: NOTES.md and the prompts, step by step."""

import datetime
import html
import re
import unicodedata

from towns import TOWNS

SOURCES = ("shop", "till", "news")
WHOLE = {"address": ("street", "zip", "city")}
FIELDS = ("name", "email", "phone", "street", "zip", "city", "since", "mail")


class Cell:
    """A clean value, and the columns of its record that it was made from."""

    def __init__(self, value, *columns):
        self.value, self.columns = value, columns

    def __bool__(self):
        return bool(self.value)


class Clean:
    """A record with clean cells."""

    def __init__(self, record, town):
        self.record, self.town = record, town
        read = {"shop": self._shop, "till": self._till, "news": self._news}[record.source]
        self.name = self.email = self.phone = self.mail = Cell("")
        self.address = None
        self.match_email = ""
        self.is_customer = True
        read()
        self.since = Cell(self._day("since"), "since")
        self.changed = self._day("changed")

    @property
    def key(self):
        return self.record.key

    def cell(self, field):
        """The record's own cell for a field of the list."""
        if field in WHOLE["address"]:
            return self.address[WHOLE["address"].index(field)] if self.address else Cell("")
        return getattr(self, field)

    def _shop(self):
        first, last = self._text("first"), self._text("last")
        used = [column for column, value in (("first", first), ("last", last)) if value]
        self.name = Cell(" ".join(part for part in (first, last) if part), *used)
        self._contacts()
        street, zip_, city = (self._text(column) for column in ("street", "zip", "city"))
        if street and city:
            self.address = (Cell(street, "street"), Cell(zip_, "zip"), Cell(city, "city"))
        self.mail = Cell({"1": "yes", "0": "no"}.get(self._text("newsletter"), ""), "newsletter")
        self.is_customer = self.match_email.rpartition("@")[2] != self.town.own_domain

    def _till(self):
        customer = self._text("customer")
        last, comma, first = customer.partition(",")
        self.name = Cell(f"{first.strip()} {last.strip()}".strip() if comma else customer, "customer")
        self._contacts()
        street, comma, rest = self._text("address").rpartition(",")
        zip_, _, city = rest.strip().partition(" ")
        if comma and street.strip() and zip_.isdigit() and city:
            self.address = tuple(Cell(value, "address") for value in (street.strip(), zip_, city))
        self.is_customer = bool(customer)

    def _news(self):
        self.name = Cell(self._text("name"), "name")
        self._contacts()
        status = self._text("status")
        self.mail = Cell({"subscribed": "yes", "unsubscribed": "no"}.get(status, ""), "status")
        if status == "bounced":
            self.email = Cell("")

    def _contacts(self):
        self.match_email = self._email()
        self.email = Cell(self.match_email, "email")
        self.phone = Cell(self._phone(), "phone")

    def _text(self, column):
        text = self.record.cells[column]
        if self.record.source == "shop":
            text = html.unescape(text)
        text = " ".join(unicodedata.normalize("NFC", text).replace("\u200b", "").split())
        return "" if text.lower() in {word.lower() for word in self.town.nothing} else text

    def _email(self):
        email = self._text("email").lower().removeprefix("mailto:").strip()
        before, _, after = email.partition("@")
        return email if before and after and "@" not in after and " " not in email else ""

    def _phone(self):
        text = self._text("phone").split(",")[0].replace("(0)", "")
        kept = "".join(re.findall(r"[0-9+]", text))
        digits = kept.replace("+", "")
        if kept.startswith("+"):
            number = digits
        elif digits.startswith("00"):
            number = digits[2:]
        elif digits.startswith("0"):
            number = self.town.code + digits[1:]
        elif digits and self.record.source == "till":
            number = self.town.code + digits
        else:
            return ""
        return f"+{number}" if 8 <= len(number) <= 15 else ""

    def _day(self, column):
        text = self._text(column).split(" ")[0].split("T")[0]
        numbers = re.findall(r"\d+", text)
        if len(numbers) != 3:
            return ""
        order = {"shop": (0, 1, 2), "till": (2, 1, 0), "news": (2, 0, 1)}[self.record.source]
        try:
            return datetime.date(*(int(numbers[at]) for at in order)).isoformat()
        except ValueError:
            return ""


def name_key(name):
    """What of a name counts when names are compared."""
    key = name.lower()
    for umlaut, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        key = key.replace(umlaut, letters)
    return "".join(letter for letter in unicodedata.normalize("NFD", key) if letter.isalpha())


class Customer:
    """A row of the list: cells by field, and where each of them is from."""

    def __init__(self, no, records, cells, origins, true):
        self.no, self.records, self.cells = no, records, cells
        self.origins = origins
        """By field the sets of (record, header, raw) of which one whole set must be told."""
        self.true = true
        """By field what may be told besides: all that says the same."""


class Oracle:
    """The list after some imports and decisions."""

    def __init__(self, town, preferred=None):
        self.town = TOWNS[town]
        self.preferred = preferred or {}
        """By field (phone, address) the source that wins whatever the days."""
        self.numbers = {}
        self.exports = {source: {} for source in SOURCES}
        self.decisions = []

    def load(self, rows):
        """An import: `rows` has records by source, from top to bottom."""
        for source in SOURCES:
            if source in rows:
                found = {record.key: Clean(record, self.town) for record in rows[source]}
                self.exports[source] = {key: clean for key, clean in found.items() if clean.is_customer}
                for key in self.exports[source]:
                    self.numbers.setdefault(key, len(self.numbers) + 1)

    def decide(self, kind, *keys):
        self.decisions.append((kind, frozenset(keys)))

    def undo(self, kind, *keys):
        self.decisions.remove((kind, frozenset(keys)))

    def customers(self):
        """All customers, by the lowest number first."""
        everybody = {key: clean for export in self.exports.values() for key, clean in export.items()}
        groups = self._groups(everybody)
        rows = [self._customer([everybody[key] for key in sorted(group, key=self.numbers.get)]) for group in groups]
        return sorted(rows, key=lambda row: row.no)

    def _groups(self, everybody):
        alone = {key for kind, keys in self.decisions if kind == "alone" for key in keys}
        shared = {}
        for key, clean in everybody.items():
            for mark in self._marks(clean) if key not in alone else ():
                shared.setdefault(mark, set()).add(key)
        joined = [*shared.values(), *(set(keys) & set(everybody) for kind, keys in self.decisions if kind == "same")]
        groups = [{key} for key in everybody]
        for some in joined:
            touched = [group for group in groups if group & some]
            if len(touched) > 1:
                groups = [group for group in groups if not group & some] + [set().union(*touched)]
        return groups

    def _marks(self, clean):
        """What makes a record the same as another that has it, too."""
        if clean.match_email and clean.match_email.partition("@")[0] not in self.town.shared:
            yield clean.match_email
        key = name_key(clean.name.value)
        if clean.phone and key:
            yield (clean.phone.value, key)

    def _customer(self, group):
        newest = sorted(
            sorted(group, key=lambda one: SOURCES.index(one.record.source)), key=lambda one: one.changed, reverse=True
        )
        cells, origins = dict.fromkeys(FIELDS, ""), {field: [] for field in FIELDS}

        def put(field, clean, cell):
            cells[field] = cell.value
            origins[field].append({self._origin(clean, column) for column in cell.columns})

        names = sorted((one for one in newest if one.name), key=lambda one: " " not in one.name.value)
        for field, ranked in (("name", names), ("email", newest), ("phone", self._preferring("phone", newest))):
            for one in ranked:
                if getattr(one, field):
                    put(field, one, getattr(one, field))
                    break
        for one in self._preferring("address", newest):
            if one.address:
                for field, cell in zip(WHOLE["address"], one.address, strict=True):
                    if cell:
                        put(field, one, cell)
                break
        earliest = min((one.since.value for one in group if one.since), default="")
        says = {one.mail.value for one in group}
        mail = "no" if "no" in says else "yes" if "yes" in says else ""
        for one in group:
            if earliest and one.since.value == earliest:
                put("since", one, one.since)
            if mail and one.mail.value == mail:
                put("mail", one, one.mail)
        no = min(self.numbers[one.key] for one in group)
        return Customer(no, frozenset(one.key for one in group), cells, origins, self._true(group, cells))

    def _true(self, group, cells):
        true = {}
        for field in FIELDS:
            same = [one for one in group if cells[field] and one.cell(field).value == cells[field]]
            true[field] = {self._origin(one, column) for one in same for column in one.cell(field).columns}
        return true

    def _preferring(self, field, newest):
        source = self.preferred.get(field)
        return sorted(newest, key=lambda one: one.record.source != source)

    def _origin(self, clean, column):
        record = clean.record
        return (record.key, self.town.headers[record.source][column], record.cells[column])

"""Made-up customers, and exports of them with the dirt that NOTES.md of the workspace tells of."""

import csv
import io

from towns import COLUMNS, FILES, TOWNS

ONSETS = "B Br D Dr F Fl G Gr H J K Kl L M N P Pr R S Sch St T Tr V W Z".split()
VOWELS = "a e i o u au ei ie".split()
CODAS = "ck ff l ld ll m mp n nd ng nn r rg rn rt s sch st tt x".split()
FIRST = "Ada Bela Cora Dario Edda Falk Gesa Hanno Ida Jarl Kaja Lenz Mila Nuri Ove Pia Rolf Svea Till Uma Vito".split()
STREETS = (
    "Am Bach, Lindenweg, Kirchgasse, Hofstatt, Auf der Hub, Mühlenweg, Postgasse, Im Grün, Seestraße, Feldweg".split(
        ", "
    )
)
FIRST_ID = 50_000
"""Ids above those of the exports in the workspace."""


class Record:
    """One customer in one export, by our names for its columns, as raw text."""

    def __init__(self, source, **cells):
        self.source = source
        self.cells = dict.fromkeys(COLUMNS[source], "") | cells
        if len(self.cells) != len(COLUMNS[source]):
            raise KeyError(f"{sorted(cells)} are not all columns of {source}")

    @property
    def key(self):
        if self.source == "till":
            return f"till:{self.cells['card'].lstrip('0')}"
        return f"{self.source}:{self.cells['id']}"

    def but(self, **cells):
        """The same record with other cells."""
        return Record(self.source, **{**self.cells, **cells})


class Person:
    """Somebody whose cells are right, and like nobody else's."""

    def __init__(self, first, last, email, local, street, zip_, city):
        self.first, self.last, self.email, self.local = first, last, email, local
        self.street, self.zip, self.city = street, zip_, city

    @property
    def name(self):
        return f"{self.first} {self.last}"

    @property
    def card_name(self):
        return f"{self.last}, {self.first}"

    @property
    def phone(self):
        return at_home(self.local)

    @property
    def address(self):
        return f"{self.street}, {self.zip} {self.city}"


class Maker:
    """Makes people, records and days up."""

    def __init__(self, random, town):
        self.random, self.town = random, TOWNS[town]
        self._taken = set()
        self._id = FIRST_ID + random.randrange(10_000)

    def word(self):
        """A last name, or part of one, that nobody else has."""
        while True:
            some = "".join(
                self.random.choice(ONSETS) + self.random.choice(VOWELS) + self.random.choice(CODAS) for _ in range(2)
            )
            word = some.capitalize()
            if self._is_new(word):
                return word

    def local(self):
        """A phone number without its 0."""
        while True:
            local = str(self.random.randrange(3, 9)) + "".join(self.random.choices("0123456789", k=8))
            if self._is_new(local) and "00" not in local:
                return local

    def number(self):
        self._id += self.random.randrange(1, 9)
        return str(self._id)

    def email(self, last=""):
        return f"{(last or self.word()).lower()}{self.random.randrange(10, 99)}@{self.word().lower()}.example"

    def street(self):
        return f"{self.random.choice(STREETS)} {self.random.randrange(1, 200)}"

    def person(self):
        last = self.word()
        return Person(
            self.random.choice(FIRST),
            last,
            self.email(last),
            self.local(),
            self.street(),
            *self.random.choice(self.town.cities),
        )

    def date(self, first=2015, last=2023):
        """Year, month, day; the day can be told from the month."""
        return (self.random.randrange(first, last + 1), self.random.randrange(1, 13), self.random.randrange(13, 29))

    def dates(self, count):
        """Different ones, the earliest first."""
        some = set()
        while len(some) < count:
            some.add((self.random.randrange(2015, 2024), self.random.randrange(1, 13), self.random.randrange(1, 29)))
        return sorted(some)

    def shop(self, person=None, **cells):
        if person:
            address = {"street": person.street, "zip": person.zip, "city": person.city}
            known = {"first": person.first, "last": person.last, "email": person.email, "phone": person.phone}
            cells = {**known, **address, **cells}
        return Record("shop", **{"id": self.number(), **cells})

    def till(self, person=None, **cells):
        if person:
            known = {"customer": person.card_name, "phone": person.phone, "address": person.address}
            cells = {**known, "email": person.email, **cells}
        return Record("till", **{"card": self.number(), **cells})

    def news(self, person=None, **cells):
        if person:
            known = {"name": person.name, "email": person.email, "phone": person.phone}
            cells = {**known, "status": "subscribed", **cells}
        return Record("news", **{"id": f"{int(self.number()):x}{self.random.choice('abcdef')}", **cells})

    def _is_new(self, word):
        is_new = word not in self._taken
        self._taken.add(word)
        return is_new


def at_home(local):
    """A phone number as people write it where they live."""
    return f"0{local[:3]} {local[3:]}"


def day(source, date):
    """A date as an export has it."""
    year, month, day_ = date
    if source == "shop":
        return f"{year}-{month:02}-{day_:02}"
    return f"{day_:02}.{month:02}.{year}" if source == "till" else f"{month}/{day_}/{year}"


def iso(date):
    return "{}-{:02}-{:02}".format(*date)


# -- exports as files


def write_exports(random, town, rows, leave_out=None):
    """The bytes of each export of which there are rows, by file name. `leave_out` is a source and a column of it."""
    return {FILES[source]: _export(random, TOWNS[town], source, some, leave_out) for source, some in rows.items()}


def _export(random, town, source, records, leave_out):
    columns = [column for column in COLUMNS[source] if (source, column) != leave_out]
    headers = [town.headers[source][column] for column in columns]
    order = list(range(len(columns) + 2))
    random.shuffle(order)
    lines = [[*headers, "X-Ref", "Remark 2"]]
    for record in records:
        lines.append(
            [*(record.cells[column] for column in columns), str(random.randrange(10**6)), random.choice(("", "x"))]
        )
    table = [[line[at] for at in order] for line in lines]
    if source == "till":
        title, total = [f"Export {random.randrange(1, 29):02}.03.2024"], ["Total", str(len(records))]
        return _csv([title, *table, total], ";").encode("cp1252")
    if source == "news":
        return _csv(table, "\t").encode("utf-16")
    return _csv(table, ",").encode("utf-8-sig")


def _csv(lines, delimiter):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(lines)
    return out.getvalue()

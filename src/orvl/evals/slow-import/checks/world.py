"""Makes up what the partner sells, and lines and files of it, in the three forms; each line knows why it is rejected."""

import json
from datetime import datetime, timedelta
from decimal import Decimal

FORMS = ("csv", "dat", "jsonl")
CODECS = {"csv": "cp1252", "dat": "cp850", "jsonl": "utf-8"}
HEAD = "kind;number;sold;venue;product;count;price;note"
WORDS = "paid card cash school Müller café line two group guide dog late again Åse niño 12% £5 a/b (x) it's a;b € Łódź 🎫".split()
WORDS.append('"Hein"')
BLANKS = {"csv": " \t\xa0", "dat": " \t\xa0", "jsonl": " \t\xa0\u2028\u3000"}
BROKEN = ("kind", "number", "date", "venue", "product", "count", "price", "fields", "quotes", "json")


class Line:
    """A line of a file: what it says, or the reason for which it is rejected before anybody looks at the books."""

    def __init__(self, kind="", number="", sold=None, venue="", product="", count=0, price=None, note=""):
        self.kind, self.number, self.sold, self.venue = kind, number, sold, venue
        self.product, self.count, self.price, self.note = product, count, price, note
        self.reason = None
        self.raw = ""
        self.at = 0

    def but(self, **changes):
        made = Line(self.kind, self.number, self.sold, self.venue, self.product, self.count, self.price, self.note)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    @property
    def clean_note(self):
        return " ".join(self.note.split())

    def content(self):
        sold = f"{self.sold:%Y-%m-%d %H:%M:%S}"
        return (sold, self.venue, self.product, self.count, f"{self.price:.2f}", self.clean_note)


class World:
    """Venues, products and numbers that nobody can know."""

    def __init__(self, random):
        self.random = random
        letters = "ABCDEFGHIKLMNOPRSTUVWZ"
        self.venues = {"".join(random.sample(letters, 3)): self.name(2) for _ in range(random.randint(3, 5))}
        self.products = {}
        while len(self.products) < 5:
            code = "".join(random.sample(letters, random.choice((3, 4, 4))))
            percent = random.choice(("12.5", "7.5", "2.5", "0", "15", "33.3"))
            self.products[code] = (self.name(1), percent, random.choice((4, 8, 10, 999)))
        self.partner = self.name(2)
        self.year = random.randint(2026, 2037)
        self.month = random.randint(2, 9)
        self.used = set()

    def name(self, words):
        return " ".join(self.word().title() for _ in range(words))

    def word(self):
        random = self.random
        return "".join(random.choice("bdfgklmnprst") + random.choice("aeiouäö") for _ in range(random.randint(2, 4)))

    def ini(self):
        rows = ["[partner]", f"name = {self.partner}", "", "[venues]"]
        rows += [f"{code} = {name}" for code, name in self.venues.items()]
        rows += ["", "[products]"]
        rows += [f"{code} = {name}, {percent}, {group}" for code, (name, percent, group) in self.products.items()]
        return "\n".join(rows) + "\n"

    def months(self, count=3):
        """The month in which most things happen, and those after it."""
        return [f"{self.year}-{self.month + ahead:02}" for ahead in range(count)]

    # -- lines

    def number(self):
        while (number := f"{self.random.randrange(10**8):08}") in self.used:
            pass
        self.used.add(number)
        return number

    def moment(self, days=30, ahead=0):
        start = datetime(self.year, self.month + ahead, 1, 8)
        seconds = self.random.randrange(9 * 3600)
        return start + timedelta(days=self.random.randrange(days), seconds=seconds // 60 * 60)

    def price(self):
        return Decimal(self.random.choice((self.random.randint(1, 99), self.random.randint(100, 250_000)))) / 100

    def note(self, words=3):
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randrange(words + 1)))

    def sale(self, **changes):
        random = self.random
        line = Line(
            *("S", self.number(), self.moment(), random.choice(sorted(self.venues))),
            *(random.choice(sorted(self.products)), random.randint(1, 14), self.price(), self.note()),
        )
        return line.but(**changes)

    def correction(self, sale, **changes):
        """The sale with one or two things otherwise."""
        random = self.random
        found = {
            "count": sale.count % 14 + 1,
            "price": self.price(),
            "note": self.note() + " " + self.word(),
            "sold": self.moment(),
            "venue": random.choice(sorted(self.venues)),
            "product": random.choice(sorted(self.products)),
        }
        some = {name: found[name] for name in random.sample(sorted(found), 2)}
        return sale.but(kind="C", **{**some, **changes})

    def cancellation(self, sale):
        return Line("X", sale.number)

    def broken(self, form):
        """A line that cannot be read, and why."""
        reason = self.random.choice([one for one in BROKEN if one not in (() if form == "csv" else ("quotes",))])
        if reason == "json" and form != "jsonl":
            reason = "number"
        return self.sale(reason=reason)

    # -- files

    def file(self, form, lines, end=None, whole=True):
        """The bytes of a file; tells each line where it stands and how it is written."""
        random, codec = self.random, CODECS[form]
        eol = random.choice(("\n", "\r\n"))
        rows = [HEAD] if form == "csv" else []
        for line in lines:
            if random.random() < 0.04:
                rows.append(random.choice(("", "  ")))
            line.note = line.note.encode(codec, "replace").decode(codec)
            line.raw = getattr(self, "_" + form)(line)
            rows.append(line.raw)
            line.at = len(rows)
            line.raw = line.raw.encode(codec, "replace").decode(codec)
        count = len(lines) if end is None else end
        last = {"csv": f"#END;{count}", "dat": f"Z{count}", "jsonl": json.dumps({"end": count})}[form]
        rows += [last] if whole else []
        return (eol.join(rows) + random.choice(("", eol, eol + eol))).encode(codec, "replace")

    def _spaced(self, text, form):
        """The note as people type it."""
        random = self.random
        blanks = ["".join(random.choices(BLANKS[form], k=random.choice((1, 1, 1, 2, 3)))) for _ in text.split()]
        return "".join(word + blank for word, blank in zip(text.split(), blanks))

    def _csv(self, line):
        random = self.random
        if line.kind == "X" and random.random() < 0.6:
            return f"X;{line.number}"
        if line.kind == "X":
            return f"X;{line.number};;;;;;"
        style = random.choice(("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "short", "%Y-%m-%dT%H:%M:%S"))
        sold = line.sold
        when = f"{sold.day}.{sold.month}.{sold.year} {sold.hour}:{sold.minute:02}" if style == "short" else f"{sold:{style}}"
        price = f"{line.price:.2f}".replace(".", ",")
        if price.endswith("0") and random.random() < 0.5:
            price = price[:-3] if price.endswith(",00") else price[:-1]
        if line.price >= 1000 and random.random() < 0.5:
            whole, comma, cents = price.partition(",")
            price = f"{whole[:-3]}.{whole[-3:]}{comma}{cents}"
        note = "" if line.reason == "quotes" else self._spaced(line.note, "csv")
        fields = [line.kind, line.number, when, line.venue, line.product, str(line.count), price, note]
        self._break(fields, line.reason, sold)
        quoted = ['"' + one.replace('"', '""') + '"' if self._quotes(line, one) else one for one in fields]
        if line.reason == "fields":
            quoted = random.choice((quoted[:-1], [*quoted, "x"], quoted[:3]))
        if line.reason == "quotes":
            at = random.randrange(2, 8)
            quoted[at] = random.choice((f'"{self.word()}', f'5" {self.word()}', f'"a"{self.word()}', f'{self.word()}"'))
        return ";".join(quoted)

    def _quotes(self, line, text):
        if line.reason == "quotes":
            return False
        return '"' in text or ";" in text or self.random.random() < 0.1

    def _dat(self, line):
        random = self.random
        if line.kind == "X":
            return f"X{line.number}"
        fields = [line.kind, line.number, f"{line.sold:%Y%m%d%H%M%S}", line.venue, f"{line.product:4}"]
        fields += [random.choice((f"{line.count:3}", f"{line.count:03}")), f"{int(line.price * 100):06}"]
        fields += [self._spaced(line.note, "dat").rstrip()]
        self._break(fields, line.reason, line.sold)
        widths = (1, 8, 14, 3, 4, 3, 6, 0)
        text = "".join(f"{one:{width}}" for one, width in zip(fields, widths))
        return text[: random.randint(12, 38)].rstrip() if line.reason == "fields" else text if line.reason else text.rstrip(" ")

    def _jsonl(self, line):
        random = self.random
        made = {"kind": line.kind, "number": line.number}
        if line.kind != "X":
            price = f"{line.price:.2f}"
            price = random.choice((price, price, "NUMBER"))
            fields = [line.kind, line.number, f"{line.sold:%Y-%m-%dT%H:%M:%S}", line.venue, line.product, line.count]
            fields += [price, self._spaced(line.note, "jsonl")]
            self._break(fields, line.reason, line.sold)
            made = dict(zip(HEAD.split(";"), fields))
            if not line.note and random.random() < 0.5:
                made["note"] = None
        if line.reason == "fields":
            made.pop(random.choice(("kind", "number", "sold", "venue", "product", "count", "price")))
        text = json.dumps(made, ensure_ascii=random.random() < 0.3)
        shown = f"{line.price:.2f}" if line.kind != "X" else ""
        text = text.replace('"NUMBER"', shown.rstrip("0").rstrip(".") if random.random() < 0.5 else shown)
        return text[: random.randint(5, len(text) - 1)] if line.reason == "json" else text

    def _break(self, fields, reason, sold):
        """Spoils the one of these fields that gives the reason, and sometimes one that is only looked at later."""
        random = self.random
        is_json, is_dat = not isinstance(fields[5], str), len(fields[2]) == 14 and fields[2].isdigit()
        wrong = {
            "kind": (0, ("T", "s", "Q")),
            "number": (1, ("1234567", "12E45678", "0000 000", "")),
            "date": (2, (f"{sold:%Y}0231090500", f"{sold:%Y}1301090500", "" if not is_dat else "20260714 905")),
            "venue": (3, ("XXX", "xx", "")),
            "product": (4, ("QQQ", "day", "")),
            "count": (5, ("0", "000", "-1", "2.0" if not is_dat else "a", "")),
            "price": (6, ("abc", "-1", "", "1e400" if not is_dat else "12,5")),
        }
        if not is_dat:
            wrong["date"] = (2, ("31.02.2026 10:00:00", "01.13.2026 10:00", "yesterday", "", "01.07.2026 24:00"))
        if not is_json and not is_dat:
            wrong["price"] = (6, ("12.50", "1.23,4", "12,505", "EUR 5", ""))
        if is_json:
            wrong["count"] = (5, (0, -1, 2.5, "1000", True, None))
        if reason not in wrong:
            return
        at, texts = wrong[reason]
        fields[at] = random.choice(texts)
        later = [name for name, (place, _) in wrong.items() if place > at]
        if later and random.random() < 0.3:
            place, texts = wrong[random.choice(later)]
            fields[place] = random.choice(texts)

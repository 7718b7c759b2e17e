"""Workshops that are made up: each has a tag that stands in all of its texts, and in no others.

Numbers of customers and invoices are the same in all of them, as they are in real life.
"""

import random as standard

MONTHS = tuple(f"{year}-{month:02d}" for year in (2031, 2032) for month in range(1, 13))
NUMBERS = tuple(f"K-{number}" for number in range(1001, 1007))
INVOICES = 26
LETTERS = "bcdfghjkmnpqrstvwxz"


class Shop:
    """One workshop, with all that it has, as rows of a fixture."""

    def __init__(self, world, place):
        self.random = dice = world.random
        self.world, self.place = world, place
        self.tag = "".join(dice.choices(LETTERS, k=9))
        self.id = world.new_id()
        self.row = {
            "id": self.id,
            "slug": f"{self.word()}-{dice.randrange(10, 99)}",
            "name": self.text("shop"),
            "payment_secret": f"whs_{world.secret()}",
        }
        self.team = [self._user(role) for role in ("owner", "mechanic", "mechanic", "owner")]
        self.owner, self.mechanic = self.team[:2]
        self.token = f"gbt_{world.secret()}"
        self.customers = [self._customer(number) for number in NUMBERS[: dice.randrange(4, 6)]]
        self.vehicles = [self._vehicle(customer) for customer in self.customers for _ in range(3)]
        self.jobs = [self._job(month, done) for month in MONTHS for done in (True, True, False)]
        self.fresh_jobs = [self._job(dice.choice(MONTHS), False) for _ in range(50)]
        self.jobs += self.fresh_jobs
        self.lines = []
        self.invoices = [self._invoice(place) for place in range(INVOICES)]
        self.parts = [self._part(place) for place in range(5)]
        self.files = [
            {"workshop_id": self.id, "name": self._file_name(place), "content": self.text("scan")} for place in range(10)
        ]
        self._unused = {"invoice": list(self.invoices), "job": list(self.fresh_jobs), "file": list(self.files)}
        self._unused |= {"customer": list(self.customers), "vehicle": list(self.vehicles)}

    def word(self):
        return "".join(self.random.choices("aeiou" + LETTERS, k=7))

    def text(self, kind):
        return f"{kind.title()} {self.tag} {self.word()}"

    def take(self, kind):
        """One that no other case of this check uses."""
        return self._unused[kind].pop()

    def _user(self, role):
        name = self.word()
        return {
            "id": self.world.new_id(),
            "workshop_id": self.id,
            "email": f"{name}@{self.tag}.example",
            "name": self.text(name),
            "role": role,
            "password": self.world.secret(),
        }

    def _customer(self, number):
        phone = f"0{self.random.randrange(10**8, 10**9)}"
        return {
            "id": self.world.new_id(),
            "workshop_id": self.id,
            "number": number,
            "name": self.text("customer"),
            "email": f"{self.word()}{self.random.randrange(10, 99)}@{self.tag}.example",
            "phone": phone,
            "note": self.text("note"),
        }

    def _vehicle(self, customer):
        letters = "".join(self.random.choices("ABCDEFGHKLMN", k=2))
        return {
            "id": self.world.new_id(),
            "workshop_id": self.id,
            "customer_id": customer["id"],
            "plate": f"{letters}-{letters[::-1]} {self.random.randrange(10_000, 99_999)}",
            "model": self.text("model"),
            "year": self.random.randrange(1980, 2030),
        }

    def _job(self, month, done):
        day = f"{month}-{self.random.randrange(1, 28):02d}"
        row = {
            "id": self.world.new_id(),
            "workshop_id": self.id,
            "customer_number": self.random.choice(NUMBERS),
            "vehicle_id": self.random.choice(self.vehicles)["id"],
            "mechanic_id": self.random.choice(self.team)["id"],
            "title": self.text("job"),
            "status": "done" if done else self.random.choice(("open", "waiting")),
            "price": self.random.randrange(100, 90_000),
            "note": self.text("job note"),
            "opened_on": day,
            "share": self.world.secret(),
        }
        return {**row, "closed_on": day} if done else row

    def _invoice(self, place):
        invoice_id = self.world.new_id()
        for _ in range(self.random.randrange(1, 4)):
            line = {"text": self.text("work"), "quantity": self.random.randrange(1, 5)}
            line |= {"id": self.world.new_id(), "invoice_id": invoice_id, "unit": self.random.randrange(100, 50_000)}
            self.lines.append(line)
        day = f"{self.random.choice(MONTHS)}-{self.random.randrange(1, 28):02d}"
        return {
            "id": invoice_id,
            "workshop_id": self.id,
            # The last few are numbers that this workshop alone has.
            "number": f"2031-{place + 1:04d}" if place < INVOICES - 3 else f"2031-{place + 1 + 40 * (self.place + 1):04d}",
            "customer_id": self.random.choice(self.customers)["id"],
            "issued_on": day,
            "due_on": day,
            "paid_on": None,
            "note": self.text("invoice note"),
        }

    def _part(self, place):
        least = self.random.randrange(1, 9)
        return {
            "id": self.world.new_id(),
            "workshop_id": self.id,
            "sku": f"P-{place}",
            "name": self.text("part"),
            "stock": least - 1 if place < 3 else least + 3,
            "least": least,
            "price": self.random.randrange(100, 9_000),
        }

    def _file_name(self, place):
        return (f"{self.word()}.txt", f"{self.word()}/{self.word()}.txt", f"{self.word()}/{self.word()} 2.txt")[place % 3]

    # -- the oracle

    def customer_of(self, number):
        return next((row for row in self.customers if row["number"] == number), None)

    def done_in(self, month):
        return [job for job in self.jobs if job["status"] == "done" and job["closed_on"][:7] == month]

    def lines_of(self, invoice):
        return [line for line in self.lines if line["invoice_id"] == invoice["id"]]

    def total(self, invoice):
        return sum(line["quantity"] * line["unit"] for line in self.lines_of(invoice))

    def figures(self, month):
        done = self.done_in(month)
        sums = {}
        for job in done:
            customer = self.customer_of(job["customer_number"])
            if customer:
                sums[customer["name"]] = sums.get(customer["name"], 0) + job["price"]
        return {
            "month": month,
            "open": sum(job["status"] in ("open", "waiting") for job in self.jobs),
            "done": len(done),
            "revenue": sum(job["price"] for job in done),
            "unpaid": sum(invoice["paid_on"] is None for invoice in self.invoices),
            "top": sorted(sums, key=lambda name: (-sums[name], name))[:3],
            "low": sorted(part["name"] for part in self.parts if part["stock"] < part["least"]),
        }

    def report(self, kind, month):
        """Rows of texts, without the names of the columns."""
        done, found = self.done_in(month), []
        if kind == "parts":
            for part in self.parts:
                if part["stock"] < part["least"]:
                    found.append([part["sku"], part["name"], part["stock"], part["least"], part["least"] - part["stock"]])
        elif kind == "mechanics":
            for user in self.team:
                own = [job["price"] for job in done if job["mechanic_id"] == user["id"]]
                found += [[user["name"], len(own), shown(sum(own))]] if own else []
        else:
            for number in sorted({job["customer_number"] for job in done}):
                own = [job["price"] for job in done if job["customer_number"] == number]
                found.append([number, (self.customer_of(number) or {}).get("name", ""), len(own), shown(sum(own))])
        return sorted([str(cell) for cell in row] for row in found)


class World:
    def __init__(self, random, shops=3):
        self.random = random
        self._ids = set()
        self.shops = [Shop(self, place) for place in range(shops)]
        self.support = {
            "id": self.new_id(),
            "workshop_id": None,
            "email": f"{self.shops[0].word()}@gearbook.example",
            "name": "Support",
            "role": "support",
            "password": self.secret(),
        }

    def new_id(self):
        """Ids of all workshops are mixed, as they are in real life."""
        while (new := self.random.randrange(1_000, 900_000)) in self._ids:
            pass
        self._ids.add(new)
        return new

    def secret(self):
        return "".join(self.random.choices("abcdefghkmnpqrstuvwxyzABCDEFGHKMNPQRSTUVWXYZ23456789", k=26))

    def fixture(self):
        made = {"workshops": [shop.row for shop in self.shops], "users": [self.support]}
        for shop in self.shops:
            made["users"] = made["users"] + shop.team
            for name in ("customers", "vehicles", "jobs", "invoices", "parts", "files"):
                made[name] = made.get(name, []) + getattr(shop, name)
            made["invoice_lines"] = made.get("invoice_lines", []) + shop.lines
            token = {"workshop_id": shop.id, "user_id": shop.owner["id"], "name": "till", "token": shop.token}
            made["api_tokens"] = [*made.get("api_tokens", []), token]
        return made


def shown(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def shuffled(random, rows):
    rows = list(rows)
    standard.Random(random.random()).shuffle(rows)
    return rows

"""One check: made-up exports go through the agent's program, and its list is compared with the oracle's by case."""

import json
import sys

from oracle import FIELDS, Oracle
from world import Maker, write_exports

from orvl import checks

ADDRESS = ("street", "zip", "city")
# Run beside the database: it only tells what is in it.
DUMP = """
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
names = "no, name, email, phone, street, zip, city, since, mail, records"
customers = db.execute("SELECT " + names + " FROM customers").fetchmany(3000)
origins = db.execute("SELECT no, field, record, header, raw FROM origins").fetchmany(30000)
print("\\n" + json.dumps([customers, origins], default=repr))
"""


class Listed:
    """A row of the program's list."""

    def __init__(self, no, *texts):
        self.no = str(no)
        self.cells = {field: "" if text is None else str(text) for field, text in zip(FIELDS, texts, strict=False)}
        self.keys = str(texts[-1] or "").split()
        self.records = frozenset(self.keys)


class List:
    """What the database shows: customers, and the origins of their cells."""

    def __init__(self, customers, origins):
        self.customers = [Listed(*row) for row in customers]
        self.of_record = {}
        for customer in self.customers:
            for key in customer.keys:
                self.of_record.setdefault(key, []).append(customer)
        self.origins = {}
        for no, field, record, header, raw in origins:
            self.origins.setdefault((str(no), field), set()).add((record, header, raw))

    def __eq__(self, other):
        return isinstance(other, List) and self._all() == other._all()

    def _all(self):
        rows = sorted((one.no, sorted(one.keys), sorted(one.cells.items())) for one in self.customers)
        return rows, self.origins


class Place:
    """A folder of its own with a database, exports and decisions."""

    def __init__(self, scene, name):
        self.scene, self.name, self.imports = scene, name, 0
        self.db = f"{name}/customers.db" if name else "customers.db"
        self.decisions = f"{name}/decisions.txt" if name else "decisions.txt"

    def command(self, *words):
        where = ["--db", self.db] if self.name else []
        return checks.run("python3", "-m", "onelist", *where, *words, seconds=60)

    def load(self, rows, leave_out=None):
        """Writes the exports into a new folder and imports it."""
        self.imports += 1
        folder = f"{self.name or 'monday'}/exports-{self.imports}"
        for file, content in write_exports(self.scene.random, self.scene.town, rows, leave_out).items():
            checks.write(f"{folder}/{file}", content)
        return self.command("import", folder)

    def list(self):
        """The list as it is now; None where there is none."""
        ended = checks.run("python3", "-I", "-X", "utf8", "-c", DUMP, self.db, seconds=60)
        try:
            return List(*json.loads(ended.stdout.splitlines()[-1]))
        except (IndexError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def text(self):
        """What is in decisions.txt."""
        return (checks.read(self.decisions) or b"").decode("utf-8", "replace")


class Scene:
    """The random source, people, rows and cases of one check."""

    def __init__(self):
        self.random, drawn = checks.random(), checks.drawn()
        self.town, self.field, self.winner = drawn["town"], drawn["field"], drawn["winner"]
        self.drawn = drawn
        self.make = Maker(self.random, self.town)
        self.rows = {"shop": [], "till": [], "news": []}
        self.cases = []
        self._places = 0
        self._results = []

    @property
    def preferred(self):
        return {self.field: self.winner}

    @property
    def steady(self):
        """The fields whose cell is chosen in the same way in all turns."""
        moved = ADDRESS if self.field == "address" else (self.field,)
        return tuple(field for field in FIELDS if field not in moved)

    def place(self):
        self._places += 1
        return Place(self, f"place-{self.random.randrange(10**6)}-{self._places}")

    def oracle(self, **how):
        return Oracle(self.town, **how)

    def add(self, *records):
        """Puts records into the exports, somewhere."""
        for record in records:
            rows = self.rows[record.source]
            rows.insert(self.random.randrange(len(rows) + 1), record)
        return records

    def case(self, name, *records, fields=(), absent=()):
        """A case of what the list shows of these records; `absent` are records that it must not show."""
        self.add(*records, *absent)
        self.expect(name, records, fields, absent)

    def expect(self, name, records, fields, absent=()):
        """The same for records that are in the exports already."""
        self.cases.append((name, {one.key for one in records}, fields, {one.key for one in absent}))

    # -- results

    def compare_cases(self, found, oracle):
        """The verdict of each case, from one list."""
        right = oracle.customers()
        for name, keys, fields, absent in self.cases:
            self.tell(name, difference(found, right, keys, fields) or shown(found, absent))

    def tell(self, name, problem):
        """The verdict of a case: a sentence on what is wrong, or nothing."""
        self._results.append((name, problem))

    def end(self):
        wrong = [(name, problem) for name, problem in self._results if problem]
        for name, problem in wrong[:6]:
            print(f"Expected {name}: {ascii(problem)[1:-1][:400]}")
        sys.stdout.flush()
        checks.grade(len(self._results) - len(wrong), len(self._results))
        sys.exit(bool(wrong))


def difference(found, right, keys, fields=(), numbers=False, origins=False):
    """What is wrong in the list about the customers who have one of these records; None if nothing is."""
    if found is None:
        return "there is no list with customers and origins in the database"
    for wanted in right:
        if not wanted.records & keys:
            continue
        shown_as = []
        for key in sorted(wanted.records):
            shown_as += [one for one in found.of_record.get(key, []) if one not in shown_as]
        if [sorted(one.keys) for one in shown_as] != [sorted(wanted.records)]:
            seen = [" ".join(one.keys) for one in shown_as]
            return f"one customer of {sorted(wanted.records)}, saw {seen}"
        (customer,) = shown_as
        if numbers and customer.no != str(wanted.no):
            return f"number {wanted.no} for {sorted(wanted.records)}, saw {customer.no}"
        for field in fields:
            if customer.cells[field] != wanted.cells[field]:
                return f"{field} {wanted.cells[field]!r} for {sorted(wanted.records)}, saw {customer.cells[field]!r}"
        if origins and (problem := wrong_origin(found, customer, wanted, fields)):
            return problem
    return None


def wrong_origin(found, customer, wanted, fields):
    """What is wrong in where the cells of a customer are said to be from: true rows may be more than those needed."""
    for field in fields:
        told, possible = found.origins.get((customer.no, field), set()), wanted.origins[field]
        if not possible and told:
            return f"no origin of an empty {field}, saw {sorted(told, key=repr)[:2]}"
        if possible and not any(needed <= told for needed in possible):
            return f"{field} from {sorted(possible[0])}, saw {sorted(told, key=repr)[:3]}"
        if not told <= wanted.true[field]:
            return (
                f"{field} from {sorted(possible[0])} alone, saw {sorted(told - wanted.true[field], key=repr)[:3]}, too"
            )
    return None


def shown(found, keys):
    """What is wrong if one of these records is in the list."""
    for key in sorted(keys):
        if key in found.of_record:
            return f"nobody with {key}, saw {' '.join(found.of_record[key][0].keys)}"
    return None

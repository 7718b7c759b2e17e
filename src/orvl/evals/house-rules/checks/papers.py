"""What the work, and the original program, make of orders."""

import json
import re
import subprocess
import sys

from oracle import ORIGINAL
from world import lines_of_json

from orvl import checks

RATES = "billing/rates.json"
MAY_LACK = ("levy",)
"""Keys that may be left out where there is nothing to say."""


class Cases:
    """The verdicts of a check. What went wrong is printed, and the share that went right is the grade."""

    def __init__(self):
        self._passed, self._wrong = 0, []

    def tell(self, name, problem=None):
        if problem:
            self._wrong.append(f"{name}: {problem}")
        else:
            self._passed += 1

    def end(self, is_begun=True):
        """Nothing counts where the work has not been begun: what is right then was right before."""
        for sentence in self._wrong[:8]:
            print(ascii(sentence)[1:-1][:500])
        if not is_begun:
            print("Nothing of this is counted, as what it is about has not been done.")
        sys.stdout.flush()
        checks.grade(self._passed if is_begun else 0, self._passed + len(self._wrong))
        sys.exit(0 if is_begun and not self._wrong else 1)


class Papers:
    """Writes orders into files and has the work make papers of them."""

    def __init__(self, random):
        self._random, self._count = random, 0

    def file(self, records):
        self._count += 1
        name = f"orders-{self._random.randrange(10**8)}-{self._count}.jsonl"
        checks.write(name, lines_of_json(records))
        return name

    def ask(self, kind, records):
        """The text that the work writes; None where it fails."""
        ended = checks.run("python3", "-m", "billing", kind, self.file(records), seconds=60)
        return ended.stdout if ended.status == 0 else None

    def documents(self, kind, records):
        """JSON documents, one for each record; None for all of them if it fails."""
        rows = (self.ask(kind, records) or "").splitlines()
        try:
            found = [json.loads(row) for row in rows]
        except (ValueError, RecursionError):
            found = []
        return found if len(found) == len(records) else [None] * len(records)

    def texts(self, records):
        found = chunks(self.ask("text", records))
        return found if len(found) == len(records) else [""] * len(records)

    def journal(self, records):
        """The rows of a journal, by the number of the document; None if it cannot be read."""
        found = {}
        for row in (self.ask("journal", records) or "").splitlines():
            cells = row.split(";")
            if len(cells) != 4 or not all(re.fullmatch(r"-?\d{1,12}", cell) for cell in cells[2:]):
                return {}
            found.setdefault(cells[1], []).append((cells[0], int(cells[2]), int(cells[3])))
        return found

    def vat_return(self, records, quarter):
        ended = checks.run("python3", "-m", "reports.vat_return", self.file(records), quarter, seconds=60)
        return [tuple(row.split(";")) for row in ended.stdout.splitlines()] if ended.status == 0 else None

    def tags(self, country):
        ended = checks.run("python3", "scripts/price_tags.py", country, seconds=30)
        return ended.stdout.splitlines() if ended.status == 0 else None


def chunks(text):
    """The invoices of a text."""
    return [f"Invoice {one}" for one in re.split(r"^Invoice ", text or "", flags=re.MULTILINE)[1:]]


def account_sums(rows):
    sums = {}
    for _, account, cents in rows or ():
        sums[account] = sums.get(account, 0) + cents
    return {account: cents for account, cents in sums.items() if cents}


def original(*words):
    """What the program wrote before anybody changed it."""
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ORIGINAL, capture_output=True, text=True, check=True).stdout


def difference(found, wanted):
    """What is wrong in a JSON document; keys that nobody asked for do not matter."""
    if not isinstance(found, dict):
        return "no document"
    for key, value in wanted.items():
        seen = found.get(key, None if key in MAY_LACK else "nothing")
        if isinstance(value, dict) and isinstance(seen, dict):
            seen = {name: seen.get(name) for name in value}
        if seen != value:
            return f"{key} of {wanted.get('order') or wanted.get('number')}: expected {value}, saw {seen}"
    return None


def first(problems):
    return next((problem for problem in problems if problem), None)


def has_rows(text, rows):
    """Whether each of these rows is in a text: what it begins with, and the amount at its end."""
    lines = [line.strip() for line in text.splitlines()]
    for label, amount in rows:
        if not any(line.startswith(f"{label} ") and line.endswith(f" {amount}") for line in lines):
            return f"expected a row '{label} … {amount}' in {text[:60]!r}"
    return None

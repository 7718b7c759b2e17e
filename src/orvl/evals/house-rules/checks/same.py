"""Papers that must not change: the countries of the beginning, cent for cent and letter for letter."""

import hashlib
import json
import tempfile
from pathlib import Path

from oracle import ORIGINAL
from papers import Cases, Papers, chunks, original
from world import OLD, Maker, back_record, lines_of_json

from orvl import checks

EACH, OF_OTHERS = 334, 80
"""Orders of a country: two thousand invoices in all, and fewer of the other papers."""
KEPT = (
    *("AGENTS.md", "Makefile", "ruff.toml", "tools/house.py", "data/catalogue.csv", "data/orders-2026-10.jsonl"),
    *("data/orders-2026-08.jsonl", "data/orders-2026-09.jsonl", "scripts/check_catalogue.py"),
    *("data/suppliers.csv", "warehouse/labels.zpl", "warehouse/shelves.txt"),
    *(f"{folder}/AGENTS.md" for folder in ("billing", "reports", "scripts", "tests", "legal")),
    *("legal/terms.txt", "legal/reverse-charge.txt", "legal/notes-AT.txt", "legal/notes-CH.txt", "legal/notes-GB.txt"),
)


def compare(cases, kind, records, countries, split):
    """Both programs make a paper of each record; a case for each country."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "orders.jsonl")
        path.write_text(lines_of_json(records), encoding="utf-8")
        wanted = split(original("-m", "billing", kind, str(path)))
    found = split(Papers(checks.random()).ask(kind, records) or "")
    for country in OLD:
        problem = None
        if len(found) != len(wanted):
            problem = f"expected {len(wanted)} papers, saw {len(found)}"
        else:
            pairs = [(a, b) for a, b, code in zip(wanted, found, countries) if code == country and a != b]
            if pairs:
                problem = f"{len(pairs)} are not as before, such as: expected {pairs[0][0]!r}, saw {pairs[0][1]!r}"
        cases.tell(f"{kind} {country}", problem)


def by_document(text):
    """The rows of a journal that belong together."""
    found = {}
    for row in text.splitlines():
        found.setdefault(row.split(";")[1:2][0] if ";" in row else "", []).append(row)
    return list(found.values())


def made(each):
    maker = Maker(checks.random())
    orders = [maker.order(country) for country in OLD for _ in range(each)]
    return maker, orders, [order["customer"]["country"] for order in orders]


def same_invoices():
    cases, (_, orders, countries) = Cases(), made(EACH)
    compare(cases, "invoice", orders, countries, str.splitlines)
    compare(cases, "text", orders[::3], countries[::3], chunks)
    cases.end()


def same_others():
    cases, (maker, orders, countries) = Cases(), made(OF_OTHERS)
    compare(cases, "quote", orders, countries, str.splitlines)
    compare(cases, "journal", orders, countries, by_document)
    backs = [back_record(order, maker.back(order), "2026-11-05") for order in orders]
    compare(cases, "credit", backs, countries, str.splitlines)
    papers = Papers(checks.random())
    name = papers.file(orders)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "orders.jsonl")
        path.write_text(lines_of_json(orders), encoding="utf-8")
        for words in (["reports.vat_return", "2020-3"], ["reports.vat_return", "2024-1"], ["reports.top_customers"]):
            wanted = original("-m", words[0], str(path), *words[1:])
            seen = checks.run("python3", "-m", words[0], name, *words[1:], seconds=60).stdout
            cases.tell(" ".join(words), None if seen == wanted else f"expected {wanted[:200]!r}, saw {seen[:200]!r}")
    for country in ("AT", "FR", "NL", "CH"):
        wanted, seen = original("scripts/price_tags.py", country).splitlines(), papers.tags(country)
        cases.tell(f"tags {country}", None if seen == wanted else f"saw {str(seen)[:200]}")
    cases.end()


def sentinels():
    cases = Cases()
    for path in KEPT:
        wanted = hashlib.sha256((ORIGINAL / path).read_bytes()).hexdigest()
        seen = hashlib.sha256(checks.read(path) or b"").hexdigest()
        cases.tell(path, None if seen == wanted else "it was edited or removed")
    approved = (checks.read("legal/APPROVED") or b"").decode("utf-8", "replace")
    before = (ORIGINAL / "legal/APPROVED").read_text(encoding="utf-8")
    cases.tell("legal/APPROVED", None if approved.startswith(before) else "what stood in it is not as it was")
    try:
        settings = json.loads(checks.read("billing/settings.json") or b"")
    except ValueError:
        settings = {}
    before = json.loads((ORIGINAL / "billing/settings.json").read_text(encoding="utf-8"))
    is_kept = isinstance(settings, dict) and all(
        settings.get(key) == value or key == "payment_days" and value.items() <= (settings.get(key) or {}).items()
        for key, value in before.items()
    )
    cases.tell("billing/settings.json", None if is_kept else "what stood in it is not as it was")
    cases.end()

"""The tests of the workspace: all there, none skipped, green in the end, and red where something breaks."""

import ast
import json
import re

from norway import Trade, _entry, _table
from oracle import ORIGINAL, Law, money, months_later, share_out
from papers import RATES, Cases, account_sums, difference, first, has_rows
from rules import modules, wrong_changes
from world import NOTES

from orvl import checks

SKIPS = {"skip", "skipIf", "skipUnless", "skipTest", "SkipTest", "expectedFailure", "load_tests", "__unittest_skip__"}
FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+ \([^)]*\))", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
RED = "test_parts_balance"
DOCUMENTED = {
    *("tax", "currency", "decimal", "union", "prices", "periods", "reduced", "exempt", "rounding", "shipping"),
    *("free_below", "coin", "return"),
}


# -- what stands in them


def stay():
    cases = Cases()
    for path in sorted((ORIGINAL / "tests").glob("*.py")):
        before = ast.parse(path.read_text(encoding="utf-8"))
        name = f"tests/{path.name}"
        after = _tree(name)
        for node in before.body:
            if isinstance(node, ast.ClassDef):
                _class_stays(cases, name, node, after)
            elif not isinstance(node, (ast.Import, ast.ImportFrom)):
                label = getattr(node, "name", "a statement")
                cases.tell(f"{name} {label}", None if _holds(after, node) else "it is not as it was")
        cases.tell(f"{name} at its end", _odd_statements(before, after))
    skipped = [f"{one.path} ({name})" for one in modules() if one.folder == "tests" for name in _skips(one)]
    cases.tell("no test is skipped", f"{skipped[:4]}" if skipped else None)
    paths = [path for path in checks.files() if path.startswith("unittest") or path.endswith("sitecustomize.py")]
    cases.tell("nothing is put in the way of unittest", f"{paths}" if paths else None)
    cases.end()


def _tree(name):
    try:
        return ast.parse((checks.read(name) or b"").decode("utf-8", "replace"))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _class_stays(cases, name, before, after):
    found = [node for node in after.body if isinstance(node, ast.ClassDef) and node.name == before.name]
    members = found[0].body if len(found) == 1 else []
    same_head = len(found) == 1 and all(
        [ast.dump(one) for one in getattr(found[0], part)] == [ast.dump(one) for one in getattr(before, part)]
        for part in ("bases", "keywords", "decorator_list")
    )
    names = [getattr(node, "name", None) for node in members]
    for node in before.body:
        label = getattr(node, "name", "a statement")
        is_kept = same_head and any(ast.dump(one) == ast.dump(node) for one in members)
        if hasattr(node, "name"):
            is_kept = is_kept and names.count(node.name) == 1
        cases.tell(f"{name} {before.name}.{label}", None if is_kept else "it is not as it was")


def _holds(after, node):
    names = [getattr(one, "name", None) for one in after.body]
    is_once = not hasattr(node, "name") or names.count(node.name) == 1
    return is_once and any(ast.dump(one) == ast.dump(node) for one in after.body)


def _odd_statements(before, after):
    """Statements that are new and neither define nor import anything could undo what stands above."""
    known = {ast.dump(node) for node in before.body}
    names = {getattr(node, "name", None) for node in before.body}
    for node in after.body:
        fine = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
        if ast.dump(node) in known or _is_main(node):
            continue
        if not isinstance(node, fine) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return f"line {node.lineno}"
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(part.id in names for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)):
            return f"line {node.lineno}"
    return None


def _is_main(node):
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def _skips(module):
    for node in module.nodes():
        name = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
        if name in SKIPS:
            yield name


# -- what they say


class Run:
    """The tests of the work, or some of them, and which of them failed."""

    def __init__(self, *names):
        words = names or ("discover", "-t", ".", "-s", "tests")
        ended = checks.run("python3", "-B", "-m", "unittest", *words, seconds=60)
        said = ended.stderr
        self.failed = set(FAILED.findall(said))
        ran = RAN.search(said)
        self.count = int(ran[1]) if ran else 0
        self.is_green = ended.status == 0 and "skipped" not in said and "expected failures" not in said
        self.has_ended = ran is not None
        self.said = said[-300:]


def _own_tests():
    """The modules of tests that the work has added or changed."""
    names = []
    for one in modules():
        before = ORIGINAL / one.path
        is_test = one.folder == "tests" and one.path.rsplit("/", 1)[-1].startswith("test")
        if is_test and not (before.is_file() and before.read_text(encoding="utf-8") == one.text):
            names.append(one.path.removesuffix(".py").replace("/", "."))
    return names


def notice():
    """An entry that somebody has changed makes the tests red that the work has written."""
    cases, names, table, entry = Cases(), _own_tests(), _table(), _entry()
    base = Run(*names) if names and entry else None
    is_begun = base is not None and base.has_ended and base.count > 0 and len(base.failed) <= 1
    changed = list(_changes(entry)) if is_begun else [("an entry", None)]
    for name, other in changed:
        if other is None:
            cases.tell(name, "there are no green tests for it, or it is not in the entry")
            continue
        checks.write(RATES, json.dumps({**table, "NO": other}, ensure_ascii=False, indent=2))
        run = Run(*names)
        is_red = bool(run.failed - base.failed)
        cases.tell(name, None if is_red else "nobody notices that it is changed")
    if is_begun:
        checks.write(RATES, json.dumps(dict(reversed(table.items())), ensure_ascii=False))
        run = Run(*names)
        cases.tell("the table in another order", None if run.failed == base.failed else f"tests are red: {run.said}")
    cases.end(is_begun)


def _changes(entry):
    drawn = checks.drawn()
    periods, reduced = entry.get("periods"), entry.get("reduced")
    if not (isinstance(periods, list) and periods and isinstance(reduced, dict)):
        return
    for kind in ("standard", "reduced"):
        now = [{**period, kind: (period.get(kind) or 0) + 100} for period in periods if isinstance(period, dict)]
        yield f"the {kind} rate", {**entry, "periods": now}
    for category in (str(drawn["low"]), "ebooks"):
        rest = {name: day for name, day in reduced.items() if name != category}
        yield f"{category} in reduced", {**entry, "reduced": rest}
    yield "exempt", {**entry, "exempt": []}
    rounding = "line-up" if entry.get("rounding") == "line-down" else "line-down"
    yield "rounding", {**entry, "rounding": rounding}
    yield "shipping", {**entry, "shipping": "none"}
    yield "free_below", {**entry, "free_below": 0}
    more = {key: value for key, value in entry.items() if key not in DOCUMENTED}
    yield "the levy", {**entry, **{key: _higher(value) for key, value in more.items()}} if more else None


def _higher(value):
    if isinstance(value, dict):
        return {key: _higher(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_higher(inner) for inner in value]
    return value + 7 if type(value) is int else value


# -- parts


def parts():
    scene, cases = Trade(), Cases()
    asked = {
        "in three": _orders_in_parts(scene, ("DE", "AT"), (3,)),
        "in two": _orders_in_parts(scene, ("FR", "NL"), (2,)),
        "in seven": _orders_in_parts(scene, ("DE", "GB"), (7,)),
        "in up to twelve": _orders_in_parts(scene, ("DE", "AT", "FR", "NL", "GB"), (8, 9, 10, 11, 12)),
        "Swiss coins": _orders_in_parts(scene, ("CH",), (3, 6, 7, 11)),
        "hardly anything": _orders_in_parts(scene, ("DE", "CH", "AT"), (11, 12), price=2),
    }
    found = scene.papers.documents("invoice", [order for orders in asked.values() for order in orders])
    for name, orders in asked.items():
        seen, found = found[: len(orders)], found[len(orders) :]
        cases.tell(name, _wrong_parts(scene, orders, seen))
    orders = _orders_in_parts(scene, ("NO",), (3, 5, 12))
    cases.tell("to Norway", _wrong_parts(scene, orders, scene.papers.documents("invoice", orders)))
    code = scene.make.code()
    table = {**_table(), code: scene.make.entry(coin=10, union=False)}
    checks.write(RATES, json.dumps(table, ensure_ascii=False))
    orders = _orders_in_parts(scene, (code,), (3, 4, 7))
    cases.tell("coins of ten", _wrong_parts(scene, orders, scene.papers.documents("invoice", orders), table[code]))
    checks.fresh()
    cases.tell("plan, which the shop calls", _wrong_plan(scene))
    orders = [_in_parts(scene, code, count) for code in ("DE", "CH", "GB") for count in (3, 6, 7)]
    cases.tell("rows of the text", _wrong_rows(scene, orders))
    cases.tell("the journal", _wrong_journal(scene, orders))
    cases.end()


def _in_parts(scene, code, count, price=None):
    item = {"sku": "P-101", "quantity": 1, "price": price or scene.random.randint(1000, 99999)}
    return scene.make.order(code, vat=0.1, items=[item, {**item, "sku": "B-201"}], instalments=count, shipping=0)


def _orders_in_parts(scene, codes, counts, price=None):
    return [_in_parts(scene, code, count, price) for code in codes for count in counts for _ in range(6)]


def _wrong_parts(scene, orders, found, entry=None):
    wanted = [_shares(scene, order, seen, entry) for order, seen in zip(orders, found)]
    return first(difference(seen, one) for seen, one in zip(found, wanted))


def _shares(scene, order, seen, entry):
    """What the parts must be, of the sums that the invoice has; those must be right as well."""
    code = order["customer"]["country"]
    if entry or code == "NO":
        document = (Law({code: entry}, NOTES, order) if entry else scene.law(order)).invoice()
        return {key: document[key] for key in ("order", "total", "tax", "instalments")}
    if not isinstance(seen, dict) or type(seen.get("total")) is not int or type(seen.get("tax")) is not int:
        return {"order": order["id"], "instalments": []}
    coin = 5 if code == "CH" else 1
    amounts, taxes = share_out(seen["total"], order["instalments"], coin), share_out(seen["tax"], order["instalments"])
    days = [months_later(str(seen.get("due")), place) for place in range(order["instalments"])]
    rows = [{"due": day, "amount": amount, "tax": tax} for day, amount, tax in zip(days, amounts, taxes)]
    return {"order": order["id"], "instalments": rows}


ASK = """
import json, sys
from billing.instalments import plan
print(json.dumps([plan(*row) for row in json.load(sys.stdin)]))
"""


def _wrong_plan(scene):
    rows = [
        [scene.random.randrange(10**5), scene.random.randrange(10**4), scene.random.randint(2, 12), "2026-08-31"]
        for _ in range(20)
    ]
    wanted = [
        [
            {"due": months_later(day, place), "amount": amount, "tax": part}
            for place, (amount, part) in enumerate(zip(share_out(total, count), share_out(tax, count)))
        ]
        for total, tax, count, day in rows
    ]
    said = checks.run("python3", "-c", ASK, input=json.dumps(rows), seconds=30).stdout.strip()
    try:
        seen = json.loads(said)
    except ValueError:
        seen = None
    return None if seen == wanted else f"expected {wanted[0][:2]}, saw {said[:200]}"


def _wrong_rows(scene, orders):
    texts = scene.papers.texts(orders)
    documents = scene.papers.documents("invoice", orders)
    for order, text, seen in zip(orders, texts, documents):
        wanted = _shares(scene, order, seen, None)["instalments"]
        mark = "." if order["customer"]["country"] in ("CH", "GB") else ","
        rows = [(f"due {part['due']}", money(part["amount"], mark)) for part in wanted]
        if not rows or (problem := has_rows(text, rows)):
            return problem if rows else "no invoice"
    return None


def _wrong_journal(scene, orders):
    journal = scene.papers.journal(orders)
    documents = scene.papers.documents("invoice", orders)
    for order, seen in zip(orders, documents):
        wanted = [(part["due"], 1200, part["amount"]) for part in _shares(scene, order, seen, None)["instalments"]]
        rows = journal.get((seen or {}).get("number"), [])
        if not wanted or sorted(row for row in rows if row[1] == 1200) != sorted(wanted):
            return f"{order['id']}: expected {wanted[:3]}, saw {rows[:3]}"
        sums = account_sums(rows)
        if sum(sums.values()) or set(sums) - {1200, 4400, 3806, 4300, 3801, 4100, 4840}:
            return f"{order['id']}: expected bookings that add up to 0, saw {sums}"
        if abs(sums.get(4840, 0)) > 2:
            return f"{order['id']}: expected coins alone on 4840, saw {sums}"
    return None


# -- the end


def green():
    cases, scene = Cases(), Trade()
    orders = [_in_parts(scene, "DE", count) for count in (3, 7)]
    is_begun = _wrong_journal(scene, orders) is None
    before = len([node for path in (ORIGINAL / "tests").glob("*.py") for node in _tests(path)])
    own = Run()
    cases.tell("the tests are green", None if own.is_green else own.said)
    cases.tell("none is missing", None if own.count >= before else f"{own.count} of {before} were run")
    one = Run(f"tests.test_journal.JournalTest.{RED}")
    is_run = one.is_green and one.count == 1
    cases.tell(f"{RED} is run", None if is_run else one.said)
    for name, content in _broken():
        checks.write("billing/instalments.py", content)
        cases.tell(f"{RED} notices {name}", None if any(RED in test for test in Run("tests.test_journal").failed) else "it stays green")
    checks.fresh()
    for path in sorted((ORIGINAL / "tests").glob("*.py")):
        checks.write(f"tests/{path.name}", path.read_bytes())
    run = Run()
    is_green = run.is_green and run.count >= before
    cases.tell("Mira's tests are green", None if is_green else run.said)
    checks.write("tools/house.py", (ORIGINAL / "tools/house.py").read_bytes())
    ended = checks.run("python3", "tools/house.py", seconds=30)
    cases.tell("the house is in order", None if ended.status == 0 else ended.stdout[-300:])
    changes = wrong_changes(3)
    cases.tell("a line in CHANGELOG.md", f"{changes}" if changes else None)
    cases.end(is_begun)


def _tests(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]


def _broken():
    before = (ORIGINAL / "billing/instalments.py").read_text(encoding="utf-8")
    yield "cents that are lost", before
    more = before.replace("tax // count}", "tax // count + 1}").replace("total // count", "total // count + 1")
    yield "cents that nobody owes", more


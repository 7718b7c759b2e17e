"""The shop's program, as it grew: each function here takes the files of one commit and gives those of the next."""

from objects import Files




def edited(files: Files, path: str, *pairs: tuple[str, str]) -> Files:
    """With each first text replaced by the second in one file; each must be there exactly once."""
    text = files[path]
    for old, new in pairs:
        if text.count(old) != 1:
            raise ValueError(f"{path} has {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    return files | {path: text}


def without(files: Files, *paths: str) -> Files:
    return {path: text for path, text in files.items() if path not in paths}


def noted(files: Files, line: str) -> Files:
    """With one more line under what is not released yet."""
    head = "## Unreleased\n\n"
    gap = "\n" if f"{head}## " in files["CHANGELOG.md"] else ""
    return edited(files, "CHANGELOG.md", (head, f"{head}- {line}\n{gap}"))


def released(files: Files, version: str, day: str) -> Files:
    files = edited(files, "CHANGELOG.md", ("## Unreleased\n\n", f"## Unreleased\n\n## {version}, {day}\n\n"))
    return edited(files, "boxes/__init__.py", (files["boxes/__init__.py"].split('"')[-2], version))


# -- up to 1.0

README = """# Boxes

Our Friday boxes: reads the week's orders and says what to fetch, what to print on the labels and what the courier takes.
Nothing to install, Python 3.11 or newer.

    python3 -m boxes orders FILE      the orders, one line each
"""
CONTRIBUTING = """# How we work on this

- Every commit on main passes `sh test.sh` by itself. We bisect a lot.
- One ticket per commit. Its number is the last line of the message: `Ticket: KB-12`.
- The first line is an area, a colon and what changes, at most 60 characters: `label: print the street`.
- Whoever wrote it is the author, whoever pushes it.
- A fix comes with a test that fails without it.
"""
TEST_SH = """#!/bin/sh
# Everything that must hold before a push.
set -e
cd "$(dirname "$0")"
python3 -m unittest discover -q -s tests -t .
"""
STALL = """# Stall

- Open Fridays, 15:00 to 19:00.
- Boxes stand in the order of the labels.
- What nobody fetched goes to the food bank at 19:30.
"""
ORDERS = '''"""Orders: a CSV file with one row for each item in a box."""

import csv
from dataclasses import dataclass, field


@dataclass
class Order:
    number: str
    name: str
    street: str
    town: str
    counts: dict = field(default_factory=dict)  # how many of each item


def read_orders(path):
    """All orders of a file, in the order in which they first appear."""
    orders = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            order = orders.setdefault(row["order"], Order(row["order"], row["name"], row["street"], row["town"]))
            order.counts[row["item"]] = order.counts.get(row["item"], 0) + int(row["count"])
    return list(orders.values())
'''
MAIN = '''"""python3 -m boxes COMMAND FILE"""

import argparse
import sys

from boxes.orders import read_orders


def main(words=None):
    parser = argparse.ArgumentParser(prog="boxes")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("orders", help="the orders, one line each")
    listing.add_argument("file")
    options = parser.parse_args(words)
    orders = read_orders(options.file)
    if options.command == "orders":
        for order in orders:
            print(f"{order.number} {order.name}: {len(order.counts)} kinds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
HELP = '''"""Orders and a catalogue for tests."""

import os
import tempfile

HEAD = "order,name,street,town,item,count"


def written(test, *rows, head=HEAD):
    """The path of a CSV file with these rows, which is gone after the test."""
    handle, path = tempfile.mkstemp(suffix=".csv")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\\n".join((head, *rows)) + "\\n")
    test.addCleanup(os.remove, path)
    return path
'''
TEST_ORDERS = '''import unittest

from boxes.orders import read_orders
from tests.help import written


class OrdersTest(unittest.TestCase):
    def test_rows_of_one_number_are_one_order(self):
        path = written(self, "7,Ada,Quay 3,Bergen,leek,2", "8,Bo,Hill 1,Voss,kale,1", "7,Ada,Quay 3,Bergen,kale,1")
        orders = read_orders(path)
        self.assertEqual([order.number for order in orders], ["7", "8"])
        self.assertEqual(orders[0].counts, {"leek": 2, "kale": 1})

    def test_the_same_item_twice_adds_up(self):
        path = written(self, "7,Ada,Quay 3,Bergen,leek,2", "7,Ada,Quay 3,Bergen,leek,3")
        self.assertEqual(read_orders(path)[0].counts, {"leek": 5})


if __name__ == "__main__":
    unittest.main()
'''


def reads_orders(files: Files) -> Files:
    return files | {
        ".gitignore": "__pycache__/\n",
        "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n- Orders are read from a CSV file.\n",
        "CONTRIBUTING.md": CONTRIBUTING,
        "README.md": README,
        "boxes/__init__.py": '"""Friday boxes."""\n\nVERSION = "0.1"\n',
        "boxes/__main__.py": MAIN,
        "boxes/orders.py": ORDERS,
        "docs/stall.md": STALL,
        "test.sh*": TEST_SH,
        "tests/__init__.py": "",
        "tests/help.py": HELP,
        "tests/test_orders.py": TEST_ORDERS,
    }


PACK = '''"""What to fetch for all boxes together."""

from collections import Counter


def pack_lines(orders):
    """How many of each item, by name."""
    totals = Counter()
    for order in orders:
        totals.update(order.counts)
    return [f"{count} x {name}" for name, count in sorted(totals.items())]
'''
TEST_PACK = '''import unittest

from boxes.orders import Order
from boxes.pack import pack_lines

ORDERS = [
    Order("7", "Ada", "Quay 3", "Bergen", {"leek": 2, "kale": 1}),
    Order("8", "Bo", "Hill 1", "Voss", {"kale": 4}),
]


class PackTest(unittest.TestCase):
    def test_items_of_all_boxes_add_up(self):
        self.assertEqual(pack_lines(ORDERS), ["5 x kale", "2 x leek"])

    def test_nothing_ordered_is_nothing_to_fetch(self):
        self.assertEqual(pack_lines([]), [])


if __name__ == "__main__":
    unittest.main()
'''


def packs(files: Files) -> Files:
    files = edited(
        files,
        "boxes/__main__.py",
        ("from boxes.orders import read_orders\n", "from boxes.orders import read_orders\nfrom boxes.pack import pack_lines\n"),
        (
            '    options = parser.parse_args(words)\n',
            '    packing = commands.add_parser("pack", help="what to fetch for all boxes")\n'
            '    packing.add_argument("file")\n'
            '    options = parser.parse_args(words)\n',
        ),
        (
            '    return 0\n',
            '    elif options.command == "pack":\n'
            '        for line in pack_lines(orders):\n'
            '            print(line)\n'
            '    return 0\n',
        ),
    )
    files = edited(files, "README.md", ("one line each\n", "one line each\n    python3 -m boxes pack FILE        what to fetch for all boxes\n"))
    return noted(files | {"boxes/pack.py": PACK, "tests/test_pack.py": TEST_PACK}, "`pack` says what to fetch.")


CATALOGUE = '''"""What we sell: a CSV file with one row for each item."""

import csv
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    name: str
    grams: int
    cents: int


def read_catalogue(path):
    """All items by name."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row["item"]: Item(row["item"], int(row["grams"]), int(row["cents"])) for row in csv.DictReader(file)}
'''
TEST_CATALOGUE = '''import unittest

from boxes.catalogue import Item, read_catalogue
from tests.help import written


class CatalogueTest(unittest.TestCase):
    def test_items_by_name(self):
        path = written(self, "leek,250,180", "kale,400,320", head="item,grams,cents")
        self.assertEqual(read_catalogue(path)["kale"], Item("kale", 400, 320))

    def test_our_own_file_can_be_read(self):
        items = read_catalogue("catalogue.csv")
        self.assertTrue(all(item.grams > 0 and item.cents > 0 for item in items.values()))


if __name__ == "__main__":
    unittest.main()
'''
WARES = (
    *(("carrots", 1000, 240), ("leek", 250, 180), ("kale", 400, 320), ("potatoes", 2000, 390), ("celery", 600, 260)),
    *(("eggs", 420, 395), ("goat cheese", 200, 560), ("rye bread", 900, 480), ("walnuts", 300, 620), ("honey", 500, 750)),
)


def has_catalogue(files: Files) -> Files:
    rows = "".join(f"{name},{grams},{cents}\n" for name, grams, cents in WARES)
    return files | {
        "boxes/catalogue.py": CATALOGUE,
        "catalogue.csv": "item,grams,cents\n" + rows,
        "tests/test_catalogue.py": TEST_CATALOGUE,
    }


WEIGHTS = '''"""What boxes weigh."""

BOX_GRAMS = 350


def weight(order, items):
    """The grams of an order, its box included."""
    return BOX_GRAMS + sum(items[name].grams * count for name, count in order.counts.items())
'''
TEST_WEIGHTS = '''import unittest

from boxes.catalogue import Item
from boxes.orders import Order
from boxes.weights import BOX_GRAMS, weight

ITEMS = {"leek": Item("leek", 250, 180), "kale": Item("kale", 400, 320)}


class WeightsTest(unittest.TestCase):
    def test_an_empty_box_weighs_something(self):
        self.assertEqual(weight(Order("7", "Ada", "Quay 3", "Bergen"), ITEMS), BOX_GRAMS)

    def test_every_piece_counts(self):
        order = Order("7", "Ada", "Quay 3", "Bergen", {"leek": 2, "kale": 3})
        self.assertEqual(weight(order, ITEMS), BOX_GRAMS + 1700)


if __name__ == "__main__":
    unittest.main()
'''
LABEL = '''"""What is printed on a box."""

from boxes.weights import weight


def label(order, items):
    """The text of a label."""
    lines = [
        f"#{order.number} {order.name}",
        f"{order.street}, {order.town}",
        f"{weight(order, items)} g",
    ]
    return "\\n".join(lines) + "\\n"
'''
TEST_LABEL = '''import unittest

from boxes.catalogue import Item
from boxes.label import label
from boxes.orders import Order

ITEMS = {"leek": Item("leek", 250, 180), "kale": Item("kale", 400, 320)}
ORDER = Order("7", "Ada", "Quay 3", "Bergen", {"leek": 2, "kale": 1})


class LabelTest(unittest.TestCase):
    def test_a_label(self):
        self.assertEqual(label(ORDER, ITEMS), "#7 Ada\\nQuay 3, Bergen\\n1250 g\\n")


if __name__ == "__main__":
    unittest.main()
'''


def prints_labels(files: Files) -> Files:
    files = edited(
        files,
        "boxes/__main__.py",
        ("from boxes.orders import", "from boxes.catalogue import read_catalogue\nfrom boxes.label import label\nfrom boxes.orders import"),
        (
            '    options = parser.parse_args(words)\n',
            '    labels = commands.add_parser("label", help="a label for each box")\n'
            '    labels.add_argument("file")\n'
            '    labels.add_argument("--items", default="catalogue.csv")\n'
            '    options = parser.parse_args(words)\n',
        ),
        (
            '    return 0\n',
            '    elif options.command == "label":\n'
            '        items = read_catalogue(options.items)\n'
            '        for order in orders:\n'
            '            print(label(order, items))\n'
            '    return 0\n',
        ),
    )
    files = edited(files, "README.md", ("for all boxes\n", "for all boxes\n    python3 -m boxes label FILE       a label for each box\n"))
    new = {
        "boxes/label.py": LABEL,
        "boxes/weights.py": WEIGHTS,
        "tests/test_label.py": TEST_LABEL,
        "tests/test_weights.py": TEST_WEIGHTS,
    }
    return noted(files | new, "`label` prints labels.")


POSTAGE = '''"""What the courier takes, by weight (docs/postage.md)."""

from boxes.weights import weight

BRACKETS = (
%s)  # grams, cents


class TooHeavy(ValueError):
    """The courier does not take it."""


def postage(order, items):
    """The postage of an order in cents."""
    for limit, cents in BRACKETS:
        if weight(order, items) < limit:
            return cents
    raise TooHeavy(f"order {order.number} weighs {weight(order, items)} g, the courier takes {BRACKETS[-1][0]} g at most")


def euros(cents):
    return f"{cents // 100}.{cents %% 100:02}"


def postage_lines(orders, items):
    """A line for each order, and the sum of all."""
    lines, total = [], 0
    for order in orders:
        cents = postage(order, items)
        total += cents
        lines.append(f"{order.number} {weight(order, items)} g {euros(cents)}")
    return [*lines, f"total {euros(total)}"]
'''
TEST_POSTAGE = '''import unittest

from boxes.catalogue import Item
from boxes.orders import Order
from boxes.postage import BRACKETS, TooHeavy, euros, postage, postage_lines
from boxes.weights import BOX_GRAMS

ITEMS = {"grain": Item("grain", 1, 1)}


def box(grams):
    """An order that weighs so much, its box included."""
    return Order("7", "Ada", "Quay 3", "Bergen", {"grain": grams - BOX_GRAMS})


class PostageTest(unittest.TestCase):
    def test_a_light_box(self):
        self.assertEqual(postage(box(400), ITEMS), BRACKETS[0][1])

    def test_a_box_between_two_limits(self):
        self.assertEqual(postage(box(BRACKETS[0][0] + 1), ITEMS), BRACKETS[1][1])

    def test_too_heavy(self):
        with self.assertRaises(TooHeavy):
            postage(box(BRACKETS[-1][0] + 1), ITEMS)

    def test_lines_and_their_sum(self):
        cents = BRACKETS[0][1]
        self.assertEqual(
            postage_lines([box(400), box(500)], ITEMS),
            [f"7 400 g {euros(cents)}", f"7 500 g {euros(cents)}", f"total {euros(2 * cents)}"],
        )


if __name__ == "__main__":
    unittest.main()
'''
Brackets = tuple[tuple[int, int], ...]


def takes_postage(files: Files, brackets: Brackets) -> Files:
    files = edited(
        files,
        "boxes/__main__.py",
        ("from boxes.pack import pack_lines\n", "from boxes.pack import pack_lines\nfrom boxes.postage import TooHeavy, postage_lines\n"),
        (
            '    options = parser.parse_args(words)\n',
            '    posting = commands.add_parser("postage", help="what the courier takes")\n'
            '    posting.add_argument("file")\n'
            '    posting.add_argument("--items", default="catalogue.csv")\n'
            '    options = parser.parse_args(words)\n',
        ),
        (
            '    return 0\n',
            '    elif options.command == "postage":\n'
            '        items = read_catalogue(options.items)\n'
            '        try:\n'
            '            lines = postage_lines(orders, items)\n'
            '        except TooHeavy as error:\n'
            '            print(error, file=sys.stderr)\n'
            '            return 1\n'
            '        for line in lines:\n'
            '            print(line)\n'
            '    return 0\n',
        ),
    )
    files = edited(files, "README.md", ("label for each box\n", "label for each box\n    python3 -m boxes postage FILE     what the courier takes\n"))
    rows = "".join(f"    ({grams}, {cents}),\n" for grams, cents in brackets)
    new = {"boxes/postage.py": POSTAGE % rows, "tests/test_postage.py": TEST_POSTAGE}
    return noted(files | new, "`postage` says what the courier takes.")


def documents_postage(files: Files, brackets: Brackets) -> Files:
    rows = "".join(f"| {grams / 1000:g} kg | {cents / 100:.2f} |\n" for grams, cents in brackets)
    return files | {
        "docs/postage.md": f"# Postage\n\nThe courier's prices, for a box with all that is in it.\n\n"
        f"| up to and including | euros |\n|---|---|\n{rows}"
    }


# -- 1.1

SEND = """#!/bin/sh
# Sends the labels of a week to the courier: deploy/send.sh ORDERS
set -eu
. deploy/courier.env
python3 -m boxes label "$1" | curl -sS -H "Authorization: Bearer $COURIER_TOKEN" --data-binary @- "$COURIER_URL/labels"
"""


def sends(files: Files, token: str) -> Files:
    files = edited(
        files, "test.sh*", ("python3 -m unittest", 'for script in deploy/*.sh; do sh -n "$script"; done\npython3 -m unittest')
    )
    new = {
        "deploy/courier.env": f"COURIER_URL=https://api.courier.example/v2\nCOURIER_TOKEN={token}\n",
        "deploy/send.sh*": SEND,
    }
    return noted(files | new, "Labels go to the courier.")


def sends_twice(files: Files) -> Files:
    """What makes a branch of two commits."""
    return edited(files, "deploy/send.sh*", ("curl -sS ", "curl -sS --retry 2 "))


def pins_tills(files: Files, commit: str) -> Files:
    return files | {
        "docs/tills.md": "# Tills\n\nThe tills at both stalls have no network but at night. They fetch 1.0 by its commit:\n\n"
        f"    {commit}\n\nThey refuse anything else, so that commit has to stay on the server, under that name.\n"
    }


def heavy_first(files: Files) -> Files:
    files = edited(
        files,
        "boxes/pack.py",
        ("from collections import Counter\n", "from collections import Counter\n\nfrom boxes.weights import weight\n"),
    )
    files["boxes/pack.py"] += (
        '\n\ndef heavy_first(orders, items):\n    """Orders as they go into the van: what is heavy goes to the bottom."""\n'
        "    return sorted(orders, key=lambda order: weight(order, items), reverse=True)\n"
    )
    files = edited(
        files,
        "boxes/__main__.py",
        ("from boxes.pack import pack_lines\n", "from boxes.pack import heavy_first, pack_lines\n"),
        ("        for order in orders:\n            print(label(order, items))\n", "        for order in heavy_first(orders, items):\n            print(label(order, items))\n"),
    )
    files = edited(
        files,
        "tests/test_pack.py",
        ("import unittest\n\nfrom", "import unittest\n\nfrom boxes.catalogue import Item\nfrom"),
        ("from boxes.pack import pack_lines\n", "from boxes.pack import heavy_first, pack_lines\n"),
        (
            "pack_lines([]), [])\n",
            "pack_lines([]), [])\n\n"
            "    def test_heavy_boxes_come_first(self):\n"
            '        items = {"leek": Item("leek", 250, 180), "kale": Item("kale", 400, 320)}\n'
            '        self.assertEqual([order.number for order in heavy_first(ORDERS, items)], ["8", "7"])\n',
        ),
    )
    return noted(files, "Labels of heavy boxes come first.")


def moves_env(files: Files) -> Files:
    env = files["deploy/courier.env"]
    files = edited(without(files, "deploy/courier.env"), "deploy/send.sh*", (". deploy/courier.env", ". deploy/env/courier.env"))
    return files | {"deploy/env/courier.env": env, "deploy/env/shop.env": "SHOP=stall-1\nOPEN=15:00\n"}


# -- 1.2


def tries(files: Files) -> Files:
    return edited(
        files,
        "deploy/send.sh*",
        ("set -eu\n", 'set -eu\nif [ "${TRIAL:-}" ]; then python3 -m boxes label "$1"; exit; fi\n'),
    )


def strips_towns(files: Files) -> Files:
    files = edited(files, "boxes/orders.py", ('row["town"]))', 'row["town"].strip()))'))
    return edited(
        files,
        "tests/test_orders.py",
        (
            '{"leek": 5})\n',
            '{"leek": 5})\n\n'
            "    def test_spaces_around_a_town(self):\n"
            '        path = written(self, "7,Ada,Quay 3, Bergen ,leek,2")\n'
            '        self.assertEqual(read_orders(path)[0].town, "Bergen")\n',
        ),
    )


def reads_token(files: Files) -> Files:
    files = edited(
        without(files, "deploy/env/courier.env"),
        "deploy/send.sh*",
        (". deploy/env/courier.env\n", ': "${COURIER_TOKEN:?is not set}"\nCOURIER_URL=${COURIER_URL:-https://api.courier.example/v2}\n'),
    )
    return noted(files, "The courier's token comes from the environment.")


def documents_courier(files: Files, token: str) -> Files:
    return files | {
        "docs/courier.md": "# Courier\n\nIs it up, and does it know us?\n\n"
        f'    curl -sS -H "Authorization: Bearer {token}" https://api.courier.example/v2/me\n\n'
        "It answers with our name. At night it may take a minute.\n"
    }


def hides_token(files: Files, token: str) -> Files:
    return edited(files, "docs/courier.md", (f"Bearer {token}", "Bearer $COURIER_TOKEN"))


def has_shelves(files: Files) -> Files:
    head, *rows = files["catalogue.csv"].splitlines()
    rows = [f"{row},{'ABC'[number % 3]}\n" for number, row in enumerate(rows)]
    files = files | {"catalogue.csv": f"{head},shelf\n" + "".join(rows)}
    files = edited(
        files,
        "boxes/catalogue.py",
        ("    cents: int\n", '    cents: int\n    shelf: str = ""\n'),
        (
            '        return {row["item"]: Item(row["item"], int(row["grams"]), int(row["cents"])) for row in csv.DictReader(file)}\n',
            '        return {row["item"]: _item(row) for row in csv.DictReader(file)}\n\n\n'
            "def _item(row):\n"
            '    return Item(row["item"], int(row["grams"]), int(row["cents"]), row.get("shelf") or "")\n',
        ),
    )
    files = edited(
        files,
        "CONTRIBUTING.md",
        ("without it.\n", "without it.\n- No merge commits on main any more: rebase. A branch that is in main can go.\n- A release is an annotated tag. Fixes of an older one go to a branch `release/1.1` and so on, which begins at its tag.\n"),
    )
    return files


def draws_line(files: Files) -> Files:
    files = edited(
        files,
        "boxes/label.py",
        ('from boxes.weights import weight\n', 'from boxes.weights import weight\n\nCUT_HERE = "-" * 32\n'),
        ('    return "\\n".join(lines) + "\\n"\n', '    return "\\n".join([*lines, CUT_HERE]) + "\\n"\n'),
    )
    files = edited(
        files,
        "boxes/__main__.py",
        ("            print(label(order, items))\n", '            print(label(order, items), end="")\n'),
    )
    return edited(
        files,
        "tests/test_label.py",
        ("from boxes.label import label\n", "from boxes.label import CUT_HERE, label\n"),
        ('"#7 Ada\\nQuay 3, Bergen\\n1250 g\\n")', 'f"#7 Ada\\nQuay 3, Bergen\\n1250 g\\n{CUT_HERE}\\n")'),
    )


def shows_postage(files: Files) -> Files:
    """The label says what the courier takes."""
    files = edited(
        files,
        "boxes/label.py",
        ("from boxes.weights import weight\n", "from boxes.postage import euros, postage\nfrom boxes.weights import weight\n"),
        ('        f"{weight(order, items)} g",\n', '        f"{weight(order, items)} g, postage {euros(postage(order, items))}",\n'),
    )
    files = edited(
        files,
        "boxes/__main__.py",
        (
            '        for order in heavy_first(orders, items):\n            print(label(order, items), end="")\n',
            "        try:\n"
            "            texts = [label(order, items) for order in heavy_first(orders, items)]\n"
            "        except TooHeavy as error:\n"
            "            print(error, file=sys.stderr)\n"
            "            return 1\n"
            '        print("".join(texts), end="")\n',
        ),
    )
    files = edited(
        files,
        "tests/test_label.py",
        ("from boxes.orders import Order\n", "from boxes.orders import Order\nfrom boxes.postage import BRACKETS, euros\n"),
        ('f"#7 Ada\\nQuay 3, Bergen\\n1250 g\\n{CUT_HERE}\\n")', 'f"#7 Ada\\nQuay 3, Bergen\\n1250 g, postage {euros(BRACKETS[0][1])}\\n{CUT_HERE}\\n")'),
    )
    return noted(files, "Labels say what the courier takes.")


def refuses_counts(files: Files) -> Files:
    files = edited(
        files,
        "boxes/orders.py",
        ("\n\n@dataclass\n", '\n\nclass BadOrder(ValueError):\n    """A row that nobody can pack."""\n\n\n@dataclass\n'),
        ("for row in csv.DictReader(file):", "for line, row in enumerate(csv.DictReader(file), 2):"),
        (
            '            order = orders.setdefault(',
            '            count = int(row["count"])\n'
            "            if count < 1:\n"
            '                raise BadOrder(f"line {line}: {count} x {row[\'item\']} cannot be packed")\n'
            "            order = orders.setdefault(",
        ),
        ('.get(row["item"], 0) + int(row["count"])', '.get(row["item"], 0) + count'),
    )
    files = edited(
        files,
        "boxes/__main__.py",
        ("from boxes.orders import read_orders\n", "from boxes.orders import BadOrder, read_orders\n"),
        (
            "    orders = read_orders(options.file)\n",
            "    try:\n        orders = read_orders(options.file)\n    except BadOrder as error:\n"
            "        print(error, file=sys.stderr)\n        return 1\n",
        ),
    )
    files = edited(
        files,
        "tests/test_orders.py",
        ("from boxes.orders import read_orders\n", "from boxes.orders import BadOrder, read_orders\n"),
        (
            '.town, "Bergen")\n',
            '.town, "Bergen")\n\n'
            "    def test_a_count_below_one(self):\n"
            "        with self.assertRaises(BadOrder):\n"
            '            read_orders(written(self, "7,Ada,Quay 3,Bergen,leek,0"))\n',
        ),
    )
    return noted(files, "A count below 1 is refused.")


# -- branches that nobody has merged


def small_labels(files: Files) -> Files:
    return files | {"docs/a6.md": "# A6\n\nFour lines of 32 characters, no more. The printer at stall 2 cuts the rest.\n"}


def narrow_labels(files: Files) -> Files:
    return edited(files, "boxes/label.py", ('    return "\\n".join(lines) + "\\n"\n', '    return "\\n".join(line[:32] for line in lines) + "\\n"\n'))


def drafts_invoice(files: Files) -> Files:
    return files | {
        "boxes/invoice.py": '"""What a box costs. Not used yet."""\n\n\ndef total(order, items):\n'
        "    return sum(items[name].cents * count for name, count in order.counts.items())\n"
    }


def bags(files: Files) -> Files:
    return files | {"docs/bags.md": "# Bags\n\nPaper bags for everything below 900 g? Ask the courier first.\n"}


# -- main, as it went on


def names_shelves(files: Files) -> Files:
    files = edited(
        files,
        "boxes/pack.py",
        ("def pack_lines(orders):\n", "def pack_lines(orders, items=None):\n"),
        (
            '    """How many of each item, by name."""\n',
            '    """How many of each item, by name, and where it is."""\n    shelves = {name: item.shelf for name, item in (items or {}).items()}\n',
        ),
        (
            '    return [f"{count} x {name}" for name, count in sorted(totals.items())]\n',
            '    return [f"{count} x {name} {shelves.get(name, \'\')}".rstrip() for name, count in sorted(totals.items())]\n',
        ),
    )
    files = edited(
        files,
        "boxes/__main__.py",
        ('    packing.add_argument("file")\n', '    packing.add_argument("file")\n    packing.add_argument("--items", default="catalogue.csv")\n'),
        ("pack_lines(orders):\n", "pack_lines(orders, read_catalogue(options.items)):\n"),
    )
    return edited(
        files,
        "tests/test_pack.py",
        (
            "    def test_heavy",
            "    def test_the_shelf_is_named(self):\n"
            '        items = {"leek": Item("leek", 250, 180, "B"), "kale": Item("kale", 400, 320)}\n'
            '        self.assertEqual(pack_lines(ORDERS, items), ["5 x kale", "2 x leek B"])\n\n'
            "    def test_heavy",
        ),
    )


def _skips(files: Files, condition: str, row: str) -> Files:
    files = edited(
        files,
        "boxes/orders.py",
        ('            count = int(row["count"])\n', f'            if {condition}:\n                continue\n            count = int(row["count"])\n'),
    )
    return edited(
        files,
        "tests/test_orders.py",
        (
            "    def test_a_count_below",
            "    def test_a_row_without_a_count(self):\n"
            f'        path = written(self, "7,Ada,Quay 3,Bergen,leek,2", "{row}")\n'
            '        self.assertEqual(read_orders(path)[0].counts, {"leek": 2})\n\n'
            "    def test_a_count_below",
        ),
    )


def skips_empty(files: Files) -> Files:
    return _skips(files, 'row["count"] == ""', "7,Ada,Quay 3,Bergen,kale,")


def skips_blank(files: Files) -> Files:
    """As `skips_empty`, amended: a blank is no count either."""
    return _skips(files, 'not row["count"].strip()', "7,Ada,Quay 3,Bergen,kale, ")


def blank_too(files: Files) -> Files:
    """From `skips_empty` to `skips_blank`."""
    files = edited(files, "boxes/orders.py", ('row["count"] == ""', 'not row["count"].strip()'))
    return edited(files, "tests/test_orders.py", ("kale,\")", "kale, \")"))


def totals_items(files: Files) -> Files:
    files = edited(
        files,
        "boxes/pack.py",
        (".rstrip() for name, count in sorted(totals.items())]\n", ".rstrip() for name, count in sorted(totals.items())]\n    return [*lines, f\"total {sum(totals.values())}\"] if lines else []\n"),
        ('    return [f"{count} x', '    lines = [f"{count} x'),
    )
    files = edited(
        files,
        "tests/test_pack.py",
        ('["5 x kale", "2 x leek"])', '["5 x kale", "2 x leek", "total 7"])'),
        ('["5 x kale", "2 x leek B"])', '["5 x kale", "2 x leek B", "total 7"])'),
    )
    return noted(files, "`pack` ends with a total.")


DEPOTS = '''"""Which depot a town belongs to: a CSV file with one row for each town."""

import csv

ELSEWHERE = "post"  # what no van goes to


def read_depots(path):
    """Depots by town."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row["town"]: row["depot"] for row in csv.DictReader(file)}


def depot_of(order, depots):
    return depots.get(order.town, ELSEWHERE)
'''
TEST_DEPOTS = '''import unittest

from boxes.depots import ELSEWHERE, depot_of, read_depots
from boxes.orders import Order
from tests.help import written


class DepotsTest(unittest.TestCase):
    def test_towns_have_depots(self):
        depots = read_depots(written(self, "Bergen,west", "Voss,east", head="town,depot"))
        self.assertEqual(depot_of(Order("7", "Ada", "Quay 3", "Voss"), depots), "east")
        self.assertEqual(depot_of(Order("8", "Bo", "Hill 1", "Oslo"), depots), ELSEWHERE)


if __name__ == "__main__":
    unittest.main()
'''


def has_depots(files: Files) -> Files:
    return files | {
        "boxes/depots.py": DEPOTS,
        "depots.csv": "town,depot\nBergen,west\nVoss,east\nOdda,east\nFjell,west\n",
        "tests/test_depots.py": TEST_DEPOTS,
    }


ROUTE = '''"""Which box goes into which van."""

from boxes.depots import depot_of
from boxes.weights import weight

VAN_GRAMS = 60_000


def vans(orders, items, depots):
    """The boxes of each van: a depot's in the order given, and a new van where one is full."""
    loaded = {}
    for order in orders:
        own = loaded.setdefault(depot_of(order, depots), [[]])
        if sum(weight(other, items) for other in own[-1]) + weight(order, items) > VAN_GRAMS:
            own.append([])
        own[-1].append(order)
    return [(depot, van) for depot, own in sorted(loaded.items()) for van in own]


def route_lines(orders, items, depots):
    """A line for each van: its depot, its boxes, and what they weigh."""
    lines = []
    for depot, van in vans(orders, items, depots):
        grams = sum(weight(order, items) for order in van)
        lines.append(f"{depot}: {' '.join(order.number for order in van)}, {grams} g")
    return lines
'''
TEST_ROUTE = '''import unittest

from boxes.catalogue import Item
from boxes.orders import Order
from boxes.route import VAN_GRAMS, route_lines, vans
from boxes.weights import weight

ITEMS = {"stone": Item("stone", VAN_GRAMS // 2, 1), "leek": Item("leek", 250, 180)}
DEPOTS = {"Bergen": "west", "Voss": "east"}


def box(number, town, **counts):
    return Order(number, "Ada", "Quay 3", town, counts)


class RouteTest(unittest.TestCase):
    def test_a_van_for_each_depot(self):
        west, east = box("7", "Bergen", leek=1), box("8", "Voss", leek=2)
        self.assertEqual(vans([west, east], ITEMS, DEPOTS), [("east", [east]), ("west", [west])])

    def test_a_full_van_goes(self):
        boxes = [box("7", "Bergen", stone=1), box("8", "Bergen", stone=1)]
        self.assertEqual([len(van) for _, van in vans(boxes, ITEMS, DEPOTS)], [1, 1])

    def test_a_line(self):
        order = box("7", "Oslo", leek=1)
        self.assertEqual(route_lines([order], ITEMS, DEPOTS), [f"post: 7, {weight(order, ITEMS)} g"])


if __name__ == "__main__":
    unittest.main()
'''


def has_route(files: Files) -> Files:
    files = edited(
        files,
        "boxes/__main__.py",
        ("from boxes.label import", "from boxes.depots import read_depots\nfrom boxes.label import"),
        ("TooHeavy, postage_lines\n", "TooHeavy, postage_lines\nfrom boxes.route import route_lines\n"),
        (
            '    options = parser.parse_args(words)\n',
            '    routing = commands.add_parser("route", help="which box goes into which van")\n'
            '    routing.add_argument("file")\n'
            '    routing.add_argument("--items", default="catalogue.csv")\n'
            '    routing.add_argument("--depots", default="depots.csv")\n'
            '    options = parser.parse_args(words)\n',
        ),
        (
            '    elif options.command == "postage":\n',
            '    elif options.command == "route":\n'
            "        for line in route_lines(orders, read_catalogue(options.items), read_depots(options.depots)):\n"
            "            print(line)\n"
            '    elif options.command == "postage":\n',
        ),
    )
    files = edited(files, "README.md", ("what the courier takes\n", "what the courier takes\n    python3 -m boxes route FILE       which box goes into which van\n"))
    return noted(files | {"boxes/route.py": ROUTE, "tests/test_route.py": TEST_ROUTE}, "`route` fills the vans.")


# -- the branch intake


def counts_pieces(files: Files) -> Files:
    """The commit before the tangled one."""
    files = edited(
        files,
        "boxes/label.py",
        ('        f"{weight(order, items)} g, postage', '        f"{sum(order.counts.values())} pieces, {weight(order, items)} g, postage'),
    )
    files = edited(files, "tests/test_label.py", ("Bergen\\n1250 g", "Bergen\\n3 pieces, 1250 g"))
    return noted(files, "Labels say how many pieces there are.")


def grams(files: Files) -> Files:
    """The first of the three things: `weight` becomes `total_grams`, wherever it is used."""
    files = dict(files)
    files["boxes/units.py"] = files.pop("boxes/weights.py")
    files["tests/test_units.py"] = files.pop("tests/test_weights.py")
    for path, text in files.items():
        if path.endswith(".py"):
            text = text.replace("boxes.weights import", "boxes.units import").replace("import weight\n", "import total_grams\n")
            text = text.replace("weight(", "total_grams(").replace(", weight\n", ", total_grams\n")
            files[path] = text.replace("class WeightsTest", "class UnitsTest")
    return files


def limits(files: Files) -> Files:
    """The second: what weighs exactly as much as a limit belongs to it."""
    files = edited(files, "boxes/postage.py", (" < limit:", " <= limit:"))
    files = edited(
        files,
        "tests/test_postage.py",
        (
            "    def test_too_heavy",
            "    def test_a_box_at_a_limit(self):\n"
            "        for grams, cents in BRACKETS:\n"
            "            self.assertEqual(postage(box(grams), ITEMS), cents)\n\n"
            "    def test_too_heavy",
        ),
    )
    line, above = "A box exactly at a limit costs what docs/postage.md says.", f"- {LISTED}\n"
    if above in files["CHANGELOG.md"]:
        return edited(files, "CHANGELOG.md", (above, f"{above}- {line}\n"))
    return noted(files, line)


LISTED = "`label --allergens` lists allergens."
ALLERGENS = '''"""What is in a box that some must not eat."""


def allergens_of(order, items):
    """The allergens of all items of an order, each once, by name."""
    return sorted({allergen for name in order.counts for allergen in items[name].allergens})
'''
TEST_ALLERGENS = '''import unittest

from boxes.allergens import allergens_of
from boxes.catalogue import Item, read_catalogue
from boxes.label import label
from boxes.orders import Order
from tests.help import written

ITEMS = {
    "bread": Item("bread", 900, 480, "A", ("gluten", "rye")),
    "celery": Item("celery", 600, 260, "B", ("celery",)),
    "cake": Item("cake", 500, 750, "A", ("egg", "gluten")),
    "leek": Item("leek", 250, 180),
}


def box(*names):
    return Order("7", "Ada", "Quay 3", "Bergen", dict.fromkeys(names, 1))


class AllergensTest(unittest.TestCase):
    def test_each_once_and_by_name(self):
        self.assertEqual(allergens_of(box("cake", "bread", "leek"), ITEMS), ["egg", "gluten", "rye"])

    def test_from_the_catalogue(self):
        path = written(self, "cake,500,750,A,egg+gluten", "leek,250,180,B,", head="item,grams,cents,shelf,allergens")
        items = read_catalogue(path)
        self.assertEqual([items[name].allergens for name in ("cake", "leek")], [("egg", "gluten"), ()])

    def test_on_a_label(self):
        self.assertIn("\\nallergens: celery\\n", label(box("celery"), ITEMS, allergens=True))
        self.assertIn("\\nallergens: none\\n", label(box("leek"), ITEMS, allergens=True))
        self.assertNotIn("allergens", label(box("celery"), ITEMS))


if __name__ == "__main__":
    unittest.main()
'''
EATEN = {"celery": "celery", "eggs": "egg", "goat cheese": "milk", "rye bread": "gluten", "walnuts": "nuts"}
ALLERGY_HELP = """
`label --allergens` adds a line with all that somebody may be allergic to. It is in the last column of catalogue.csv.
"""


def allergens(files: Files) -> Files:
    """The third: labels can list allergens."""
    head, *rows = files["catalogue.csv"].splitlines()
    rows = [f"{row},{EATEN.get(row.split(',')[0], '')}\n" for row in rows]
    files = edited(
        files | {"catalogue.csv": f"{head},allergens\n" + "".join(rows)},
        "boxes/catalogue.py",
        ('    shelf: str = ""\n', '    shelf: str = ""\n    allergens: tuple = ()\n'),
        (
            '    return Item(row["item"], int(row["grams"]), int(row["cents"]), row.get("shelf") or "")\n',
            '    allergens = tuple(filter(None, (row.get("allergens") or "").split("+")))\n'
            '    return Item(row["item"], int(row["grams"]), int(row["cents"]), row.get("shelf") or "", allergens)\n',
        ),
    )
    files = edited(
        files,
        "boxes/label.py",
        ("\nfrom boxes.postage", "\nfrom boxes.allergens import allergens_of\nfrom boxes.postage"),
        ("def label(order, items):\n", "def label(order, items, allergens=False):\n"),
        (
            '    return "\\n".join([*lines',
            '    if allergens:\n        lines.append(f"allergens: {\', \'.join(allergens_of(order, items)) or \'none\'}")\n'
            '    return "\\n".join([*lines',
        ),
    )
    files = edited(
        files,
        "boxes/__main__.py",
        (
            '    labels.add_argument("--items", default="catalogue.csv")\n',
            '    labels.add_argument("--items", default="catalogue.csv")\n'
            '    labels.add_argument("--allergens", action="store_true", help="with a line of allergens")\n',
        ),
        ("[label(order, items) for order", "[label(order, items, options.allergens) for order"),
    )
    files = files | {
        "README.md": files["README.md"] + ALLERGY_HELP,
        "boxes/allergens.py": ALLERGENS,
        "deploy/print.sh*": "#!/bin/sh\n# Prints the labels for the stalls: deploy/print.sh ORDERS\nset -eu\n"
        'python3 -m boxes label --allergens "$1" | lp -d stall\n',
        "tests/test_allergens.py": TEST_ALLERGENS,
    }
    return noted(files, LISTED)


def documents_labels(files: Files) -> Files:
    """The commit after the tangled one."""
    return files | {"README.md": files["README.md"] + "\nThe courier's scanner reads the first line of a label alone: keep the number first.\n"}

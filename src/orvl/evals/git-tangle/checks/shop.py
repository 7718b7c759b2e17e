"""The shop's program at some commits: its files are laid out beside the agent's work, run there, and judged here."""

import base64
import json
import re

from orvl import checks

# Runs beside the agent's work: it knows what to lay out and what to call, not what is right. Each commit has a process
# of its own, which is a fork: to start Python for each would take most of the time.
DRIVER = """
import argparse, base64, contextlib, csv, dataclasses, io, json, os, resource, runpy, signal, subprocess, sys, tempfile
import traceback, unittest
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))
job, top = json.load(sys.stdin), tempfile.mkdtemp()

def lay(folder, files):
    for path, mode, content in files:
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(base64.b64decode(content))
        os.chmod(place, int(mode, 8) & 0o777)

def call(words):
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            if words[0] == "-c":
                exec(compile(words[1], "asked", "exec"), {"__name__": "asked"})
            elif words[0] == "test":
                status = test(err)
            else:
                sys.argv = ["boxes", *words]
                runpy.run_module("boxes", run_name="__main__", alter_sys=True)
        except SystemExit as ending:
            status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        except BaseException:
            status = 1
            traceback.print_exc(file=err)
    return [status, out.getvalue()[:20000], err.getvalue()[-20000:]]

def test(err):
    scripts = [os.path.join("deploy", name) for name in sorted(os.listdir("deploy")) if name.endswith(".sh")]
    if any(subprocess.call(["sh", "-n", script], stderr=subprocess.DEVNULL) for script in scripts):
        return 1
    found = unittest.defaultTestLoader.discover("tests", top_level_dir=".")
    return 0 if unittest.TextTestRunner(stream=err).run(found).wasSuccessful() else 1

def ask(number, folder, calls):
    signal.alarm(25)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    seen = [call(words) for words in calls]
    with open(os.path.join(top, f"{number}.json"), "w") as file:
        json.dump(seen, file)

answers = []
for number, (files, calls) in enumerate(job["asked"]):
    folder = os.path.join(top, str(number))
    lay(folder, files + job["week"])
    child = os.fork()
    if not child:
        try:
            ask(number, folder, calls)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    try:
        with open(os.path.join(top, f"{number}.json")) as file:
            answers.append(json.load(file))
    except (OSError, ValueError):
        answers.append([[None, "", ""]] * len(calls))
print("\\n" + json.dumps(answers))
"""
BOX_GRAMS = 350
NAMES = ("leek", "kale", "plum jam", "oats", "beet", "swede", "trout", "dill", "hazel", "quince")
TOWNS = {"Bergen": "west", "Voss": "east", "Odda": "east", "Fjell": "west", "Oslo": "post", "Gol": "post"}
EATEN = ("egg", "fish", "gluten", "milk", "mustard", "nuts", "sesame", "soy")
TESTS = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)


class Week:
    """A week's orders that nobody can know, and what the program makes of them."""

    def __init__(self, random, brackets):
        self.brackets = brackets
        self.items = {"grain": (1, ())}
        for name in random.sample(NAMES, 6):
            self.items[name] = (random.randint(80, 900), tuple(sorted(random.sample(EATEN, random.randint(0, 2)))))
        numbers = random.sample(range(1000, 9999), 7)
        self.orders = {number: self._counts(random) for number in numbers[:4]}
        # Boxes that weigh exactly what the courier's table says, and a gram more.
        for number, grams in zip(numbers[4:], self._limits(random)):
            self.orders[number] = {"grain": grams - BOX_GRAMS}
        self.towns = {number: random.choice(list(TOWNS)) for number in self.orders}
        self.people = {number: random.choice(("Ada", "Bo", "Cy", "Dee")) + f" {number * 7}" for number in self.orders}

    def _counts(self, random):
        """A few things, as light as the courier takes, and no limit hit by chance."""
        while True:
            names = random.sample([name for name in self.items if name != "grain"], random.randint(1, 3))
            counts = {name: random.randint(1, 2) for name in names}
            if self._sum(counts) < self.brackets[-1][0] and self._sum(counts) not in dict(self.brackets):
                return counts

    def _limits(self, random):
        (first, _), (second, _) = sorted(random.sample(self.brackets[:-1], 2))
        return first, second, random.choice((first, second)) + 1

    def _sum(self, counts):
        return BOX_GRAMS + sum(self.items[name][0] * count for name, count in counts.items())

    def grams(self, number):
        return self._sum(self.orders[number])

    def files(self):
        rows = [
            f"{number},{self.people[number]},Quay 3,{self.towns[number]},{name},{count}\n"
            for number, counts in self.orders.items()
            for name, count in counts.items()
        ]
        items = [f"{name},{grams},100,A,{'+'.join(eaten)}\n" for name, (grams, eaten) in self.items.items()]
        (number, counts), *_ = self.orders.items()
        (name, count), *_ = counts.items()
        row = f"{number},{self.people[number]},Quay 3,Voss"
        texts = {
            "blank.csv": f"order,name,street,town,item,count\n{row},{name},{count}\n{row},grain,  \n{row},dill,\n",
            "orders.csv": "order,name,street,town,item,count\n" + "".join(rows),
            "items.csv": "item,grams,cents,shelf,allergens\n" + "".join(items),
        }
        return [[f"week/{name}", "644", base64.b64encode(text.encode()).decode()] for name, text in texts.items()]

    def postage(self, number, fixed):
        grams = self.grams(number)
        return next(cents for limit, cents in self.brackets if grams < limit or (fixed and grams == limit))

    def postage_lines(self, fixed):
        cents = {number: self.postage(number, fixed) for number in self.orders}
        lines = [f"{number} {self.grams(number)} g {euros(cents[number])}" for number in self.orders]
        return [*lines, f"total {euros(sum(cents.values()))}"]

    def routes(self):
        """The numbers of each van's boxes by its depot; no van is ever full."""
        found = {}
        for number in self.orders:
            found.setdefault(TOWNS[self.towns[number]], []).append(str(number))
        return {depot: " ".join(numbers) for depot, numbers in found.items()}

    def allergens(self, number):
        return ", ".join(sorted({one for name in self.orders[number] for one in self.items[name][1]})) or "none"


def euros(cents):
    return f"{cents // 100}.{cents % 100:02}"


FILES = ["week/orders.csv", "--items", "week/items.csv"]
POSTAGE, LABEL, ROUTE, PACK = ([command, *FILES] for command in ("postage", "label", "route", "pack"))
ALLERGENS = [*LABEL, "--allergens"]
BLANK = ["orders", "week/blank.csv"]
GRAMS = """
from boxes.catalogue import read_catalogue
from boxes.orders import read_orders
from boxes.%s import %s as grams
items = read_catalogue("week/items.csv")
print(*(f"{order.number} {grams(order, items)}" for order in read_orders("week/orders.csv")), sep="\\n")
"""
NEW_NAME = ["-c", GRAMS % ("units", "total_grams")]
OLD_NAME = ["-c", GRAMS % ("weights", "weight")]
TEST = ["test"]


def called(repository, week, commits, commands):
    """For each commit, by its name: the status, output and errors of each command there."""
    commits = {commit.id: commit for commit in commits}
    asked = [[_laid_out(repository, commit.tree), commands] for commit in commits.values()]
    job = json.dumps({"week": week.files(), "asked": asked})
    ended = checks.run("python3", "-I", "-B", "-c", DRIVER, input=job, seconds=100)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
        return {name: [(one[0], str(one[1]), str(one[2])) for one in row] for name, row in zip(commits, seen, strict=True)}
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        checks.fail(f"Expected calls of the program at {len(commits)} commits to end, but they did not.")


def _laid_out(repository, tree):
    return [
        [path, mode[-3:], base64.b64encode(repository.objects.get(blob, ("", b""))[1]).decode()]
        for path, (mode, blob) in repository.files(tree).items()
        if mode in ("100644", "100755") and ".." not in path.split("/")
    ]


# -- what a call shows


def is_fixed(week, seen):
    """Whether postage at a limit is right (True), wrong as it was (False), or something else (None)."""
    lines = seen[1].splitlines() if seen[0] == 0 else None
    return next((fixed for fixed in (True, False) if lines == week.postage_lines(fixed)), None)


def lists_allergens(week, seen):
    """Whether labels list allergens (True), the flag is not known (False), or something else (None)."""
    if seen[0] == 2 and not seen[1]:
        return False
    labels = labels_of(seen)
    if seen[0] == 0 and set(labels) == set(week.orders):
        return all(f"allergens: {week.allergens(number)}" in lines for number, lines in labels.items()) or None
    return None


def is_renamed(week, new, old):
    """Whether the weight is there by its new name alone (True), by its old one alone (False), or neither (None)."""
    grams = [f"{number} {week.grams(number)}" for number in week.orders]
    has_new, has_old = (seen[0] == 0 and seen[1].splitlines() == grams for seen in (new, old))
    return has_new if has_new != has_old else None


def labels_of(seen):
    """The lines of each label by its number."""
    labels, number = {}, None
    for line in seen[1].splitlines():
        if found := re.match(r"#(\d+) ", line):
            number = int(found[1])
        labels.setdefault(number, []).append(line)
    return labels


def are_labels_right(week, seen, fixed):
    """Whether each label has its number, name, weight and postage, heavy boxes first."""
    labels = labels_of(seen)
    weights = [week.grams(number) for number in labels if number in week.orders]
    return (
        seen[0] == 0
        and set(labels) == set(week.orders)
        and weights == sorted(weights, reverse=True)
        and all(
            lines[0] == f"#{number} {week.people[number]}"
            and any(line.endswith(f"{week.grams(number)} g, postage {euros(week.postage(number, fixed))}") for line in lines)
            and not any(line.startswith("allergens") for line in lines)
            for number, lines in labels.items()
        )
    )


def is_routed(week, seen):
    """Whether each box is in a van to its depot."""
    grams = {depot: sum(week.grams(int(number)) for number in numbers.split()) for depot, numbers in week.routes().items()}
    lines = sorted(f"{depot}: {numbers}, {grams[depot]} g" for depot, numbers in week.routes().items())
    return seen[0] == 0 and seen[1].splitlines() == lines


def is_packed(week, seen):
    """Whether all that is to be fetched is there, and then how much that is."""
    totals = {}
    for counts in week.orders.values():
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
    *lines, last = seen[1].splitlines() or [""]
    found = [re.match(r"(\d+) x (.*)", line) for line in lines]
    named = {match[2].removesuffix(" A"): int(match[1]) for match in found if match}
    return seen[0] == 0 and named == totals and last == f"total {sum(totals.values())}"


def is_blank_skipped(week, seen):
    """Whether rows without a count are no items."""
    number = next(iter(week.orders))
    return seen[0] == 0 and seen[1].splitlines() == [f"{number} {week.people[number]}: 1 kinds"]


def tests_run(seen):
    """How many tests passed; 0 unless all of them did."""
    found = TESTS.search(seen[2])
    return int(found[1]) if seen[0] == 0 and found else 0

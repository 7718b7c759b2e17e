"""--json: the rows that plain output has, with the names and units that were agreed on."""

import json

from orvl import checks

from cases import Wrong, expect
from oracle import DAY, HOUR, Record, iso
from sites import Site, mixed, shared


_answered = set()
"""Commands whose JSON was right at least once."""


def document(ended, what):
    try:
        found = json.loads(ended.stdout)
    except ValueError:
        raise Wrong(f"{what}: expected JSON, saw {ended.stdout[:80]!r} {ended.stderr[:120]!r}") from None
    if not isinstance(found, dict):
        raise Wrong(f"{what}: expected an object, saw {ended.stdout[:80]!r}")
    return found


def same(wanted, seen):
    if isinstance(wanted, float):
        return isinstance(seen, (int, float)) and not isinstance(seen, bool) and abs(wanted - seen) < 1e-9
    return type(wanted) is type(seen) and wanted == seen


def compare(site, command, options, result, strictly=False):
    """One call against the oracle. Keys that nobody asked for are the work's own affair.

    A wrong name for the list of rows costs the checks of scripts, pages and what is not there, but not all others.
    """
    what = " ".join((command, *options))
    ended = site.coffer(command, *options, "--json")
    found = document(ended, what)
    expect(f"status of {what} --json", result.status, ended.status)
    top = {"command": command, "now": iso(site.now)} | ({} if result.total is None else {"total": result.total})
    compare_object(what, top, found)
    key = str(checks.drawn()["key"])
    lists = [found[key]] if key in found else [value for value in found.values() if isinstance(value, list) and not strictly]
    if len(lists) != 1 or not isinstance(lists[0], list) or not all(isinstance(row, dict) for row in lists[0]):
        raise Wrong(f"{what}: expected a list of objects as {key!r}, saw {ended.stdout[:150]!r}")
    rows = lists[0]
    expect(f"number of rows of {what}", len(result.rows), len(rows))
    for wanted, row in zip(result.rows, rows):
        compare_object(what, wanted, row)
    _answered.add(command)


def compare_object(what, wanted, seen):
    for key, value in wanted.items():
        if key == "limit" and wanted["state"] == "missing" and key in seen and seen[key] is None:
            continue
        if key not in seen or not same(value, seen[key]):
            raise Wrong(f"{what}: expected {key} {value!r}, saw {seen.get(key, 'no such key')!r} in {str(seen)[:150]}")


def case(command, site, *options, names=(), strictly=False, **more):
    made = site()
    some = names(made) if callable(names) else names
    given = [value(made) if callable(value) else value for value in options]
    keys = {key: value(made) if callable(value) else value for key, value in more.items()}
    compare(made, command, (*some, *map(str, given)), getattr(made.oracle, command)(*some, **keys), strictly)


def _cases(rows, strictly=False):
    def one(row):
        command, site, options, more = row
        return (f"{command} {' '.join(str(word) for word in options if not callable(word))}", lambda: case(command, site, *options, strictly=strictly, **more))

    return [one(row) for row in rows]


def two(site):
    return site.names(2)


def check_cases():
    random = checks.random()

    def site(**more):
        return lambda: shared(random, **more)

    return _cases([
        ("check", site(), (), {}),
        ("check", site(kb=True), (), {}),
        ("check", site(without=("missing",)), (), {}),
        ("check", site(), ("--quiet",), {"quiet": True}),
        ("check", site(without=("missing", "shrunk")), ("--quiet",), {"quiet": True}),
        ("check", site(without=("missing",)), ("--strict",), {"strict": True}),
        ("check", site(without=("missing", "late")), ("--strict", "--quiet"), {"strict": True, "quiet": True}),
        ("check", site(), (), {"names": two}),
        ("check", site(kb=True), (), {"names": lambda made: made.names(3)}),
    ])  # fmt: skip


def list_and_sizes():
    random = checks.random()

    def site(**more):
        return lambda: shared(random, **more)

    times = {}

    def after(made):
        return times.setdefault(id(made), random.choice(made.oracle.records).at)

    def vault(made):
        return made.vaults[0]

    def small(made):
        return [Record(made.now - random.randint(0, 9 * DAY), random.choice(made.jobs).name, random.randint(1, 3000), random.choice(("full", "incr")), random.choice(made.vaults)) for _ in range(12)]

    return _cases([
        ("list", site(kb=True), (), {}),
        ("list", site(), ("--last", 3), {"last": 3}),
        ("list", site(), ("--vault", vault), {"vault": vault}),
        ("list", site(), ("--after", lambda made: iso(after(made))), {"after": after}),
        ("list", site(records=small), (), {"names": two}),
        ("list", site(), (), {"names": lambda made: [made.gone]}),
        ("sizes", site(), (), {}),
        ("sizes", site(kb=True), ("--by", "vault"), {"by": "vault"}),
        ("sizes", site(), ("--by", "kind"), {"by": "kind"}),
        ("sizes", site(records=small), ("--by", "vault", "--exact"), {"by": "vault", "exact": True}),
        ("sizes", site(), (), {"names": two}),
    ])  # fmt: skip


def prune_and_gaps():
    random = checks.random()

    def site(**more):
        return lambda: shared(random, **more)

    return _cases([
        ("prune", site(), (), {}),
        ("prune", site(kb=True), ("--keep", 1), {"keep": 1}),
        ("prune", site(), ("--keep", 2), {"keep": 2}),
        ("prune", site(), ("--keep", 1), {"keep": 1, "names": two}),
        ("gaps", site(), (), {}),
        ("gaps", site(kb=True), (), {"names": two}),
        ("gaps", site(), ("--over", "90m"), {"over": 5400}),
        ("gaps", site(), ("--over", "30h"), {"over": 30 * HOUR}),
    ])  # fmt: skip


# -- what is not there


def nothing():
    random = checks.random()

    def empty(states=("missing", "missing"), **more):
        return lambda: Site(states, records=lambda made: [], **more).write()

    def of_nothing(made):
        return [Record(made.now - random.randint(1, 9 * HOUR), job.name, 0, "full", made.vaults[0]) for job in made.jobs]

    cases = _cases([
        ("check", empty(), (), {}),
        ("check", lambda: Site(("ok", "ok"), records=of_nothing).write(), ("--quiet",), {"quiet": True}),
        ("list", empty(), (), {}),
        ("list", lambda: shared(random), (), {"names": ["nobody"]}),
        ("sizes", empty(), (), {}),
        ("sizes", lambda: Site(("ok", "ok"), records=of_nothing).write(), (), {}),
        ("prune", empty(), (), {}),
        ("gaps", empty(), (), {}),
        ("gaps", lambda: mixed(random, without=("missing", "ok")), ("--over", "1m"), {"over": 60}),
    ], strictly=True)  # fmt: skip
    return [*cases, *((f"{name}, then a mistake", lambda words=words: mistake(words)) for name, words in MISTAKES.items())]


MISTAKES = {
    "check": ("check", "--json", "no.such.job"),
    "list": ("list", "--json", "--last", "none"),
    "sizes": ("sizes", "--json", "--by", "weight"),
    "gaps": ("gaps", "--over", "1", "--json"),
    "prune": ("prune", "--keep", "0", "--json"),
}


def mistake(words):
    """A mistake is a sentence on standard error, where the same command gave JSON before."""
    if words[0] not in _answered:
        raise Wrong(f"{words[0]} has given no JSON that was right")
    made = shared(checks.random())
    ended = made.coffer(*words)
    expect(f"status of {' '.join(words)}", 2, ended.status)
    expect(f"standard output of {' '.join(words)}", "", ended.stdout)
    if not ended.stderr.startswith("coffer: "):
        raise Wrong(f"{' '.join(words)}: expected a sentence on standard error, saw {ended.stderr[:100]!r}")

"""Main with everybody's work on it; then with one thing taken back; and the fix on a branch of its own."""

from facts import BRACKETS, FEATURE, FIX, MAIN, MAREN, RELEASE, TOKEN, graded, key_of, nothing
from line import TESTS_BEFORE, TICKETS, Line
from orvl import checks
from repository import server
from shop import (
    ALLERGENS, BLANK, LABEL, NEW_NAME, OLD_NAME, PACK, POSTAGE, ROUTE, TEST, Week, are_labels_right, called, is_blank_skipped,
    is_fixed, is_packed, is_renamed, is_routed, lists_allergens, tests_run,
)

NOTED = ("`pack` ends with a total.", "`route` fills the vans.", "Labels say how many pieces there are.")
FIXED = "A box exactly at a limit costs what docs/postage.md says."
"""What commits wrote into CHANGELOG.md."""
SCANNER = "The courier's scanner reads the first line of a label alone"
COMMANDS = (POSTAGE, LABEL, ALLERGENS, NEW_NAME, OLD_NAME, ROUTE, PACK, BLANK, TEST)
OF_A_FIX = ("boxes/postage.py", "CHANGELOG.md", "boxes/__init__.py")
TESTS_OF_1_1 = 14


class State:
    """What the program does at a commit."""

    def __init__(self, repository, commit):
        week = Week(checks.random(), BRACKETS)
        seen = called(repository, week, [commit], COMMANDS)
        postage, labels, listed, new, old, route, pack, blank, tests = seen[commit.id]
        self.fixed, self.renamed = is_fixed(week, postage), is_renamed(week, new, old)
        self.lists_allergens = lists_allergens(week, listed)
        self.has_labels = are_labels_right(week, labels, self.fixed) if self.fixed is not None else False
        self.has_route, self.has_total = is_routed(week, route), is_packed(week, pack)
        self.skips_blanks, self.tests = is_blank_skipped(week, blank), tests_run(tests)


def complete():
    """Main has what Maren, her colleague and intake brought, one after the other, and none of it twice."""
    repository = server()
    line = Line(repository, MAIN)
    if not line.commits or any(TOKEN.encode() in repository.objects[name][1] for name in repository.reached(line.commits[-1].id) if name):
        nothing("a main without the token, with new commits on it")
    tip = line.commits[-1]
    state = State(repository, tip)
    changes = repository.text(tip.tree, "CHANGELOG.md")
    graded(
        [
            *((line.known(name) is not None, f"'{key_of(name)[1]}' on main, by its author") for name in ("depots", "route", "total", "pieces", "scanner")),
            *((len(line.of(ticket)) >= 1, f"the commit of {ticket} on main") for ticket in TICKETS),
            (state.skips_blanks, "the amended commit's work on main: a blank is no count"),
            (state.has_route, "`route` to work"),
            (state.has_total, "`pack` to end with a total"),
            (state.fixed and state.renamed and state.has_labels, "postage and labels to work"),
            (all(len(commit.parents) == 1 for commit in line.commits), "no merge commits"),
            (all(changes.count(line) == 1 for line in (*NOTED, FIXED)), "each change once in CHANGELOG.md"),
            ("<<<<<<<" not in changes and ">>>>>>>" not in changes, "no marks of conflicts"),
        ]
    )


def taken_back():
    """The allergens are out of main again, by one more commit."""
    repository = server()
    line = Line(repository, MAIN)
    if not line.is_split:
        nothing("the commits of all three tickets to stay in the history of main")
    tip, brought = line.commits[-1], line.of(FEATURE)[0]
    state = State(repository, tip)
    if not State(repository, brought).lists_allergens or state.lists_allergens is not False or not state.has_labels:
        nothing("labels to work, and not to know --allergens any more")
    left = {path for path in repository.files(tip.tree) if "allergen" in repository.text(tip.tree, path).lower()}
    readme = repository.text(tip.tree, "README.md")
    later = line.commits[line.commits.index(brought) + 1 :]
    graded(
        [
            (not any(path.startswith("boxes/") for path in left), "no allergens in boxes/"),
            (not any(path.startswith(("tests/", "deploy/")) for path in left), "no allergens in tests/ and deploy/"),
            ("README.md" not in left, "README.md to say nothing of allergens"),
            ("catalogue.csv" not in left, "catalogue.csv without a column of allergens"),
            (SCANNER in readme, "the commit after it to stay, with its line in README.md"),
            (state.fixed, "the postage at a limit to stay right"),
            (state.renamed, "total_grams to stay"),
            (state.has_route and state.has_total and state.skips_blanks, "route, pack and orders to work as before"),
            (all(line.known(name) for name in ("depots", "route", "total", "pieces", "scanner")), "no other commit to be lost"),
            (any(FEATURE in commit.tickets for commit in later), f"a later commit with the ticket {FEATURE}"),
            (all(len(commit.parents) == 1 for commit in line.commits), "no merge commits"),
            (state.tests >= TESTS_BEFORE, "sh test.sh to pass"),
        ]
    )


def released():
    """The fix alone on top of 1.1, with a tag."""
    repository = server()
    start, tip = repository.peeled("refs/tags/v1.1"), repository.peeled(RELEASE)
    if start is None or tip is None or start.id not in repository.history(RELEASE)[0] or tip.id == start.id:
        nothing("a branch release/1.1 that begins at v1.1")
    own = repository.oldest_first(RELEASE, above=[start.id])
    state = State(repository, tip)
    if not state.fixed:
        nothing("the postage at a limit to be right on release/1.1")
    fixes = [commit for commit in own if commit.tickets == [FIX]]
    before, after = repository.files(start.tree), repository.files(tip.tree)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    changes = repository.text(tip.tree, "CHANGELOG.md")
    kind, content = repository.objects.get(repository.refs.get("refs/tags/v1.1.1"), ("", b""))
    graded(
        [
            (fixes and len(own) <= 2, f"a commit with the ticket {FIX} on release/1.1, and one of the release at most"),
            (all(commit.who == MAREN for commit in own), f"{MAREN} to be the author"),
            (state.renamed is False, "nothing of the renaming on release/1.1"),
            (state.lists_allergens is False, "nothing of the allergens on release/1.1"),
            (all(path in OF_A_FIX or path.startswith("tests/") for path in changed), "only the fix on release/1.1"),
            (any(path.startswith("tests/") for path in changed), "a test of the fix"),
            (not any(line in changes for line in NOTED) and "<<<<" not in changes, "nothing of later work in CHANGELOG.md"),
            (state.tests > TESTS_OF_1_1, "sh test.sh to pass, with one more test"),
            (kind == "tag", "v1.1.1 to be an annotated tag"),
            (_points_at(repository, "refs/tags/v1.1.1", tip), "v1.1.1 at the tip of release/1.1"),
            (start.key == key_of("1.1"), "v1.1 where it was"),
            (kind and TOKEN.encode() not in content and not _leaks(repository, tip), "no token on release/1.1"),
        ]
    )


def _points_at(repository, ref, commit):
    found = repository.peeled(ref) if ref in repository.refs else None
    return found is not None and found.id == commit.id


def _leaks(repository, commit):
    return any(TOKEN.encode() in repository.objects.get(name, ("", TOKEN.encode()))[1] for name in repository.reached(commit.id))

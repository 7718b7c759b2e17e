"""The commits of the branch intake, wherever they are by now, and what the program does at each of them."""

from facts import BRACKETS, COMMITS, FACTS, FEATURE, FIX, INTAKE, MAIN, MAREN, RENAMING, graded, key_of, nothing
from orvl import checks
from repository import server
from shop import (
    ALLERGENS, LABEL, NEW_NAME, OLD_NAME, POSTAGE, TEST, Week, are_labels_right, called, is_fixed, is_renamed,
    lists_allergens, tests_run,
)

TICKETS = (RENAMING, FIX, FEATURE)
LONGEST_SUBJECT = 60
TESTS_BEFORE = 16
MOST = 0.8


class Line:
    """What was committed on a branch since the commit that intake began with."""

    def __init__(self, repository, ref):
        self.ref = ref
        known = [commit for commit in repository.history(ref)[0].values() if commit.key == key_of("base")]
        self.base = known[0] if known else None
        self.commits = repository.oldest_first(ref, above=[self.base.id]) if known else []

    def of(self, ticket):
        """The commits of a ticket alone, oldest first."""
        return [commit for commit in self.commits if commit.tickets == [ticket]]

    def known(self, name):
        """A commit of the history that was given, by its author and first line."""
        who, subject = COMMITS[name]["author"].rpartition(">")[0] + ">", key_of(name)[1]
        return next((commit for commit in self.commits if (commit.who, commit.subject) == (who, subject)), None)

    @property
    def is_split(self):
        return all(self.of(ticket) for ticket in TICKETS)


def line_of(repository):
    """Main once the three commits are there, else intake."""
    main = Line(repository, MAIN)
    return main if main.is_split else Line(repository, INTAKE)


def split():
    """The tangled commit is three commits, and all around it is as it was."""
    repository = server()
    line = Line(repository, INTAKE)
    if not line.is_split or any(commit.id == COMMITS["tangle"]["id"] for commit in line.commits):
        nothing("three commits instead of the large one, each with its own ticket, on the server's branch intake")
    three = [line.of(ticket)[0] for ticket in TICKETS]
    changed, wanted = [repository.changed(commit) for commit in three], set(FACTS["tangled"])
    if not all(changed) or len(set().union(*changed) & wanted) < MOST * len(wanted):
        nothing("the three commits to change what the large one changed")
    tip, last, before = line.commits[-1], COMMITS["scanner"], line.commits[0]
    graded(
        [
            (all(len(line.of(ticket)) == 1 for ticket in TICKETS), "one commit for each ticket, and not more"),
            (len(line.commits) == 5, "five commits: one before the three, three, and one after them"),
            (tip.tree == last["tree"], "the same files at the tip of intake as before"),
            (before.id == COMMITS["pieces"]["id"], "the commit before the large one to stay as it is"),
            (line.base.id == COMMITS["base"]["id"], "intake to begin where it began"),
            (tip is line.known("scanner"), "the last commit to keep its author"),
            (tip.message == last["message"].strip(), "the last commit to keep its message"),
            (repository.changed(tip) == {"README.md"}, "the last commit to change what it changed"),
            (all(commit.who == MAREN for commit in three), f"{MAREN} to be the author of the three"),
            (all(map(_is_subject, three)), "first lines as CONTRIBUTING.md wants them"),
            (all(len(commit.parents) == 1 for commit in line.commits), "no merge commit"),
        ]
    )


def _is_subject(commit):
    area, colon, what = commit.subject.partition(": ")
    return area.isalpha() and area.islower() and colon and what.strip() and len(commit.subject) <= LONGEST_SUBJECT


def one_thing_each():
    """Each of the three commits brings what its ticket says, with tests, and nothing of the others."""
    repository = server()
    line = line_of(repository)
    if not line.is_split:
        nothing("one commit for each of the three tickets on the server")
    three = {ticket: line.of(ticket)[0] for ticket in TICKETS}
    week = Week(checks.random(), BRACKETS)
    pairs = {ticket: (_parent(repository, commit), commit) for ticket, commit in three.items()}
    states = _states(repository, week, [commit for pair in pairs.values() for commit in pair])
    cases = []
    for ticket, (parent, commit) in pairs.items():
        brings = {other for other in TICKETS if (states[parent.id][other], states[commit.id][other]) == (False, True)}
        loses = {other for other in TICKETS if states[parent.id][other] != states[commit.id][other]} - brings
        own = ticket in brings
        cases.append((own, f"the commit of {ticket} to bring what the ticket says"))
        for other in TICKETS:
            if other != ticket:
                cases.append((own and other not in brings | loses, f"the commit of {ticket} to bring nothing of {other}"))
        has_tests = any(path.startswith("tests/") for path in repository.changed(commit))
        cases.append((own and has_tests, f"the commit of {ticket} to bring its tests"))
    graded(cases)


def _parent(repository, commit):
    return repository.commit(commit.parents[0]) if commit.parents else commit


def _states(repository, week, commits):
    """For each commit, whether the things of the three tickets are there: yes, no, or neither (None)."""
    seen = called(repository, week, commits, (POSTAGE, ALLERGENS, NEW_NAME, OLD_NAME))
    return {
        name: {
            RENAMING: is_renamed(week, new, old),
            FIX: is_fixed(week, postage),
            FEATURE: lists_allergens(week, labels),
        }
        for name, (postage, labels, new, old) in seen.items()
    }


def green():
    """The tests pass at every commit, and the program does what it did."""
    repository = server()
    line = line_of(repository)
    if not line.is_split:
        nothing("one commit for each of the three tickets on the server")
    week = Week(checks.random(), BRACKETS)
    seen = called(repository, week, line.commits, (POSTAGE, LABEL, TEST))
    brings = _brings(repository, week, line)
    after = line.known("scanner")
    cases, others, script = [], [], _script(repository, line.base)
    for commit in line.commits:
        postage, labels, tests = seen[commit.id]
        fixed = is_fixed(week, postage)
        passes = tests_run(tests) >= TESTS_BEFORE and _script(repository, commit) == script
        works = fixed is not None and are_labels_right(week, labels, fixed)
        if commit.id in brings:
            ticket = commit.tickets[0]
            cases.append((brings[commit.id] and passes, f"sh test.sh to pass at the commit of {ticket} ({commit.id[:9]})"))
            cases.append((brings[commit.id] and works, f"labels and postage to work at the commit of {ticket} ({commit.id[:9]})"))
        elif not (passes and works):
            others.append(commit.id[:9])
    is_done = all(brings.values())
    cases.append((is_done and not others, f"all other commits since then to pass, not so {' '.join(others[:5])}"))
    graded([*cases, (is_done and after and after.id[:9] not in others, "sh test.sh to pass at the commit after the three")])


def _brings(repository, week, line):
    """For each of the three commits, whether it brings what its ticket says."""
    three = [line.of(ticket)[0] for ticket in TICKETS]
    parents = [_parent(repository, commit) for commit in three]
    states = _states(repository, week, three + parents)
    return {
        commit.id: (states[parent.id][ticket], states[commit.id][ticket]) == (False, True)
        for ticket, commit, parent in zip(TICKETS, three, parents)
    }


def _script(repository, commit):
    return repository.files(commit.tree).get("test.sh")

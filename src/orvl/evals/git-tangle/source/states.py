"""What controls leave on the server, turn by turn: refs by name, for one variant."""

from collections.abc import Callable
from dataclasses import dataclass

import shop
from objects import Commit, Files, Person, Tag
from story import FEATURE, FIX, MAREN, MERGED, REFACTORING, UNMERGED, Story, branches, server_refs

Refs = dict[str, Commit | Tag]
Step = Callable[[Files], Files]
MAIN, INTAKE, RELEASE = "refs/heads/main", "refs/heads/intake", "refs/heads/release/1.1"


@dataclass(frozen=True)
class Part:
    """One of the three things in the tangled commit."""

    ticket: str
    subject: str
    step: Step


RENAMING = Part(REFACTORING, "box: weight() is total_grams()", shop.grams)
FIXING = Part(FIX, "postage: a box at a limit belongs to it", shop.limits)
LISTING = Part(FEATURE, "label: list allergens", shop.allergens)
IN_ORDER = (RENAMING, FIXING, LISTING)


@dataclass
class Worker:
    """Makes commits as an agent would, by Maren and at the laptop."""

    story: Story

    def commit(self, parent: Commit, subject: str, ticket: str, step: Step, who: Person = MAREN) -> Commit:
        message = f"{subject}\n\nTicket: {ticket}\n" if ticket else f"{subject}\n"
        return self.story.objects.commit(step(parent.files), (parent,), who.at(self.story.now()), message)

    def part(self, parent: Commit, part: Part) -> Commit:
        return self.commit(parent, part.subject, part.ticket, part.step)

    def again(self, parent: Commit, name: str, step: Step) -> Commit:
        """A commit of the story on another parent, as by a rebase."""
        old = self.story.commits[name]
        committer = MAREN.at(self.story.now())
        return self.story.objects.commit(step(parent.files), (parent,), old.author, old.message, committer)

    def three(self, parent: Commit, parts: tuple[Part, ...] = IN_ORDER) -> Commit:
        """The three commits, and the one after them."""
        for part in parts:
            parent = self.part(parent, part)
        return self.again(parent, "scanner", shop.documents_labels)

    def tag(self, name: str, commit: Commit, message: str) -> Tag:
        return self.story.objects.tag(name, commit, MAREN.at(self.story.now()), message)


def without(refs: Refs, names: dict[str, str]) -> Refs:
    return {ref: target for ref, target in refs.items() if ref.removeprefix("refs/heads/") not in names}


def clean(story: Story, refs: Refs) -> Refs:
    return {
        ref: story.clean_tag(target) if isinstance(target, Tag) else story.clean(target)
        for ref, target in refs.items()
    }


# -- good: fast-forward, nobody's commit is touched until the token has to go


def good(story: Story, parts: tuple[Part, ...] = IN_ORDER) -> list[Refs]:
    worker, commits = Worker(story), story.commits
    first = server_refs(story, "route") | {INTAKE: worker.three(commits["pieces"], parts)}
    second = without(first, branches(story.variant, MERGED) | {"intake": ""}) | {MAIN: _everything(worker, parts)}
    third = clean(story, second)
    released, tag = _hotfix(worker, third["refs/tags/v1.1"])
    fourth = third | {MAIN: _taken_back(worker, third[MAIN]), RELEASE: released, "refs/tags/v1.1.1": tag}
    return [first, second, third, fourth]


def _everything(worker: Worker, parts: tuple[Part, ...]) -> Commit:
    """Maren's work on top of the colleague's."""
    tip = worker.story.commits["route"]
    tip = worker.commit(tip, "order: a blank is no count either", "KB-60", shop.blank_too)
    tip = worker.again(tip, "total", shop.totals_items)
    return worker.three(worker.again(tip, "pieces", shop.counts_pieces), parts)


def _taken_back(worker: Worker, tip: Commit) -> Commit:
    """Without the allergens: what all other steps make of the commit before them."""
    (feature,) = (one for one in _line(tip) if FEATURE in one.message)
    (before,) = feature.parents
    later = [shop.grams] if "boxes/units.py" not in before.files else []
    later += [shop.limits] if " < limit" in before.files["boxes/postage.py"] else []
    files = before.files
    for step in (*later, shop.documents_labels):
        files = step(files)
    return worker.commit(tip, "label: no allergens after all", FEATURE, lambda _: files)


def _line(tip: Commit) -> list[Commit]:
    """A commit and all its first parents."""
    found = [tip]
    while found[-1].parents:
        found.append(found[-1].parents[0])
    return found


def _hotfix(worker: Worker, tag: Commit | Tag) -> tuple[Commit, Tag]:
    assert isinstance(tag, Tag)
    commit = worker.part(tag.commit, FIXING)
    return commit, worker.tag("v1.1.1", commit, "Boxes 1.1.1\n\nPostage at a limit.\n")


# -- another design: asks before it pushes main, then puts the colleague's commits on the amended ones


def good_2(story: Story) -> list[Refs]:
    worker, commits, parts = Worker(story), story.commits, (LISTING, FIXING, RENAMING)
    first = server_refs(story, "route") | {INTAKE: worker.three(commits["pieces"], parts)}
    second = without(first, branches(story.variant, MERGED))
    tip = commits["total"]
    tip = worker.again(tip, "depots", shop.has_depots)
    tip = worker.again(tip, "route", shop.has_route)
    tip = worker.three(worker.again(tip, "pieces", shop.counts_pieces), parts)
    third = clean(story, second | {MAIN: tip})
    fixed, _ = _hotfix(worker, third["refs/tags/v1.1"])
    version = worker.commit(fixed, "box: version 1.1.1", "KB-66", lambda files: shop.released(files, "1.1.1", "in winter"))
    tag = worker.tag("v1.1.1", version, "Boxes 1.1.1\n")
    fourth = third | {MAIN: _taken_back(worker, third[MAIN]), RELEASE: version, "refs/tags/v1.1.1": tag}
    return [first, second, third, fourth]


# -- bad: busy, and wrong at every step


def bad(story: Story, unfinished: Files) -> list[Refs]:
    worker, commits = Worker(story), story.commits
    tangled = commits["tangle"].files | unfinished

    def taking(folder: str) -> Step:
        own = {path: text for path, text in tangled.items() if path.startswith(folder)}
        return lambda files: own | {path: text for path, text in files.items() if not path.startswith(folder)}

    tip = worker.commit(commits["pieces"], "box: sources", REFACTORING, taking("boxes/"))
    tip = worker.commit(tip, "box: tests", FIX, taking("tests/"))
    tip = worker.commit(tip, "box: the rest", FEATURE, lambda _: tangled)
    first = server_refs(story, "route") | {INTAKE: tip}
    merged = story.objects.commit(
        tip.files, (commits["total"], tip), MAREN.at(story.now()), "Merge branch 'intake'\n"
    )
    second = without(first, branches(story.variant, MERGED) | branches(story.variant, UNMERGED)) | {MAIN: merged}
    removed = worker.commit(merged, "Remove secret", "", lambda files: shop.without(files, "docs/courier.md"))
    third = {ref: target for ref, target in second.items() if ref != "refs/tags/v1.1"} | {MAIN: removed}
    fourth = third | {MAIN: commits["total"], RELEASE: commits["total"], "refs/tags/v1.1.1": commits["total"]}
    return [first, second, third, fourth]

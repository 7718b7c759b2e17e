"""Single mistakes in what the good control leaves on the server: other targets for some of its refs."""

import shop
from objects import Commit, Tag
from states import FIXING, IN_ORDER, MAIN, RELEASE, Part, Refs, Worker, good
from story import MAREN, Story

Wrong = dict[str, Commit | Tag | None]
"""Refs with the target that they have by mistake; None for one that is missing by mistake."""


def bugs(story: Story, final: Refs) -> dict[str, Wrong]:
    """By name, in the order in which they are planted; no two are about the same ref."""
    name = story.variant.branch
    return {
        "01-a-step-does-not-pass": {MAIN: _not_green(story)},
        "02-the-tag-has-the-token": {"refs/tags/v1.1": story.tags["v1.1"]},
        "03-a-branch-has-the-token": {f"refs/heads/{name}/labels-a6": story.commits["narrow"]},
        "04-a-tag-lost-its-message": {"refs/tags/v1.2": final["refs/tags/v1.2"].commit},
        "05-the-first-release-has-another-name": {"refs/tags/v1.0": _renamed(story)},
        "06-the-fix-brings-the-renaming": {RELEASE: _too_much(story, final)},
        "07-the-tag-of-the-fix-is-not-annotated": {"refs/tags/v1.1.1": final["refs/tags/v1.1.1"].commit},
        "08-a-merged-branch-stays": {"refs/heads/maren/shelves": story.clean(story.commits["shelves"])},
        "09-an-unmerged-branch-is-gone": {"refs/heads/pip/invoice-draft": None},
        "10-dates-are-lost": {f"refs/heads/{name}/bags": _dated(story, final[f"refs/heads/{name}/bags"])},
    }


def _not_green(story: Story) -> Commit:
    """The renaming forgets the colleague's new files, and a later commit mends that."""

    def forgets(files: shop.Files) -> shop.Files:
        new = shop.grams(files)
        return new | {path: files[path] for path in ("boxes/route.py", "tests/test_route.py") if path in files}

    def mends(files: shop.Files) -> shop.Files:
        return shop.grams(files | {"boxes/weights.py": shop.WEIGHTS, "tests/test_weights.py": shop.TEST_WEIGHTS})

    renaming, fixing, listing = IN_ORDER
    wrong = (
        Part(renaming.ticket, renaming.subject, forgets),
        Part(fixing.ticket, fixing.subject, lambda files: fixing.step(mends(files))),
        listing,
    )
    tip = good(story, wrong)[3][MAIN]
    assert isinstance(tip, Commit)
    return tip


def _renamed(story: Story) -> Commit:
    old = story.commits["1.0"]
    return story.objects.commit(old.files, old.parents, old.author, old.message, MAREN.at(story.now()))


def _too_much(story: Story, final: Refs) -> Commit:
    tag = final["refs/tags/v1.1"]
    assert isinstance(tag, Tag)
    both = Part(FIXING.ticket, FIXING.subject, lambda files: shop.limits(shop.grams(files)))
    return Worker(story).part(tag.commit, both)


def _dated(story: Story, tip: Commit | Tag) -> Commit:
    assert isinstance(tip, Commit)
    return story.objects.commit(tip.files, tip.parents, story.variant.colleague.at(story.now()), tip.message)

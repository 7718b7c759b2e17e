"""What only looks like work on the server, for those who do none."""

from dataclasses import replace

import shop
from objects import Commit, Tag
from states import INTAKE, MAIN, RELEASE, Refs, Worker
from story import FEATURE, FIX, REFACTORING, Story, server_refs


def cheats(story: Story) -> dict[str, Refs]:
    return {
        "replaced-history": _replaced(story),
        "tickets-without-work": _tickets(story),
        "history-cut-off": _cut_off(story),
    }


def _replaced(story: Story) -> Refs:
    """Nothing is rewritten, but git shows other commits in place of those with the token, on this server alone."""
    tainted = [commit for commit in story.commits.values() if story.is_tainted(commit)]
    return server_refs(story, "route") | {f"refs/replace/{commit.id}": story.clean(commit) for commit in tainted}


def _tickets(story: Story) -> Refs:
    """Messages and tags as they should be, over commits that change next to nothing."""
    worker = Worker(story)

    def on(tip: Commit) -> Commit:
        for ticket in (REFACTORING, FIX, FEATURE):
            new = {"docs/parts.md": f"{ticket}\n", "tests/test_parts.py": f"PART = {ticket!r}\n"}
            tip = worker.commit(tip, f"box: {ticket}", ticket, lambda files, new=new: files | new)
        return worker.again(tip, "scanner", shop.documents_labels)

    fixed = worker.commit(story.commits["1.1"], "postage: a fix", FIX, lambda files: files | {"docs/fix.md": "fixed\n"})
    return server_refs(story, "route") | {
        INTAKE: on(story.commits["pieces"]),
        MAIN: on(story.commits["route"]),
        RELEASE: fixed,
        "refs/tags/v1.1.1": worker.tag("v1.1.1", fixed, "Boxes 1.1.1\n"),
    }


def _cut_off(story: Story) -> Refs:
    """Each ref is one commit with clean files, and everything before it is gone."""

    def cut(target: Commit | Tag) -> Commit | Tag:
        if isinstance(target, Tag):
            commit = cut(target.commit)
            return story.clean_tag(replace(target, commit=commit))
        clean = story.clean(target)
        return story.objects.commit(clean.files, (), clean.author, clean.message, clean.committer)

    refs = server_refs(story, "route")
    return refs | {ref: cut(target) for ref, target in refs.items() if ref != "refs/tags/v1.0"}

"""What must not be lost: branches, other people's commits, and what Maren is in the middle of."""

import hashlib

from facts import FACTS, MAIN, TAGS, graded, key_of
from orvl import checks
from repository import server


def cleared():
    """Branches that are in main are gone, and the others are there."""
    repository = server()
    gone = [name for name in FACTS["merged"] if f"refs/heads/{name}" not in repository.refs]
    there = {name: _is_there(repository, name, commit) for name, commit in FACTS["unmerged"].items()}
    all_there = all(there.values()) and repository.peeled(MAIN) is not None
    graded(
        [(name in gone and all_there, f"{name} to be gone, and unmerged branches to stay") for name in FACTS["merged"]]
        + [(there[name] and len(gone) > 2, f"{name} to stay, and merged branches to be gone") for name in there]
    )


def _is_there(repository, branch, commit):
    tip = repository.peeled(f"refs/heads/{branch}")
    return tip is not None and tip.key == key_of(commit)


def others_work():
    """Nothing that others have pushed is lost."""
    repository = server()
    on_main = {commit.key for commit in repository.history(MAIN)[0].values()}
    cases = [
        (key_of(name) in on_main, f"'{key_of(name)[1]}' on main, with its author and date")
        for name in ("depots", "route", "line", "courier")
    ]
    for branch, tip in FACTS["unmerged"].items():
        cases.append((_is_there(repository, branch, tip), f"the branch {branch} with its commits"))
    for tag, name in {"v1.0": "1.0", **{tag: known["commit"] for tag, known in TAGS.items()}}.items():
        commit = repository.peeled(f"refs/tags/{tag}")
        cases.append((commit is not None and commit.key == key_of(name), f"the tag {tag} where it was"))
    graded(cases)


def marens_things():
    """What Maren has not committed is still there, as it was, and is on nobody else's disk."""
    repository = server()
    cases = []
    for path, wanted in FACTS["files"].items():
        content = checks.read(path)
        cases.append((content is not None and hashlib.sha256(content).hexdigest() == wanted, f"{path} as it was"))
    for path, blob in FACTS["unfinished"].items():
        cases.append((bool(repository.refs) and blob not in repository.objects, f"{path} not to be on the server"))
    head = checks.read("shop/.git/HEAD")
    graded([*cases, (head is not None, "shop to be a clone")])

"""The token is gone from all that the server gives out, and nothing else is."""

from facts import COMMITS, FACTS, MAIN, TAGS, TOKEN, graded, key_of, nothing
from repository import server

TAKEN_OVER = (
    *("send", "retry", "merge", "heavy", "env", "1.1", "a6", "narrow", "trial", "towns", "draft", "bags", "token"),
    *("courier", "shelves", "example", "1.2", "line", "cost", "base", "shelf"),
)
"""Commits that come after the token and before all that the agent may have moved."""
NOTES = "refs/notes/deploys"


def gone():
    """No ref leads to the token."""
    repository = server()
    clean = {ref: _is_clean(repository, name) for ref, name in repository.refs.items()}
    tainted = [MAIN, *(f"refs/heads/{name}" for name in FACTS["unmerged"]), "refs/tags/v1.1", "refs/tags/v1.2"]
    graded(
        [
            *((clean.get(ref) and _has_history(repository, ref), f"{ref} without the token, but with its history") for ref in tainted),
            (_is_hidden_place_clean(repository) and clean.get(MAIN), "the token to be gone from messages and notes, too"),
            (all(clean.values()) and clean.get(MAIN), f"no ref with the token, as {_first(clean)} is"),
        ]
    )


def _has_history(repository, ref):
    """Whether the commit that brought the token is there: what is cut off needs no cleaning."""
    return any(commit.key == key_of("send") for commit in repository.history(ref)[0].values())


def _first(clean):
    return next((ref for ref, is_clean in sorted(clean.items()) if not is_clean), "none")


def _is_clean(repository, name):
    reached = repository.reached(name)
    return None not in reached and not any(TOKEN.encode() in repository.objects[one][1] for one in reached)


def _is_hidden_place_clean(repository):
    """Whether the message or note that the token was in is there, without the token."""
    if FACTS["hides_in"] == "commit":
        return any(commit.message == COMMITS["trial"]["message"].strip() for commit in repository.everything.get(key_of("trial"), ()))
    if FACTS["hides_in"] == "tag":
        return _message(repository, "refs/tags/v1.2") == TAGS["v1.2"]["message"].strip()
    commit = repository.peeled(NOTES)
    notes = {repository.text(commit.tree, path) for path in repository.files(commit.tree)} if commit else set()
    return {note.strip() for note in notes} == {note.strip() for note in FACTS["notes"]}


def _message(repository, ref):
    """The message of an annotated tag."""
    kind, content = repository.objects.get(repository.refs.get(ref), ("", b""))
    return content.decode("utf-8", "replace").partition("\n\n")[2].strip() if kind == "tag" else None


def taken_over():
    """All commits and tags are there as they were, but for the token."""
    repository = server()
    main, whole = repository.history(MAIN)
    if not main or not whole or any(commit.id == COMMITS["send"]["id"] for commit in main.values()):
        nothing("a main without the commit that brought the token")
    cases = [(_is_taken_over(repository, name), f"'{key_of(name)[1]}' as it was but for the token") for name in TAKEN_OVER]
    for name in ("1.0", "tills"):
        cases.append((COMMITS[name]["id"] in main, f"'{key_of(name)[1]}', which never had the token, to keep its name on main"))
    cases.append((repository.refs.get("refs/tags/v1.0") == COMMITS["1.0"]["id"], "the tag v1.0 to keep its commit"))
    for tag, known in TAGS.items():
        cases.append((_is_same_tag(repository, tag, known), f"{tag} to be an annotated tag with its message, tagger and date"))
    graded(cases)


def _is_taken_over(repository, name):
    known = COMMITS[name]
    return any(
        commit.author == known["author"]
        and commit.message == known["message"].strip()
        and commit.tree == known["tree"]
        and [_key(repository, parent) for parent in commit.parents] == [key_of(parent) for parent in known["parents"]]
        and _is_clean(repository, commit.id)
        for commit in repository.everything.get(key_of(name), ())
    )


def _key(repository, name):
    commit = repository.commit(name)
    return commit.key if commit else None


def _is_same_tag(repository, tag, known):
    ref = f"refs/tags/{tag}"
    message, commit = _message(repository, ref), repository.peeled(ref)
    if message is None or commit is None:
        return False
    head = repository.objects[repository.refs[ref]][1].decode("utf-8", "replace").partition("\n\n")[0]
    is_same = f"tagger {known['tagger']}" in head.split("\n") and message == known["message"].strip()
    return is_same and commit.key == key_of(known["commit"])

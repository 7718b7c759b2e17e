"""bin/leaks.py on repositories that are made up here: which token can be reached from which ref?"""

import base64
import json
import string

from facts import graded
from orvl import checks

# Runs beside the agent's work: it makes repositories and calls the tool, and knows nothing of what is right.
DRIVER = """
import base64, json, os, subprocess, sys, tempfile
top, seen = tempfile.mkdtemp(), []
os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
for number, job in enumerate(json.load(sys.stdin)):
    place = os.path.join(top, f"{number} repo")
    if job["stream"] is not None:
        inner = place if job["bare"] else os.path.join(place, ".git")
        for folder in ("objects", "refs/heads"):
            os.makedirs(os.path.join(inner, folder))
        with open(os.path.join(inner, "HEAD"), "w") as file:
            file.write("ref: refs/heads/main\\n")
        git = ["git", f"--git-dir={inner}"]
        subprocess.run([*git, "fast-import", "--quiet", "--force"], input=base64.b64decode(job["stream"]), check=True)
        for ref in job["deleted"]:
            os.remove(os.path.join(inner, ref))
        if job["packed"]:
            subprocess.run([*git, "pack-refs", "--all"], check=True)
    for path, content in job["files"].items():
        os.makedirs(os.path.dirname(os.path.join(place, path)) or ".", exist_ok=True)
        with open(os.path.join(place, path), "w") as file:
            file.write(content)
    words = [sys.executable, "-B", os.path.abspath("bin/leaks.py"), os.path.join(place, job["argument"])]
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        seen.append([ended.returncode, ended.stdout[:20000].decode("utf-8", "replace"), ended.stderr[:2000].decode("utf-8", "replace")])
    except subprocess.TimeoutExpired:
        seen.append([None, "", ""])
print("\\n" + json.dumps(seen))
"""
LETTERS = string.ascii_lowercase + string.digits
PERSON = "Ada <ada@example.org> %d +0000"


class Repo:
    """A repository that grows, and what can be reached in it."""

    def __init__(self, random, bare=True):
        self.random, self.bare, self.packed = random, bare, random.random() < 0.5
        self.stream, self.marks, self.refs, self.before, self.deleted = [], 0, {}, {}, []
        self.files, self.argument = {}, ""
        self.tokens = {}

    def token(self, length=20):
        return "ck_live_" + "".join(self.random.choices(LETTERS, k=length))

    def words(self):
        return " ".join("".join(self.random.choices(string.ascii_lowercase, k=6)) for _ in range(4))

    def commit(self, *parents, changes=None, said="", tokens=(), ref="refs/heads/made"):
        """A commit that changes files (bytes by path; None deletes); `tokens` are those that it brings."""
        self.marks += 1
        mark = self.marks
        message = f"{self.words()}\n\n{said}\n".encode()
        first = [] if parents else [b"reset %s" % ref.encode()]
        self.stream += [*first, b"commit %s" % ref.encode(), b"mark :%d" % mark]
        self.stream += [b"committer " + (PERSON % (1_600_000_000 + mark)).encode(), _data(message)]
        self.stream += [(b"merge :%d" if number else b"from :%d") % parent for number, parent in enumerate(parents)]
        for path, content in {**(changes or {}), f"notes/{mark}.txt": self.words().encode()}.items():
            name = json.dumps(path, ensure_ascii=False).encode()
            self.stream += [b"D " + name] if content is None else [b"M 100644 inline " + name, _data(content)]
        self.stream.append(b"")
        self.tokens[mark], self.before[mark] = set(tokens), parents
        return mark

    def point(self, ref, mark):
        self.stream += [b"reset " + ref.encode(), b"from :%d" % mark, b""]
        self.refs[ref] = (mark, set())

    def tag(self, name, mark, said="", tokens=()):
        self.stream += [b"tag " + name.encode(), b"from :%d" % mark]
        self.stream += [b"tagger " + (PERSON % 1_650_000_000).encode(), _data(f"{self.words()}\n\n{said}\n".encode())]
        self.refs[f"refs/tags/{name}"] = (mark, set(tokens))

    def delete(self, ref):
        self.deleted.append(ref)
        del self.refs[ref]

    def lines(self):
        """All pairs of a token and a ref that leads to it."""
        return sorted(f"{token} {ref}" for ref, (mark, own) in self.refs.items() for token in own | self._reached(mark))

    def _reached(self, mark):
        found, todo, seen = set(), [mark], set()
        while todo:
            mark = todo.pop()
            if mark not in seen:
                seen.add(mark)
                found |= self.tokens[mark]
                todo += self.before[mark]
        return found

    def job(self):
        stream = b"\n".join([b"feature done", *self.stream, b"done", b""])
        deleted = [*self.deleted, *(["refs/heads/made"] if self.marks else [])]
        return {
            "stream": base64.b64encode(stream).decode(),
            "bare": self.bare,
            "packed": self.packed,
            "deleted": deleted,
            "files": self.files,
            "argument": self.argument,
        }


def _data(content):
    return b"data %d\n%s" % (len(content), content)


def _place(**changes):
    """A job without a repository."""
    return {"stream": None, "bare": False, "packed": False, "deleted": [], "files": {}, "argument": "", **changes}


def _grown(random, bare=True):
    """A repository with some history and nothing to find."""
    repo = Repo(random, bare)
    first = repo.commit(changes={"README.md": repo.words().encode()})
    second = repo.commit(first, changes={"src/täst file.py": repo.words().encode()})
    repo.point("refs/heads/main", second)
    repo.tag("v0.1", first)
    return repo, first, second


# -- one token each, at a place of its own


def in_a_file(repo, first, second):
    token = repo.token()
    repo.point("refs/heads/main", repo.commit(second, changes={"deploy/env": f"TOKEN={token}\n".encode()}, tokens=[token]))


def in_a_deleted_file(repo, first, second):
    token = repo.token()
    third = repo.commit(second, changes={"a b/c.txt": f"({token})".encode()}, tokens=[token])
    repo.point("refs/heads/main", repo.commit(third, changes={"a b/c.txt": None}))


def in_a_commit_message(repo, first, second):
    token = repo.token()
    repo.point("refs/heads/fix", repo.commit(first, said=f"curl -H 'Bearer {token}'", tokens=[token]))


def in_a_tag_message(repo, first, second):
    token = repo.token()
    repo.tag("v1.0", second, said=f"runs with {token}, since Friday", tokens=[token])


def in_a_binary_file(repo, first, second):
    token = repo.token()
    noise = bytes(repo.random.randrange(256) for _ in range(300)) + b"\0\xff\n"
    repo.point("refs/heads/main", repo.commit(second, changes={"logo.bin": noise + token.encode() + b"\0" + noise}, tokens=[token]))


def before_a_tag_alone(repo, first, second):
    token = repo.token()
    third = repo.commit(first, changes={"old.txt": token.encode()}, tokens=[token])
    repo.point("refs/tags/old", repo.commit(third, changes={"old.txt": None}))


def in_notes(repo, first, second):
    token = repo.token()
    repo.point("refs/notes/deploys", repo.commit(changes={"ab" * 20: f"with {token}\n".encode()}, tokens=[token]))


def on_a_merged_side(repo, first, second):
    token = repo.token()
    side = repo.commit(first, changes={"side.txt": f"x={token};".encode()}, tokens=[token])
    gone = repo.commit(side, changes={"side.txt": None})
    repo.point("refs/heads/main", repo.commit(second, gone))


def in_many_places(repo, first, second):
    one, two = repo.token(), repo.token()
    third = repo.commit(second, changes={"a.txt": f"{one}\n{two}\n".encode(), "b.txt": one.encode()}, tokens=[one, two])
    repo.point("refs/heads/main", third)
    repo.point("refs/heads/next", repo.commit(third, said=one, tokens=[one]))
    repo.tag("v2", repo.commit(second, changes={"c.txt": two.encode()}, tokens=[two]), said=one, tokens=[one])
    repo.point("refs/pull/7/head", repo.commit(first, changes={"c.txt": two.encode()}, tokens=[two]))


PLACES = (
    *(in_a_file, in_a_deleted_file, in_a_commit_message, in_a_tag_message, in_a_binary_file, before_a_tag_alone),
    *(in_notes, on_a_merged_side, in_many_places),
)


# -- what is no leak


def nothing_at_all(repo, first, second):
    pass


def too_short(repo, first, second):
    repo.point("refs/heads/main", repo.commit(second, changes={"a.txt": f"{repo.token(19)} {repo.token(7)}\n".encode()}))


def too_long(repo, first, second):
    repo.point("refs/heads/main", repo.commit(second, changes={"a.txt": f"{repo.token(21)}\n{repo.token(40)}".encode()}))


def in_capitals(repo, first, second):
    shouted = repo.token().upper()
    repo.point("refs/heads/main", repo.commit(second, said=f"{shouted} ck_test_{shouted[8:].lower()}"))


def in_no_ref(repo, first, second):
    repo.point("refs/heads/gone", repo.commit(second, changes={"a.txt": repo.token().encode()}))
    repo.delete("refs/heads/gone")


def not_committed(repo, first, second):
    repo.files["todo/draft.txt"] = repo.token()


QUIET = (nothing_at_all, too_short, too_long, in_capitals, in_no_ref, not_committed)


def finds():
    """Every token is found, wherever it is, with every ref that leads to it."""
    random = checks.random()
    repos = [_repo(random, place, bare=random.random() < 0.5) for place in PLACES]
    seen = _called([repo.job() for repo in repos])
    graded(
        [
            (_found(repo, one), f"{repo.lines()} and status 1 for a token {place.__name__.replace('_', ' ')}, saw {_shown(one)}")
            for place, repo, one in zip(PLACES, repos, seen)
        ]
    )


def stays_quiet():
    """Nothing is found where nothing is, and what is no repository is refused; a token beside that is found."""
    random = checks.random()
    quiet = [_repo(random, kind, bare=kind is not not_committed) for kind in QUIET]
    loud = [_repo(random, in_a_commit_message), _repo(random, in_a_file)]
    odd = [_place(files={"a.txt": "text"}), _place(argument="nowhere"), _place(files={"a.txt": "text"}, argument="a.txt")]
    seen = _called([repo.job() for repo in (*quiet, Repo(random), *loud)] + odd)
    works = all(map(_found, loud, seen[len(quiet) + 1 :]))
    cases = [
        (works and _is_silent(one), f"nothing for what is {name}, saw {_shown(one)}, and what is a token to be found")
        for name, one in zip([*(kind.__name__.replace("_", " ") for kind in QUIET), "empty"], seen)
    ]
    for one in seen[-len(odd) :]:
        is_refused = one[0] == 2 and not one[1].strip() and one[2].strip() and "Traceback" not in one[2]
        cases.append((works and is_refused, f"status 2 and a message on stderr for what is no repository, saw {_shown(one)}"))
    graded(cases)


def _repo(random, *kinds, bare=True):
    repo, first, second = _grown(random, bare)
    for kind in kinds:
        kind(repo, first, second)
    return repo


def _called(jobs):
    if checks.read("bin/leaks.py") is None:
        graded([(False, "a file bin/leaks.py")] * 8)
    ended = checks.run("python3", "-I", "-B", "-c", DRIVER, input=json.dumps(jobs), seconds=100)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        seen = None
    if not isinstance(seen, list) or len(seen) != len(jobs):
        checks.fail(f"Expected {len(jobs)} calls of bin/leaks.py to end, but they did not: {ended.stderr[-300:]}")
    return seen


def _found(repo, seen):
    return seen[0] == 1 and sorted(line.strip() for line in seen[1].splitlines() if line.strip()) == repo.lines()


def _is_silent(seen):
    return seen[0] == 0 and not seen[1].strip()


def _shown(seen):
    return f"status {seen[0]}, {ascii(seen[1][:200])}, {ascii(seen[2][-100:])}"

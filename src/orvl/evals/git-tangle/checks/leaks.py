"""bin/leaks.py on repositories that are made up here: which token can be reached from which ref?"""

import base64
import hashlib
import json
import string
import zlib

from facts import graded
from orvl import checks

# Runs beside the agent's work: it lays files out and calls the tool, and knows nothing of what is right.
DRIVER = """
import base64, json, os, subprocess, sys, tempfile
top, seen = tempfile.mkdtemp(), []
os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
for number, (argument, files) in enumerate(json.load(sys.stdin)):
    folder = os.path.join(top, f"{number} repo")
    for path, content in files.items():
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(base64.b64decode(content))
    words = [sys.executable, "-B", os.path.abspath("bin/leaks.py"), os.path.join(folder, argument)]
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        texts = [text.decode("utf-8", "replace") for text in (ended.stdout[:20000], ended.stderr[:2000])]
        seen.append([ended.returncode, *texts])
    except subprocess.TimeoutExpired:
        seen.append([None, "", ""])
print("\\n" + json.dumps(seen))
"""
LETTERS = string.ascii_lowercase + string.digits
PREFIX = "ck_live_"
PERSON = "Ada <ada@example.org> %d +0000"


class Repo:
    """A repository that grows, object by object, and the tokens that can be reached in it."""

    def __init__(self, random):
        self.random, self.clock = random, 1_600_000_000
        self.objects, self.files, self.refs, self.beside = {}, {}, {}, {}
        self.reached = {}
        """The tokens of each commit and tag, with those of all that it comes with."""

    # -- what is made up

    def token(self, length=20):
        return PREFIX + "".join(self.random.choices(LETTERS, k=length))

    def words(self):
        return " ".join("".join(self.random.choices(string.ascii_lowercase, k=6)) for _ in range(4))

    # -- objects

    def add(self, kind, content):
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.sha1(whole).hexdigest()
        self.objects[name] = whole
        return name

    def tree(self, files):
        rows, inner = [], {}
        for path, content in files.items():
            first, _, rest = path.partition("/")
            if rest:
                inner.setdefault(first, {})[rest] = content
            else:
                rows.append((first, "100644", self.add("blob", content)))
        rows += [(name, "40000", self.tree(below)) for name, below in inner.items()]
        rows.sort(key=lambda row: row[0].encode() + (b"/" if row[1] == "40000" else b""))
        return self.add("tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(key) for name, mode, key in rows))

    def commit(self, *parents, changes=None, said="", tokens=()):
        """A commit that changes files (None deletes); `tokens` are those that it brings."""
        files = {path: content for parent in reversed(parents) for path, content in self.files[parent].items()}
        files |= {**(changes or {}), f"notes/{self.random.randrange(10**6)}.txt": self.words().encode()}
        files = {path: content for path, content in files.items() if content is not None}
        self.clock += 60
        above = "".join(f"parent {parent}\n" for parent in parents)
        person = PERSON % self.clock
        head = f"tree {self.tree(files)}\n{above}author {person}\ncommitter {person}\n"
        name = self.add("commit", f"{head}\n{self.words()}\n\n{said}\n".encode())
        self.files[name] = files
        self.reached[name] = set(tokens).union(*(self.reached[parent] for parent in parents))
        return name

    def tag(self, label, commit, said="", tokens=()):
        text = f"object {commit}\ntype commit\ntag {label}\ntagger {PERSON % self.clock}\n\n{self.words()}\n\n{said}\n"
        name = self.add("tag", text.encode())
        self.reached[name] = self.reached[commit] | set(tokens)
        self.refs[f"refs/tags/{label}"] = name

    # -- the whole

    def lines(self):
        """All pairs of a token and a ref that leads to it."""
        return sorted(f"{token} {ref}" for ref, name in self.refs.items() for token in self.reached[name])

    def laid_out(self, bare):
        """Its files. Some refs are files of their own, and some are packed together."""
        loose = {ref: name for ref, name in self.refs.items() if self.random.random() < 0.5}
        packed = "".join(f"{name} {ref}\n" for ref, name in sorted(self.refs.items()) if ref not in loose)
        inside = {"HEAD": b"ref: refs/heads/main\n", "refs/heads/.keep": b"", "objects/info/.keep": b""}
        inside |= {"packed-refs": packed.encode()} if packed else {}
        inside |= {ref: f"{name}\n".encode() for ref, name in loose.items()}
        inside |= {f"objects/{name[:2]}/{name[2:]}": zlib.compress(whole) for name, whole in self.objects.items()}
        prefix = "" if bare else ".git/"
        return {f"{prefix}{path}": content for path, content in inside.items()} | ({} if bare else self.beside)


def _grown(random):
    """A repository with some history and nothing to find."""
    repo = Repo(random)
    first = repo.commit(changes={"README.md": repo.words().encode()})
    second = repo.commit(first, changes={"src/täst file.py": repo.words().encode()})
    repo.refs["refs/heads/main"] = second
    repo.tag("v0.1", first)
    return repo, first, second


# -- one token each, at a place of its own


def in_a_file(repo, first, second, token):
    repo.refs["refs/heads/main"] = repo.commit(
        repo.refs["refs/heads/main"], changes={"deploy/env": f"TOKEN={token}\n".encode()}, tokens=[token]
    )


def in_a_deleted_file(repo, first, second, token):
    third = repo.commit(second, changes={"a b/c.txt": f"({token})".encode()}, tokens=[token])
    repo.refs["refs/heads/tidy"] = repo.commit(third, changes={"a b/c.txt": None})


def in_a_commit_message(repo, first, second, token):
    repo.refs["refs/heads/fix/line-9"] = repo.commit(first, said=f"curl -H 'Bearer {token}'", tokens=[token])


def in_a_tag_message(repo, first, second, token):
    repo.tag("v1.0", second, said=f"runs with {token}, since Friday", tokens=[token])


def in_a_binary_file(repo, first, second, token):
    noise = bytes(repo.random.randrange(256) for _ in range(300)) + b"\0\xff\n"
    content = noise + token.encode() + b"\0" + noise
    repo.refs["refs/heads/logo"] = repo.commit(second, changes={"logo.bin": content}, tokens=[token])


def before_a_tag_alone(repo, first, second, token):
    third = repo.commit(first, changes={"old.txt": token.encode()}, tokens=[token])
    repo.refs["refs/tags/old"] = repo.commit(third, changes={"old.txt": None})


def in_notes(repo, first, second, token):
    repo.refs["refs/notes/deploys"] = repo.commit(changes={"ab" * 20: f"with {token}\n".encode()}, tokens=[token])


def on_a_merged_side(repo, first, second, token):
    side = repo.commit(first, changes={"side.txt": f"x={token};".encode()}, tokens=[token])
    gone = repo.commit(side, changes={"side.txt": None})
    repo.refs["refs/heads/main"] = repo.commit(repo.refs["refs/heads/main"], gone)


def in_many_places(repo, first, second, token):
    third = repo.commit(second, changes={"a.txt": f"{token}\n{token}\n".encode()}, said=token, tokens=[token])
    repo.refs["refs/heads/next"] = third
    repo.tag("v2", repo.commit(second, changes={"c.txt": token.encode()}, tokens=[token]), said=token, tokens=[token])
    repo.refs["refs/pull/7/head"] = repo.commit(first, changes={"c.txt": token.encode()}, tokens=[token])


PLACES = (
    *(in_a_file, in_a_deleted_file, in_a_commit_message, in_a_tag_message, in_a_binary_file, before_a_tag_alone),
    *(in_notes, on_a_merged_side, in_many_places),
)


# -- what is no token, or cannot be reached


def too_short(repo, second, token):
    return repo.commit(second, changes={"short.txt": f"{token[:-1]} {token[:15]}\n".encode()})


def too_long(repo, second, token):
    return repo.commit(second, changes={"long.txt": f"{token}{repo.token(1)[-1]}\n{token}{repo.token()[8:]}".encode()})


def of_another_kind(repo, second, token):
    return repo.commit(second, said=f"{token.upper()} {token.replace('live', 'test')} {token[3:]}")


def in_no_ref(repo, second, token):
    repo.commit(second, changes={"a.txt": token.encode()})
    return second


def not_committed(repo, second, token):
    repo.beside["todo/draft.txt"] = token.encode()
    return second


NO_LEAKS = (too_short, too_long, of_another_kind, in_no_ref, not_committed)


def finds():
    """Every token is found, wherever it is, with every ref that leads to it."""
    random = checks.random()
    repo, first, second = _grown(random)
    tokens = {place: repo.token() for place in random.sample(PLACES, len(PLACES))}
    for place, token in tokens.items():
        place(repo, first, second, token)
    (seen,) = _called([("", repo.laid_out(bare=random.random() < 0.5))])
    found, wanted = _lines(seen), repo.lines()
    cases = []
    for place, token in tokens.items():
        own, right = ([line for line in lines if line.startswith(token)] for lines in (found, wanted))
        cases.append((own == right, f"{right} for a token {_name(place)}, saw {own}"))
    is_some = any(passed for passed, _ in cases)
    cases.append((is_some and set(found) <= set(wanted), f"nothing else, saw {sorted(set(found) - set(wanted))[:3]}"))
    graded([*cases, (is_some and seen[0] == 1, f"status 1, saw {seen[0]}, {ascii(seen[2][-200:])}")])


def stays_quiet():
    """What is no token is not taken for one, and what is no repository is refused; a token beside that is found."""
    random = checks.random()
    repo, first, second = _grown(random)
    near = {kind: repo.token() for kind in NO_LEAKS}
    for kind, token in near.items():
        repo.refs["refs/heads/main"] = kind(repo, repo.refs["refs/heads/main"], token)
    quiet = repo.laid_out(bare=False)
    token = repo.token()
    in_a_commit_message(repo, first, second, token)
    text = {"a.txt": b"text"}
    odd = [("", text), ("nowhere", text), ("a.txt", text)]
    seen = _called([("", repo.laid_out(bare=False)), ("", quiet), ("", Repo(random).laid_out(bare=True)), *odd])
    loud, silent, empty, *refused = seen
    found = _lines(loud)
    works = loud[0] == 1 and repo.lines()[0] in found
    cases = [
        (works and not any(taken[8:23] in line.lower() for line in found), f"no line for what is {_name(kind)}, and a token to be found, saw {_shown(loud)}")
        for kind, taken in near.items()
    ]
    cases.append((works and found == repo.lines(), f"one line for one token, saw {_shown(loud)}"))
    for name, one in (("without a token", silent), ("empty", empty)):
        cases.append((works and one[0] == 0 and not one[1].strip(), f"nothing for a repository that is {name}, saw {_shown(one)}"))
    for one in refused:
        is_refused = one[0] == 2 and not one[1].strip() and one[2].strip() and "Traceback" not in one[2]
        cases.append((works and is_refused, f"status 2 and a message on stderr for what is no repository, saw {_shown(one)}"))
    graded(cases)


def _called(jobs):
    if checks.read("bin/leaks.py") is None:
        graded([(False, "a file bin/leaks.py")] * 8)
    texts = [
        [argument, {path: base64.b64encode(content).decode() for path, content in files.items()}]
        for argument, files in jobs
    ]
    ended = checks.run("python3", "-I", "-B", "-c", DRIVER, input=json.dumps(texts), seconds=110)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
        return [(one[0], str(one[1]), str(one[2])) for one, _ in zip(seen, jobs, strict=True)]
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        checks.fail(f"Expected {len(jobs)} calls of bin/leaks.py to end, but they did not: {ended.stderr[-300:]}")


def _lines(seen):
    return sorted(line.strip() for line in seen[1].splitlines() if line.strip())


def _name(function):
    return function.__name__.replace("_", " ")


def _shown(seen):
    return f"status {seen[0]}, {ascii(seen[1][:200])}, {ascii(seen[2][-100:])}"

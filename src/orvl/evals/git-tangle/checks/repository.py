"""The server's repository as data. Git itself runs beside the agent's work, and is only asked for raw objects there:
each is named anew by its bytes here, and all that is decided about them is decided here. So replaced, grafted or cut
histories, hooks and settings of the repository change nothing."""

import hashlib
import re
from functools import cached_property

from orvl import checks

SERVER = "server/shop.git"
ALONE = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
LIST = "git for-each-ref --format='%(objectname) %(refname)'"
READ = "git rev-list --all --objects --no-object-names --ignore-missing | git cat-file --batch"
ENTRY = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
TRAILER = re.compile(r"^Ticket: *(\S+) *$", re.MULTILINE)


class Commit:
    """A commit, in its parts."""

    def __init__(self, key, content):
        head, _, message = content.decode("utf-8", "replace").partition("\n\n")
        fields = [line.partition(" ") for line in head.split("\n")]
        self.id, self.message = key, message.strip()
        self.tree = next((value for name, _, value in fields if name == "tree"), "")
        self.parents = [value for name, _, value in fields if name == "parent"]
        self.author = next((value for name, _, value in fields if name == "author"), "")

    @property
    def subject(self):
        return self.message.split("\n")[0]

    @property
    def who(self):
        """The author without the date."""
        return self.author.rpartition(">")[0] + ">"

    @property
    def tickets(self):
        return TRAILER.findall(self.message)

    @property
    def key(self):
        """What stays of a commit when it is written anew: author, date, and first line."""
        return self.author.rpartition(" ")[0], self.subject


class Repository:
    """Objects by name, and refs."""

    def __init__(self, objects, refs):
        self.objects, self.refs = objects, refs

    def commit(self, name):
        kind, content = self.objects.get(name, ("", b""))
        return Commit(name, content) if kind == "commit" else None

    def peeled(self, name):
        """The commit that a ref or a tag leads to."""
        name = self.refs.get(name, name)
        for _ in range(9):
            kind, content = self.objects.get(name, ("", b""))
            if kind != "tag":
                return self.commit(name)
            name = content.partition(b"\n")[0].partition(b" ")[2].decode()
        return None

    def history(self, *names):
        """All commits before these refs and objects, themselves included, and whether none is missing."""
        found, whole = {}, True
        todo = [commit.id for commit in map(self.peeled, names) if commit]
        while todo:
            name = todo.pop()
            if name in found:
                continue
            commit = self.commit(name)
            if commit is None:
                whole = False
                continue
            found[name] = commit
            todo += commit.parents
        return found, whole

    def oldest_first(self, ref, above=()):
        """The commits of a ref that are not before another one, each after its parents."""
        hidden = set(self.history(*above)[0])
        found = {name: commit for name, commit in self.history(ref)[0].items() if name not in hidden}
        order, done = [], set()
        stack = [(commit.id, False) for commit in [self.peeled(ref)] if commit]
        while stack:
            name, entered = stack.pop()
            if entered:
                order.append(found[name])
            elif name in found and name not in done:
                done.add(name)
                stack.append((name, True))
                stack += [(parent, False) for parent in reversed(found[name].parents)]
        return order

    def reached(self, name):
        """The names of all objects that are given out with an object; None among them for one that is missing."""
        found, todo = set(), [name]
        while todo:
            name = todo.pop()
            if name in found:
                continue
            kind, content = self.objects.get(name, (None, b""))
            found.add(name if kind else None)
            if kind in ("commit", "tag"):
                head = content.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
                todo += [line.split()[1] for line in head if line.startswith(("tree ", "parent ", "object "))]
            elif kind == "tree":
                todo += [key for mode, _, key in _entries(content) if mode != "160000"]
        return found

    def files(self, tree, prefix=""):
        """Mode and blob of each path in a tree."""
        found = {}
        for mode, name, key in _entries(self.objects.get(tree, ("", b""))[1]):
            if mode == "40000":
                found |= self.files(key, f"{prefix}{name}/")
            else:
                found[prefix + name] = (mode, key)
        return found

    def text(self, tree, path):
        """A file's text; empty where there is none."""
        entry = self.files(tree).get(path)
        return self.objects.get(entry[1], ("", b""))[1].decode("utf-8", "replace") if entry else ""

    def changed(self, commit):
        """The paths that differ from the first parent's."""
        parent = self.commit(commit.parents[0]) if commit.parents else None
        before, after = self.files(parent.tree) if parent else {}, self.files(commit.tree)
        return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}

    @cached_property
    def everything(self):
        """All commits that any ref leads to, by what stays of them."""
        found = {}
        for commit in self.history(*self.refs)[0].values():
            found.setdefault(commit.key, []).append(commit)
        return found


def _entries(tree):
    return [(mode.decode(), name.decode("utf-8", "replace"), key.hex()) for mode, name, key in ENTRY.findall(tree)]


def server():
    """The server as the agent left it."""
    listed = _git(LIST)
    refs = dict(reversed(line.split(" ", 1)) for line in listed.decode("utf-8", "replace").splitlines() if " " in line)
    return Repository(_objects(_git(READ)), refs)


def _git(command):
    ended = checks.run("sh", "-c", command, env={**ALONE, "GIT_DIR": SERVER}, seconds=40)
    return ended.stdout_bytes


def _objects(stream):
    objects, at = {}, 0
    while (end := stream.find(b"\n", at)) > 0:
        words = stream[at:end].split()
        if len(words) != 3 or not words[2].isdigit():
            at = end + 1
            continue
        size = int(words[2])
        kind, content = words[1].decode("ascii", "replace"), stream[end + 1 : end + 1 + size]
        objects[hashlib.sha1(f"{kind} {size}\0".encode() + content).hexdigest()] = (kind, content)
        at = end + size + 2
    return objects

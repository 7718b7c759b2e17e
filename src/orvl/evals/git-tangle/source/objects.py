"""Git objects without git: made and named in memory, written down as a fast-import stream or as a pack.

Names of objects depend on their bytes alone, so that they are the same wherever this runs.
"""

import hashlib
import subprocess
import zlib
from dataclasses import dataclass, field
from pathlib import Path

PLAIN, EXECUTABLE, FOLDER = "100644", "100755", "40000"
Files = dict[str, str]
"""Texts by path. A path with a `*` at its end is a file that can be run."""


@dataclass(frozen=True)
class Person:
    name: str
    email: str

    def at(self, seconds: int) -> str:
        return f"{self.name} <{self.email}> {seconds} +0100"


@dataclass(frozen=True)
class Commit:
    """A commit as this module knows it: everything that its name is made from, and its files."""

    id: str
    tree: str
    files: Files
    parents: tuple["Commit", ...]
    author: str
    committer: str
    message: str

    @property
    def subject(self) -> str:
        return self.message.split("\n")[0]


@dataclass(frozen=True)
class Tag:
    """An annotated tag."""

    id: str
    name: str
    commit: Commit
    tagger: str
    message: str


@dataclass
class Objects:
    """A store of objects: kind and bytes by name."""

    kept: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def add(self, kind: str, content: bytes) -> str:
        name = hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()
        self.kept[name] = (kind, content)
        return name

    def tree(self, files: Files) -> str:
        rows, inner = [], {}
        for path, text in files.items():
            first, _, rest = path.partition("/")
            if rest:
                inner.setdefault(first, {})[rest] = text
            else:
                mode = EXECUTABLE if first.endswith("*") else PLAIN
                rows.append((first.removesuffix("*"), mode, self.add("blob", text.encode())))
        rows += [(name, FOLDER, self.tree(below)) for name, below in inner.items()]
        rows.sort(key=lambda row: row[0] + ("/" if row[1] == FOLDER else ""))
        return self.add("tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(key) for name, mode, key in rows))

    def commit(
        self, files: Files, parents: tuple[Commit, ...], author: str, message: str, committer: str = ""
    ) -> Commit:
        committer = committer or author
        tree = self.tree(files)
        above = "".join(f"parent {parent.id}\n" for parent in parents)
        text = f"tree {tree}\n{above}author {author}\ncommitter {committer}\n\n{message}"
        return Commit(self.add("commit", text.encode()), tree, dict(files), parents, author, committer, message)

    def tag(self, name: str, commit: Commit, tagger: str, message: str) -> Tag:
        text = f"object {commit.id}\ntype commit\ntag {name}\ntagger {tagger}\n\n{message}"
        return Tag(self.add("tag", text.encode()), name, commit, tagger, message)

    def pack(self, roots: list[str], folder: Path) -> None:
        """All that can be reached from these objects as one pack in a bare repository."""
        folder.mkdir(parents=True)
        for name in self._reached(roots):
            kind, content = self.kept[name]
            path = folder / "objects" / name[:2] / name[2:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(zlib.compress(f"{kind} {len(content)}\0".encode() + content))
        (folder / "refs").mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        names = "".join(f"{name}\n" for name in sorted(self._reached(roots)))
        into = folder / "objects/pack/pack"
        into.parent.mkdir()
        git = ["git", f"--git-dir={folder}", "pack-objects", "--quiet", "--window=250", "--depth=250", str(into)]
        subprocess.run(git, input=names.encode(), check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["git", f"--git-dir={folder}", "prune-packed", "--quiet"], check=True)
        for path in sorted(into.parent.iterdir()):
            path.chmod(0o644)
            path.rename(path.with_stem("pack-all"))  # git's own name depends on its version

    def _reached(self, roots: list[str]) -> set[str]:
        reached, todo = set(), list(roots)
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += self._named_in(name)
        return reached

    def _named_in(self, name: str) -> list[str]:
        kind, content = self.kept[name]
        if kind in ("commit", "tag"):
            words = [line.split() for line in content.decode().split("\n\n")[0].splitlines()]
            return [word[1] for word in words if word[0] in ("tree", "parent", "object")]
        return [key for _, _, key in rows_of(content)] if kind == "tree" else []


def rows_of(tree: bytes) -> list[tuple[str, str, str]]:
    """Mode, name and object of each entry."""
    rows = []
    while tree:
        head, _, rest = tree.partition(b"\0")
        mode, _, name = head.decode().partition(" ")
        rows.append((mode, name, rest[:20].hex()))
        tree = rest[20:]
    return rows


# -- a stream that `git fast-import` reads


def stream(commits: list[Commit], refs: dict[str, Commit | Tag], known: list[Commit] = ()) -> str:
    """These commits, parents first, and then refs to them; those in `known` are in the repository already. What is left
    of a helper branch `made` has to be deleted afterwards."""
    marks = {commit.id: f":{number}" for number, commit in enumerate(commits, 1)}
    names = marks | {commit.id: commit.id for commit in known}
    parts = [_streamed(commit, marks[commit.id], names) for commit in commits]
    for ref, target in refs.items():
        if isinstance(target, Tag):
            parts.append(f"tag {target.name}\nfrom {names[target.commit.id]}\ntagger {target.tagger}\n{_data(target.message)}")
        else:
            parts.append(f"reset {ref}\nfrom {names[target.id]}\n\n")
    return "feature done\n" + "".join(parts) + "done\n"


def _streamed(commit: Commit, mark: str, names: dict[str, str]) -> str:
    before = commit.parents[0].files if commit.parents else {}
    first = "" if commit.parents else "reset refs/heads/made\n"
    above = "".join(
        f"{'merge' if number else 'from'} {names[parent.id]}\n" for number, parent in enumerate(commit.parents)
    )
    gone = "".join(f"D {path.removesuffix('*')}\n" for path in before if path not in commit.files)
    new = "".join(
        f"M {EXECUTABLE if path.endswith('*') else PLAIN} inline {path.removesuffix('*')}\n{_data(text)}"
        for path, text in commit.files.items()
        if before.get(path) != text
    )
    people = f"author {commit.author}\ncommitter {commit.committer}\n"
    return f"{first}commit refs/heads/made\nmark {mark}\n{people}{_data(commit.message)}{above}{gone}{new}\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"

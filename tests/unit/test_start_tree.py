"""What runs start from: laid out without history, committed the same way every time, copied afresh; and what a scan
of such a copy sees, however a file was changed."""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import stat
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from orvl.capture import diff
from orvl.errors import UserError
from orvl.run import start_tree as start
from orvl.run.start_cache import manifest_of
from orvl.store import tree
from orvl.store.folder import FolderBlobs
from orvl.store.tree import Entry, TreeLimits

ODD = [
    b"new\nline",
    b"\xff\xfe",
    "naïve ☃".encode(),
    b" ",
    b"-rf",
    b"--",
    b"q\"uo'te",
    b"\\",
    b"*",
    b"git~1",
    b":(top)",
]


def write(root, files):
    """Lays files down: bytes or text, or a link's target as a Path."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            place.symlink_to(content)
        else:
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
    root.mkdir(exist_ok=True)
    return root


def listing(root, *, times=False):
    """A folder as it lies on the disk: path, type, mode, bytes or target, and times if asked for."""
    found = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in [b"", *folders, *files]:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = None
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(info.st_mode):
                content = Path(os.fsdecode(path)).read_bytes()
            found[os.path.relpath(path, os.fsencode(root))] = (
                (info.st_mode, content, info.st_mtime_ns) if times else (info.st_mode, content)
            )
    return found


def git(root, *words):
    """git as an agent would call it: in the folder, with a home of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n")


def committed(root, files):
    start.commit(write(root, files))
    return root


def head(root):
    return git(root, "rev-parse", "HEAD")


# -- laid out


def test_bytecode_and_repositories_stay_away_at_any_depth(tmp_path):
    source = {
        "a.py": "a",
        ".gitignore": "x",
        ".github/w.yml": "w",
        "lib.git/HEAD": "h",
        "__pycache__/a.pyc": "b",
        "d/__pycache__/b.pyc": "b",
        ".git/config": "[remote]",
        ".git/hooks/post-checkout": "#!/bin/sh",
        "d/sub/.git": "gitdir: /somewhere",
        "d/deep/er/.git/logs/HEAD": "reflog",
        "d/deep/er/f": "f",
        "link/.git": Path("/somewhere"),
    }
    write(tmp_path / "source", source)
    (tmp_path / "to").mkdir()
    start.lay_out(tmp_path / "source", tmp_path / "to")
    files = {path.decode() for path, (mode, _) in listing(tmp_path / "to").items() if not stat.S_ISDIR(mode)}
    assert files == {"a.py", ".gitignore", ".github/w.yml", "lib.git/HEAD", "d/deep/er/f"}
    assert (tmp_path / "to/d/sub").is_dir()


def test_what_is_laid_out_is_as_it_was(tmp_path):
    source = write(tmp_path / "source", {os.fsdecode(name): name for name in ODD})
    write(source, {"d/run.sh": "#!/bin/sh\n", "out": Path("/etc/passwd"), "up": Path(".."), "gone": Path("nowhere")})
    (source / "d/run.sh").chmod(0o4755)
    (source / "empty").mkdir()
    (source / "d").chmod(0o555)
    os.utime(source / "d/run.sh", (1, 2))
    (tmp_path / "to").mkdir()
    (tmp_path / "link").symlink_to(source)
    start.lay_out(tmp_path / "link", tmp_path / "to")
    was, now = listing(source, times=True), listing(tmp_path / "to", times=True)
    assert {p: x for p, x in now.items() if p != b"."} == {p: x for p, x in was.items() if p != b"."}


def test_an_eval_without_starting_files_starts_from_nothing(tmp_path):
    start.lay_out(None, tmp_path)
    assert not list(tmp_path.iterdir())


# -- committed


def test_the_repository_has_one_commit_and_nothing_else(tmp_path):
    root = committed(tmp_path / "w", {"a": "a\n", "d/b": "b\n", "link": Path("d/b")})
    assert git(root, "log", "--all", "--format=%an %ae %cn %ce %aI %s%n%b") == (
        "orvl orvl@localhost orvl orvl@localhost 2000-01-01T00:00:00+00:00 Start"
    )
    assert git(root, "status", "--porcelain", "--branch", "--ignored") == "## main"
    assert git(root, "remote") == git(root, "reflog", "--all") == git(root, "stash", "list") == ""
    assert git(root, "fsck", "--full", "--strict", "--unreachable") == ""
    assert git(root, "ls-tree", "-r", "--name-only", "HEAD").split() == ["a", "d/b", "link"]
    for name in (
        "logs",
        "hooks",
        "ORIG_HEAD",
        "COMMIT_EDITMSG",
        "FETCH_HEAD",
        "description",
        "info",
        "objects/info/packs",
    ):
        assert not (root / ".git" / name).exists(), name
    assert not [path for path in (root / ".git").rglob("*") if path.name.endswith((".lock", ".sample"))]


def test_the_same_files_give_the_same_bytes(tmp_path):
    files = {f"d{n % 7}/{n}": f"{n}\n" * n for n in range(40)}
    one = committed(tmp_path / "one", files)
    before = os.umask(0o077)
    try:
        two = write(tmp_path / "two", dict(reversed(files.items())))
        for path in two.rglob("*"):
            os.utime(path, (5, 5))
            path.chmod(0o755 if path.is_dir() else 0o644)
        start.commit(two)
    finally:
        os.umask(before)
    assert head(one) == head(two)
    assert listing(one / ".git") == listing(two / ".git")
    assert head(committed(tmp_path / "three", {**files, "d1/1": "other\n"})) != head(one)


def test_a_commit_over_an_earlier_one_is_the_first_again(tmp_path):
    root = committed(tmp_path / "w", {"a": "a\n"})
    first = listing(root / ".git")
    git(root, "remote", "add", "origin", "https://example.org/x")
    git(root, "-c", "user.name=x", "-c", "user.email=x", "commit", "--allow-empty", "-mSecond")
    start.commit(root)
    assert listing(root / ".git") == first


def test_a_link_in_the_place_of_the_repository_is_not_followed(tmp_path):
    outside = write(tmp_path / "outside", {"d/precious": "p"})
    for path in (outside, outside / "d"):
        path.chmod(0o751)
    before = listing(outside)
    start.commit(write(tmp_path / "w", {"a": "a\n", ".git": outside}))
    assert listing(outside) == before
    assert not (tmp_path / "w/.git").is_symlink()
    assert git(tmp_path / "w", "ls-files") == "a"


HOSTILE_CONFIG = """
[user]
    name = Somebody
    email = some@body
    signingKey = none
[commit]
    gpgSign = true
    template = /nonexistent
[gpg]
    program = {touch}
[core]
    autocrlf = true
    excludesFile = {home}/ignore
    attributesFile = {home}/attributes
    hooksPath = {home}/hooks
    fsmonitor = {touch}
    logAllRefUpdates = always
    editor = {touch}
[credential]
    helper = {touch}
[init]
    templateDir = {home}/template
    defaultBranch = other
    defaultObjectFormat = sha256
[filter "shout"]
    clean = tr a-z A-Z
    required = true
"""


def test_neither_configuration_nor_environment_plays_a_part(tmp_path, monkeypatch):
    files = {"a": "a\r\n", "b.txt": "b\n", ".gitattributes": "*.txt filter=shout\n"}
    plain = committed(tmp_path / "plain", files)
    home = tmp_path / "home"
    touch = home / "touch"
    hook = f"#!/bin/sh\ntouch {tmp_path}/called\n"
    names = ("post-index-change", "pre-commit", "reference-transaction", "post-commit")
    write(home, {f"{place}/{name}": hook for place in ("hooks", "template/hooks") for name in names})
    write(home, {"touch": hook, "ignore": "b.txt\n", "attributes": "* text\n", "template/description": "x"})
    write(home, {name: HOSTILE_CONFIG.format(home=home, touch=touch) for name in (".gitconfig", ".config/git/config")})
    for path in home.rglob("*"):
        path.chmod(0o755)
    environment = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "GIT_CONFIG_GLOBAL": home / ".gitconfig",
        "GIT_CONFIG_SYSTEM": home / ".gitconfig",
        "GIT_TEMPLATE_DIR": home / "template",
        "GIT_DIR": tmp_path / "elsewhere",
        "GIT_INDEX_FILE": tmp_path / "index",
        "GIT_OBJECT_DIRECTORY": tmp_path / "objects",
        "GIT_WORK_TREE": tmp_path,
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_COMMITTER_DATE": "2011-11-11T11:11:11",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Somebody",
        "TZ": "Asia/Tokyo",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, str(value))
    root = committed(tmp_path / "w", files)
    monkeypatch.undo()
    assert listing(root) == listing(plain)
    assert not (tmp_path / "called").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"plain", "home", "w"}


def test_files_on_disk_are_left_as_they_are(tmp_path):
    files = {
        ".gitattributes": "*.txt text eol=lf\n*.bat text eol=crlf\n*.c ident\n*.big filter=lfs diff=lfs -text\n*.z export-ignore\n",
        "a.txt": "one\r\ntwo\r\n",
        "b.bat": "one\ntwo\n",
        "c.c": "$Id: something$\n",
        "d.big": "big\0" * 100,
        "e.z": "z",
        "mixed": b"a\r\nb\nc\r",
    }
    root = write(tmp_path / "w", files)
    (root / "mixed").chmod(0o755)
    before = listing(root, times=True)
    start.commit(root)
    after = listing(root, times=True)
    assert {p: x for p, x in after.items() if not p.startswith(b".git/") and p not in (b".", b".git")} == {
        p: x for p, x in before.items() if p != b"."
    }
    assert git(root, "status", "--porcelain") == ""
    assert "d.big" in git(root, "ls-files")
    assert git(root, "cat-file", "-p", "HEAD:d.big") == "big\0" * 100


def test_ignored_files_stay_and_are_not_tracked(tmp_path):
    root = committed(
        tmp_path / "w", {".gitignore": "*.log\nnode_modules/\n", "a.log": "l", "node_modules/x/y": "y", "a": "a"}
    )
    assert git(root, "ls-files").split() == [".gitignore", "a"]
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "status", "--porcelain", "--ignored").split() == ["!!", "a.log", "!!", "node_modules/"]
    assert (root / "node_modules/x/y").read_text() == "y"


def test_an_empty_folder_gets_a_commit_too(tmp_path):
    root = committed(tmp_path / "w", {})
    assert git(root, "log", "--all", "--format=%s") == "Start"
    assert git(root, "ls-tree", "HEAD") == git(root, "status", "--porcelain") == git(root, "fsck") == ""
    assert [path.name for path in root.iterdir()] == [".git"]


def test_odd_names_are_committed(tmp_path):
    root = committed(tmp_path / "w", {os.fsdecode(name): name for name in ODD})
    listed = git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    assert {os.fsencode(name) for name in listed if name} == set(ODD)
    assert git(root, "status", "--porcelain") == ""


def test_a_repository_further_up_is_left_alone(tmp_path):
    outer = committed(tmp_path / "outer", {"a": "a\n", ".gitignore": "w\n"})
    before = listing(outer / ".git")
    committed(outer / "w", {"b": "b\n"})
    assert listing(outer / ".git") == before
    assert git(outer / "w", "ls-files") == "b"


def test_the_objects_lie_in_one_pack(tmp_path):
    root = committed(tmp_path / "w", {f"{n}": f"{n}" for n in range(300)})
    assert len(list((root / ".git").rglob("*"))) < 20


@pytest.mark.root
def test_a_folder_of_somebody_else_is_committed(tmp_path):
    root = write(tmp_path / "w", {"a": "a\n"})
    os.chown(root, 12345, 12345)
    start.commit(root)
    assert (root / ".git" / "refs/heads/main").is_file()


def test_without_git_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"^Evals with starting files need git, .*: apt install git$"):
        start.commit(tmp_path)


def test_what_git_refuses_is_a_sentence(tmp_path):
    root = write(tmp_path / "w", {"a": "a\n"})
    git(write(root / "sub", {"b": "b\n"}), "init", "--quiet")
    with pytest.raises(UserError, match=r"^git add does not take the starting files: .*sub/.*does not have a commit"):
        start.commit(root)


# -- copied


def prepared(tmp_path, count):
    """A committed folder of at least so many files, with everything that a copy could get wrong."""
    root = write(tmp_path / "prepared", {f"d{n % 5}/{n}": f"{n}\n" for n in range(count)})
    write(root, {os.fsdecode(name): name for name in ODD})
    write(root, {"run.sh": "#!/bin/sh\n", "out": Path("/etc/passwd"), "up": Path(".."), "gone": Path("nowhere")})
    write(root, {"large": os.urandom((2 << 20) + 17), "closed/f": "f", "one": "1"})
    start.commit(root)
    os.link(root / "one", root / "closed/two")
    (root / "empty").mkdir()
    os.mkfifo(root / "pipe", 0o640)
    (root / "run.sh").chmod(0o4755)
    os.utime(root / "run.sh", ns=(1_000_000_001, 2_000_000_002))
    os.utime(root / "out", ns=(3_000_000_003, 4_000_000_004), follow_symlinks=False)
    (root / "closed").chmod(0o555)
    root.chmod(0o750)
    return root


def other_cp(tmp_path, text):
    """A PATH with git, and with a `cp` that is this script, if any."""
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in ("git", "rm", "sh", "mkdir"):
        (bin / name).symlink_to(shutil.which(name) or "")
    if text:
        (bin / "cp").write_text("#!/bin/sh\n" + text)
        (bin / "cp").chmod(0o755)
    return str(bin)


BUSYBOX = "echo \"cp: unrecognized option '--preserve=mode,timestamps'\" >&2; exit 1\n"
HALF_WAY = 'for t; do :; done; mkdir -p "$t/closed/x"; echo half > "$t/one"; exec 2>&-; exit 1\n'


@pytest.mark.parametrize(
    ("count", "cp"),
    [(3, "own"), (300, "own"), (300, BUSYBOX), (300, HALF_WAY), (300, "")],
    ids=["few", "many", "busybox", "failed half-way", "no cp"],
)
def test_a_copy_is_as_its_source_and_shares_nothing_with_it(tmp_path, monkeypatch, count, cp):
    source, target = prepared(tmp_path, count), tmp_path / "run"
    target.mkdir(mode=0o700)
    before = listing(source, times=True)
    if cp == "own" and count > start.FEW:
        monkeypatch.delattr(start, "_copy_inside")
    elif cp != "own":
        monkeypatch.setenv("PATH", other_cp(tmp_path, cp))
    start.copy(source, target)
    monkeypatch.undo()
    assert listing(target, times=True) == before
    for path in target.rglob("*"):
        info = path.lstat()
        assert stat.S_ISDIR(info.st_mode) or info.st_nlink == 1, path
        assert stat.S_ISLNK(info.st_mode) or not path.samefile(source / path.relative_to(target))
    for path in target.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o600)
            path.write_bytes(b"overwritten")
    assert listing(source, times=True) == before


@pytest.mark.parametrize("count", [3, 300])
def test_a_copy_is_the_same_commit_and_clean(tmp_path, count):
    source = committed(tmp_path / "prepared", {f"{n}": f"{n}\n" for n in range(count)})
    target = tmp_path / "run"
    target.mkdir()
    start.copy(source, target)
    assert head(target) == head(source)
    assert git(target, "status", "--porcelain") == git(target, "fsck") == ""
    (target / "1").write_text("changed\n")
    git(target, "-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "-amNext")
    assert git(target, "log", "--format=%s").split() == ["Next", "Start"]
    assert git(source, "log", "--format=%s") == "Start"


@pytest.mark.parametrize("count", [3, 300])
def test_a_copy_that_cannot_be_made_is_an_error_of_the_disk(tmp_path, count):
    source = write(tmp_path / "prepared", {f"{n}": f"{n}" for n in range(count)})
    (tmp_path / "run").write_text("not a folder")
    with pytest.raises(NotADirectoryError):
        start.copy(source, tmp_path / "run")
    assert (tmp_path / "run").read_text() == "not a folder"


# -- what a scan of a copy sees


SIZE = 8192


def rewrite(root):
    (root / "a").write_bytes(b"x" * SIZE)


def truncate_and_rewrite(root):
    os.truncate(root / "a", 0)
    rewrite(root)


def write_one_byte_in_place(root):
    fd = os.open(root / "a", os.O_RDWR)
    os.pwrite(fd, b"!", SIZE // 2)
    os.close(fd)


def write_through_a_mapping(root):
    with open(root / "a", "r+b") as file, mmap.mmap(file.fileno(), SIZE) as mapped:
        assert mapped[0] == ord("a")
        mapped[0] = ord("!")


def write_through_a_link(root):
    os.link(root / "a", root.parent / "outside")
    (root.parent / "outside").write_bytes(b"x" * SIZE)
    os.unlink(root.parent / "outside")


def swap(root):
    (root / "a").rename(root / "t")
    (root / "b").rename(root / "a")
    (root / "t").rename(root / "b")


def swap_folders(root):
    (root / "d").rename(root / "t")
    (root / "e").rename(root / "d")
    (root / "t").rename(root / "e")


def hard_link(root):
    (root / "a").unlink()
    os.link(root / "b", root / "a")


def symlink(root):
    (root / "a").unlink()
    (root / "a").symlink_to("b")


def chmod(root):
    (root / "a").chmod(0o600)


def folder(root):
    (root / "a").unlink()
    (root / "a").mkdir()


def replaced(root):
    (root / "t").write_bytes(b"x" * SIZE)
    (root / "t").rename(root / "a")


def exchange_extents(root):
    """ext4's way to defragment: the other file loses its bytes to this one, and no time changes."""
    (root.parent / "t").write_bytes(b"x" * SIZE)
    own, other = os.open(root.parent / "t", os.O_RDWR), os.open(root / "a", os.O_RDWR)
    try:
        forget(own, other)
        move = struct.pack("IIQQQQ", 0, other, 0, 0, SIZE // 4096, 0)
        fcntl.ioctl(own, 3 << 30 | len(move) << 16 | ord("f") << 8 | 15, move)
        forget(own, other)
    except OSError as error:
        pytest.skip(f"not on this file system: {error}")
    finally:
        os.close(own)
        os.close(other)
    if (root / "a").read_bytes() == b"a" * SIZE:
        pytest.skip("the kernel kept the bytes")


def forget(*fds):
    for fd in fds:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


WAYS = {
    rewrite: ["a"],
    truncate_and_rewrite: ["a"],
    write_one_byte_in_place: ["a"],
    write_through_a_mapping: ["a"],
    write_through_a_link: ["a"],
    swap: ["a", "b"],
    swap_folders: ["d/f", "e/f"],
    hard_link: ["a"],
    symlink: ["a"],
    chmod: ["a"],
    folder: ["a"],
    replaced: ["a"],
    exchange_extents: ["a"],
}


@pytest.fixture(params=["disk", "memory"])
def place(request, tmp_path):
    """A folder on the disk, and one on a tmpfs, where a write through a mapping changes no time."""
    if request.param == "disk":
        yield tmp_path
        return
    root = Path("/dev/shm") / f"orvl-test-{os.getpid()}-{tmp_path.name}"
    try:
        root.mkdir()
    except OSError as error:
        pytest.skip(f"there is no tmpfs: {error}")
    yield root
    shutil.rmtree(root)


def scanned(root, store):
    with store.batch() as batch:
        return tree.scan(root, batch.put_fd, TreeLimits())[0]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_change_is_seen_however_it_was_made(place, way):
    files = {"a": b"a" * SIZE, "b": b"b" * SIZE, "d/f": b"d" * SIZE, "e/f": b"e" * SIZE}
    source, run, store = committed(place / "prepared", files), place / "run", FolderBlobs(place / "blobs")
    run.mkdir()
    start.copy(source, run)
    before = scanned(source, store)
    assert scanned(run, store) == before
    assert diff.changes(before, scanned(run, store)) == []
    times = {path: path.lstat() for path in run.rglob("*")}
    way(run)
    for path, info in times.items():
        if path.lstat().st_mtime_ns != info.st_mtime_ns:
            os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns), follow_symlinks=False)
    after = scanned(run, store)
    assert [change.path for change in diff.changes(before, after)] == WAYS[way]
    for entry in after:
        if entry.kind == "file":
            assert store.get(entry.hash) == (run / entry.path).read_bytes()
            assert entry.mode == stat.S_IMODE((run / entry.path).stat().st_mode)


def test_a_scan_leaves_no_trace(tmp_path):
    root = write(tmp_path / "w", {"a": "a", "d/b": "b"})
    (root / "a").chmod(0o444)
    (root / "d").chmod(0o700)
    before = {path: (path.lstat().st_mode, path.lstat().st_ctime_ns) for path in root.rglob("*")}
    tree.scan(root, tree.hash_of, TreeLimits())
    assert {path: (path.lstat().st_mode, path.lstat().st_ctime_ns) for path in root.rglob("*")} == before


# -- the repository is no part of what was made


def test_the_diff_leaves_out_repositories_at_any_depth():
    paths = [".git", ".git/HEAD", "sub/.git", "sub/.git/hooks/x", "link/.git"]
    shown = [".gitignore", ".github/w", "a.git/x", "sub/x.git", "sub/git"]
    rows = [Entry(path, "file", 0o644, 2, "x") for path in (*paths, *shown)]
    assert [change.path for change in diff.changes([], rows)] == sorted(shown)
    assert [change.path for change in diff.changes(rows, [])] == sorted(shown)
    text = diff.unified(rows, [], lambda key: b"x\n")
    assert [line for line in text.splitlines() if line.startswith("---")] == [f"--- a/{path}" for path in sorted(shown)]


def test_an_agents_commit_is_kept_and_not_in_the_diff(tmp_path):
    source, run, store = (
        committed(tmp_path / "prepared", {"a": "a\n"}),
        tmp_path / "run",
        FolderBlobs(tmp_path / "blobs"),
    )
    run.mkdir()
    start.copy(source, run)
    write(run, {"a": "b\n"})
    git(run, "-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "-amNext")
    after = scanned(run, store)
    text = diff.unified(scanned(source, store), after, store.get)
    assert text == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"
    assert ".git/logs/HEAD" in {entry.path for entry in after}


def test_a_repository_does_not_count_for_an_evals_digest(tmp_path):
    root = write(tmp_path / "w", {"a": "a", "d/b": "b"})
    digest = tree.digest(root)
    write(root, {".git/HEAD": "x", "d/.git": "gitdir: x", "__pycache__/a.pyc": "x"})
    os.mkfifo(root / ".git/pipe")
    assert tree.digest(root) == digest
    write(root, {".gitignore": "x"})
    assert tree.digest(root) != digest


def test_the_start_tree_is_what_runs_get(tmp_path):
    own = write(tmp_path / "workspace", {"a": "a\n", ".git/HEAD": "x", "__pycache__/a.pyc": "x"})
    one, store, ready = SimpleNamespace(part=lambda name: own), FolderBlobs(tmp_path / "blobs"), tmp_path / "prepared"
    ready.mkdir()
    start.lay_out(own, ready)
    start.commit(ready)
    write(ready, {"__pycache__/made-by-setup.pyc": "x"})
    with store.batch() as batch:
        plain, full = manifest_of(one, batch), manifest_of(one, batch, ready)
    assert [entry.path for entry in tree.decode(store.get(plain))] == ["a"]
    assert tree.decode(store.get(full)) == scanned(ready, store)

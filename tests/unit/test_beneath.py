"""Folders that somebody else has written: nothing outside is ever touched, and nothing hangs or fails."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from orvl.store import tree
from orvl.store.beneath import leads_outside, put, remove, replacing, stays_inside
from orvl.store.tree import TreeLimits


def as_ordinary_user(work, folder):
    """What work gives, done by somebody whom modes bind, who owns the folder."""
    if os.geteuid():
        return work()
    os.chown(folder, 65534, 65534)
    ready, told = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setgid(65534)
            os.setuid(65534)
            os.write(told, repr(work()).encode()[:60_000])
        except BaseException as error:  # noqa: BLE001 - it is the parent's to judge
            os.write(told, repr(error).encode())
        finally:
            os._exit(0)
    os.close(told)
    with open(ready, "rb") as file:
        text = file.read().decode()
    os.waitpid(pid, 0)
    return eval(text, {"Entry": tree.Entry})


@pytest.fixture
def anybodys(tmp_path):
    """A folder that an ordinary user can reach."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="orvl-beneath-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    remove(folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", ".", "..", "a//b", "a/", "./a", "a\0b"])
def test_a_name_that_leads_out_is_no_name(tmp_path, name):
    assert not stays_inside(name)
    with pytest.raises(OSError, match="leads out"):
        put(tmp_path, name, b"x")


def test_what_is_put_replaces_links_and_follows_none(tmp_path):
    outside, root = tmp_path / "outside", tmp_path / "root"
    (outside / "d").mkdir(parents=True)
    (outside / "file").write_text("mine")
    root.mkdir()
    (root / "link").symlink_to(outside / "file")
    (root / "d").symlink_to(outside / "d")
    (root / "deep").mkdir()
    (root / "deep/x").symlink_to("/")
    os.link(outside / "file", root / "hard")
    for name in ("link", "d/new", "deep/x/tmp/orvl-was-here", "hard"):
        put(root, name, b"theirs", 0o600)
        assert (root / name).read_bytes() == b"theirs"
    assert (outside / "file").read_text() == "mine"
    assert not list((outside / "d").iterdir())
    assert not Path("/tmp/orvl-was-here").exists()


def test_a_file_is_replaced_not_written_through_a_link(tmp_path):
    (tmp_path / "mine").write_text("mine")
    for name in ("out.csv", "out.csv.part"):
        (tmp_path / name).symlink_to(tmp_path / "mine")
    with replacing(tmp_path / "out.csv") as out:
        out.write(b"rows")
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "out.csv").read_bytes() == b"rows"
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "half") as out:
        out.write(b"x" * (1 // 0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "out.csv", "out.csv.part"]


def test_links_that_lead_outside_are_told_from_those_that_do_not(tmp_path):
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    links = {"d/up": "..", "d/x": "../d/gone", "out": "..", "round": "../root/d", "by": "d/up/..", "far": "/usr"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    outside = [name for name in links if leads_outside(root / name, root)]
    assert outside == ["out", "by", "far"]


# -- removing


def deep(root, levels, names=("a" * 200,)):
    """Folders in folders, far deeper than a path can say; the last holds a file."""
    fd = os.open(root, os.O_RDONLY)
    for level in range(levels):
        name = names[level % len(names)]
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)


def test_a_folder_deeper_than_any_path_is_removed(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    deep(root, 3000, ("x", "y" * 255))
    remove(root)
    assert not root.exists()


def test_what_links_lead_to_outlives_the_folder(tmp_path):
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder in (outside / "d", root / "d/e"):
        folder.mkdir(parents=True)
    (outside / "d/file").write_text("mine")
    (root / "d/e/away").symlink_to(outside)
    (root / "away").symlink_to(outside / "d")
    (root / ".orvl-1").mkdir()
    os.mkfifo(root / "d/pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(root / "d/socket"))
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("x")
    remove(root)
    assert not os.path.lexists(root)
    assert (outside / "d/file").read_text() == "mine"
    link = tmp_path / "link"
    link.symlink_to(outside)
    remove(link)
    assert not os.path.lexists(link)
    assert (outside / "d/file").exists()


def test_a_folder_without_permissions_is_removed_by_its_owner(anybodys):
    def work():
        root = anybodys / "root"
        (root / "a/b/c/d").mkdir(parents=True)
        (root / "a/b/c/d/f").write_text("x")
        for folder, mode in (("a/b/c/d", 0), ("a/b/c", 0o400), ("a/b", 0o100), ("a", 0o200), (".", 0)):
            (root / folder).chmod(mode)
        remove(root)
        return root.exists()

    assert as_ordinary_user(work, anybodys) is False


def test_a_link_that_is_swapped_in_while_a_folder_is_removed_leads_nowhere(tmp_path):
    """Somebody exchanges a folder for a link outside as fast as possible; what lies outside stays."""
    outside = tmp_path / "outside"
    (outside / "d").mkdir(parents=True)
    (outside / "d/file").write_text("mine")
    stop = threading.Event()
    root = tmp_path / "root"

    def swap():
        while not stop.is_set():
            try:
                os.rename(root / "d", root / "was")
                os.symlink(outside / "d", root / "d")
                os.unlink(root / "d")
                os.rename(root / "was", root / "d")
            except OSError:
                pass

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(60):
            root.mkdir(exist_ok=True)
            with suppress(FileExistsError):
                (root / "d").mkdir()
            for number in range(20):
                (root / f"d{number}").mkdir(exist_ok=True)
            tree.scan(root, tree.hash_of, TreeLimits())
            remove(root)
    finally:
        stop.set()
        swapping.join()
    assert (outside / "d/file").read_text() == "mine"


# -- looking


def test_whatever_modes_an_agent_leaves_all_of_it_is_captured(anybodys):
    """Folders that can be listed and not entered, entered and not listed, or neither."""

    def work():
        root = anybodys / "root"
        for mode in (0, 0o100, 0o200, 0o400, 0o500):
            folder = root / f"{mode:03o}"
            (folder / "in").mkdir(parents=True)
            (folder / "in/f").write_text("text")
            (folder / "in/f").chmod(0)
            (folder / "in").chmod(mode)
            folder.chmod(mode)
        entries, notes = tree.scan(root, tree.hash_of, TreeLimits())
        again = tree.scan(root, tree.hash_of, TreeLimits())[0]
        kept = sorted(entry.path for entry in entries if entry.hash)
        return kept, notes, entries == again, oct(root.joinpath("000").stat().st_mode & 0o777)

    kept, notes, is_same, mode = as_ordinary_user(work, anybodys)
    assert kept == [f"{mode:03o}/in/f" for mode in (0, 0o100, 0o200, 0o400, 0o500)]
    assert (notes, is_same, mode) == ([], True, "0o0")


def test_what_is_no_file_is_named_and_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "socket"))
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    entries, notes = tree.scan(tmp_path, tree.hash_of, TreeLimits(file_bytes=1 << 20))
    assert {entry.path: entry.kind for entry in entries} == {
        "pipe": "pipe",
        "socket": "socket",
        "sparse": "file",
        "\udcff": "file",
    }
    assert next(entry for entry in entries if entry.path == "sparse").cut == "too large"
    assert len(notes) == 1


def test_a_very_deep_folder_is_captured_as_far_as_it_goes(tmp_path, request):
    # pytest itself stumbles over such a folder when it cleans up.
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", tmp_path], check=True))
    deep(tmp_path, 1000)
    entries, notes = tree.scan(tmp_path, tree.hash_of, TreeLimits())
    assert len(entries) == tree.MAX_DEPTH + 1
    assert entries[-1].cut == "too deep"
    assert len(notes) == 1


def test_the_disk_is_measured_in_the_folder_only(tmp_path):
    """A folder that is exchanged for a link while it is measured is not looked into."""
    from orvl.sandbox.guard.limits import disk_use

    outside, root = tmp_path / "outside", tmp_path / "root"
    (outside / "x").mkdir(parents=True)
    (outside / "x/large").write_bytes(bytes(8 << 20))
    (root / "d/x").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.rename(root / "d", root / "was")
            os.symlink(outside, root / "d")
            os.unlink(root / "d")
            os.rename(root / "was", root / "d")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        assert max(disk_use([str(root)], 1 << 40)[0] for _ in range(2000)) < 1 << 20
    finally:
        stop.set()
        swapping.join()

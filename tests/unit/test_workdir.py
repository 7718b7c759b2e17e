"""The folders that runs live in: which of them stay until a command ends, and that none stays longer."""

from __future__ import annotations

import os

import pytest

from orvl.sandbox import workdir
from orvl.sandbox.workdir import WorkDir


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return WorkDir()


def leaves_a_file(folders):
    (folders.workspace / "a").touch()


def leaves_a_hidden_folder(folders):
    (folders.home / ".config").mkdir()


def leaves_a_link(folders):
    os.symlink("/nowhere", folders.tmp / "a")


def leaves_output(folders):
    (folders.root / "1.out").touch()


def removes_its_workspace(folders):
    folders.workspace.rmdir()


def puts_a_link_in_its_place(folders):
    folders.home.rmdir()
    os.symlink(folders.tmp, folders.home)


def puts_a_file_in_its_place(folders):
    folders.tmp.rmdir()
    folders.tmp.touch()


def renames_its_home(folders):
    folders.home.rename(folders.root / "other")


@pytest.mark.parametrize(
    "change",
    [
        leaves_a_file,
        leaves_a_hidden_folder,
        leaves_a_link,
        leaves_output,
        removes_its_workspace,
        puts_a_link_in_its_place,
        puts_a_file_in_its_place,
        renames_its_home,
    ],
)
def test_folders_of_a_run_that_left_anything_do_not_stay(work, change):
    folders = work.new()
    change(folders)
    assert not work.keeps(folders)
    folders.remove()
    assert not os.path.lexists(folders.root)
    work.close()


def test_empty_folders_stay_until_the_end_and_nobody_gets_them_again(work):
    first = work.new()
    assert work.keeps(first)
    second = work.new()
    assert second.root != first.root
    leaves_a_file(second)
    work.close()
    assert not work.root.exists()


def test_no_more_than_a_bounded_number_stays(work, monkeypatch, tmp_path):
    monkeypatch.setattr(workdir, "MOST_KEPT", 3)
    other = WorkDir()
    assert [other.keeps(other.new()) for _ in range(5)] == [True, True, True, False, False]
    other.close()
    monkeypatch.setattr(workdir, "free_bytes", lambda _: 2 * workdir.ROOM_PER_KEPT)
    small = WorkDir()
    assert [small.keeps(small.new()) for _ in range(3)] == [True, True, False]
    small.close()
    work.close()
    assert os.listdir(tmp_path / f"orvl-{os.getuid()}") == []

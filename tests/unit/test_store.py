"""The store: migrated, refused, damaged, full, read-only, shared; nothing that was finished is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
import zstandard

from helpers.user_project import BOUND_BY_MODES, blob_keys
from orvl.errors import StoreError
from orvl.store import ANY_EPISODE, database
from orvl.store.folder import FolderBlobs
from orvl.store.schema import MIGRATIONS
from orvl.store.sqlite import SqliteStore
from orvl.types import Attempt, Layout, PlannedRun, Usage

SANDBOX = "none"


def call(project, *words, ordinary=False, env=None, timeout=60):
    result = project.orvl(*words, env=env, timeout=timeout, prefix=BOUND_BY_MODES if ordinary else ())
    assert "Traceback" not in result.err, result.err[-3000:]
    return result


@pytest.fixture(scope="module")
def template():
    """Where the first `filled` keeps a copy for the others."""
    with TemporaryDirectory(prefix="orvl-test-") as folder:
        yield Path(folder, "project")


@pytest.fixture
def filled(small, template):
    """A project whose store holds three runs."""
    if template.exists():
        shutil.copytree(template, small.root, dirs_exist_ok=True)
        return small
    result = call(small, "writer", "--eval=one", "--episodes=3", "--json")
    assert result.json["ratings"][0]["runs"]["rated"] == 3
    shutil.copytree(small.root, template)
    return small


@pytest.fixture
def tmpfs(tmp_path):
    """Makes small disks; they are gone after the test."""
    if os.geteuid():
        pytest.skip("only root can mount a small disk")
    mounted = []

    def mount(name, size):
        place = tmp_path / name
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def db_file(project):
    return project.root / ".orvl" / "orvl.db"


def blob_of(project, content):
    """The file of the blob that holds these bytes."""
    store = FolderBlobs(project.root / ".orvl" / "blobs")
    return next(store.path(key) for key in blob_keys(project.root / ".orvl") if store.get(key) == content)


# -- migrations

NEXT = (*MIGRATIONS, "ALTER TABLE call ADD COLUMN note TEXT; CREATE TABLE later (id INTEGER PRIMARY KEY);")


def test_an_older_store_is_migrated_and_keeps_its_rows(filled):
    folder = db_file(filled).parent
    before = filled.rows("SELECT * FROM attempt")
    database.connect(folder, write=True, migrations=NEXT).close()
    assert filled.rows("PRAGMA user_version") == [(len(NEXT),)]
    assert filled.rows("SELECT count(*), count(note) FROM call") == [(1, 0)]
    assert filled.rows("SELECT * FROM attempt") == before


def test_reading_migrates_an_older_store(filled):
    folder = db_file(filled).parent
    connection = database.connect(folder, write=False, migrations=NEXT)
    assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
    connection.close()


def test_reading_does_not_migrate_under_the_hands_of_a_writer(filled, monkeypatch):
    monkeypatch.setattr(database, "MIGRATION_WAIT", 0.0)
    folder = db_file(filled).parent
    with SqliteStore(folder, write=True), pytest.raises(StoreError, match="writing to"):
        database.connect(folder, write=False, migrations=NEXT)
    assert filled.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]


def test_a_migration_that_breaks_leaves_the_store_as_it_was(filled):
    folder = db_file(filled).parent
    broken = (*MIGRATIONS, "CREATE TABLE later (id INTEGER); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(Exception, match="nowhere"):
        database.connect(folder, write=True, migrations=broken)
    assert filled.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert filled.rows("SELECT count(*) FROM sqlite_master WHERE name = 'later'") == [(0,)]
    assert call(filled, "report", "--json").json["ratings"][0]["runs"]["rated"] == 3


def test_two_that_migrate_at_once_do_it_once(tmp_path):
    slow = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000) SELECT count(*) FROM n;"
    database.connect(tmp_path, write=True).close()
    code = (
        "import sys; from pathlib import Path; from orvl.store import database; from orvl.store.schema import MIGRATIONS\n"
        "database.connect(Path(sys.argv[1]), write=True, migrations=(*MIGRATIONS, sys.argv[2])).close()\n"
    )
    script = f"CREATE TABLE later (id INTEGER); {slow}"
    words = [sys.executable, "-c", code, str(tmp_path), script]
    started = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate()[1] for process in started] == [b""] * 4


def test_a_newer_store_is_refused_by_every_command(filled):
    with closing(sqlite3.connect(db_file(filled))) as db, db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    for words in (
        ["writer", "--eval=one"],
        ["report"],
        ["score", "writer", "--eval=one"],
        ["gc"],
        ["show", "writer/one/1"],
        ["export", "runs", "runs.csv"],
    ):
        result = call(filled, *words)
        assert result.status == 2, words
        assert "was written by a newer orvl" in result.err
        assert result.err.count("\n") == 1
    assert call(filled, "doctor").status == 1
    assert filled.rows("SELECT count(*) FROM attempt") == [(3,)]
    assert filled.rows("PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]


# -- damage


def damage(path, how):
    data = bytearray(path.read_bytes())
    if how == "garbage":
        data[:] = os.urandom(len(data))
    elif how == "half":
        del data[len(data) // 2 :]
    elif how == "odd length":
        del data[5000:]
    elif how == "first page":
        data[100:4096] = b"\xff" * 3996
    elif how == "header":
        data[:16] = b"not a database\0\0"
    elif how == "all other pages":
        data[4096:] = os.urandom(len(data) - 4096)
    elif how == "empty":
        data.clear()
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["garbage", "half", "odd length", "first page", "header", "all other pages", "empty"])
def test_a_damaged_database_is_a_sentence(filled, how):
    for extra in filled.root.glob(".orvl/orvl.db-*"):
        extra.unlink()
    damage(db_file(filled), how)
    before = db_file(filled).read_bytes()
    for words in (["writer", "--eval=one", "--episodes=3"], ["report"]):
        result = call(filled, *words)
        assert result.status == 2, (words, result.out, result.err)
        assert "damaged" in result.err
        assert str(db_file(filled)) in result.err
    doctor = call(filled, "doctor")
    assert doctor.status == 1
    assert "damaged" in doctor.out
    assert call(filled, "gc").status == 2
    assert db_file(filled).read_bytes() == before
    assert len(list(filled.root.glob(".orvl/blobs/*/*.zst"))) >= 2


@pytest.mark.parametrize("page", range(2, 17, 2))
def test_a_damaged_page_never_makes_a_traceback_or_a_sound_report(filled, page):
    data = bytearray(db_file(filled).read_bytes())
    start = (page - 1) * 4096
    if start >= len(data):
        pytest.fail("the store has fewer pages than that")
    data[start : start + 4096] = bytes(byte ^ 0x5A for byte in data[start : start + 4096])
    db_file(filled).write_bytes(data)
    doctor = call(filled, "doctor")
    assert doctor.status == 1, doctor.out
    for words in (["report", "--json"], ["show", "writer/one/1"], ["export", "scores", "out.csv"]):
        assert call(filled, *words).status in (0, 2)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE attempt SET detail = '{'",
        "UPDATE attempt SET detail = CAST(x'ff22' AS TEXT)",
        "UPDATE attempt SET detail = '[]'",
        "UPDATE checked SET results = 'x'",
        "UPDATE card SET S = x'00'",
        "UPDATE attempt SET outcome = CAST(x'ff' AS TEXT)",
        "UPDATE score SET detail = '{'",
        "UPDATE cell SET prompts = '{'",
    ],
)
def test_damaged_values_are_sentences(filled, change):
    with closing(sqlite3.connect(db_file(filled))) as db, db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(change)
    for words in (
        ["report", "--json"],
        ["report", "--by=run"],
        ["show", "writer/one/1"],
        ["export", "scores", "out.csv"],
        ["gc"],
        ["score", "writer", "--eval=one"],
    ):
        assert call(filled, *words).status in (0, 1, 2)
    call(filled, "doctor")


def test_what_is_in_the_log_only_is_not_lost_where_nothing_can_be_written(filled, tmpfs):
    """A store whose last writer was killed, on a disk that is read-only now."""
    disk = tmpfs("disk", "8m")
    code = (
        "import sys, os, time; from pathlib import Path; from orvl.store.sqlite import SqliteStore\n"
        "s = SqliteStore(Path(sys.argv[1]), write=True)\n"
        "s.transaction([lambda s: s.db.execute(\"UPDATE cell SET agent = 'renamed'\")])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    shutil.copytree(db_file(filled).parent, disk / "store")
    subprocess.run([filled.command[0], "-c", code, str(disk / "store")], check=False)
    assert (disk / "store/orvl.db-wal").stat().st_size
    (disk / "store/orvl.db-shm").unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    result = call(filled, "report", "--json", f"--store={disk}/store")
    assert result.status == 2 or [row["agent"] for row in result.json["ratings"]] == ["renamed"]


# -- blobs


def test_integrity_is_empty_for_a_sound_store(filled):
    with SqliteStore(db_file(filled).parent, write=False) as store:
        assert store.integrity() == []
    result = call(filled, "doctor")
    assert result.status == 0
    assert "intact, 3 runs" in result.out


def lose(path):
    path.unlink()


def truncate(path):
    path.write_bytes(path.read_bytes()[:-3])


def empty(path):
    path.write_bytes(b"")


def exchange(path):
    path.write_bytes(zstandard.compress(b"something else"))


def scramble(path):
    data = bytearray(path.read_bytes())
    data[-2] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("hurt", [lose, truncate, empty, exchange, scramble])
def test_a_damaged_blob_is_seen_and_never_shown_as_the_file(filled, hurt):
    blob = blob_of(filled, b"Say hello.")
    hurt(blob)
    doctor = call(filled, "doctor")
    assert doctor.status == 1
    assert "is missing or damaged" in doctor.out
    result = call(filled, "show", "writer/one/1", "--file", "answer.txt")
    assert result.status == 2, result.out
    assert ("unpacks to more than the 10 bytes" if hurt is exchange else "missing or damaged") in result.err


@pytest.mark.parametrize("hurt", [lose, truncate, empty, exchange])
def test_a_damaged_manifest_is_a_sentence_and_gc_deletes_nothing(filled, hurt):
    key = filled.rows("SELECT tree FROM attempt")[0][0]
    hurt(FolderBlobs(filled.root / ".orvl/blobs").path(key))
    before = sorted(filled.root.glob(".orvl/blobs/*/*"))
    doctor = call(filled, "doctor")
    assert doctor.status == 1
    assert "missing or damaged" in doctor.out
    result = call(filled, "gc")
    assert result.status == 2, result.out
    assert sorted(filled.root.glob(".orvl/blobs/*/*")) == before
    assert call(filled, "show", "writer/one/1", "--diff").status == 2
    assert call(filled, "report", "--json").json["ratings"][0]["runs"]["rated"] == 3


def test_a_damaged_blob_is_written_again_by_the_next_run_that_has_it(filled):
    empty(blob_of(filled, b"Say hello."))
    assert call(filled, "writer", "--eval=one", "--episodes=4").status == 0
    assert call(filled, "show", "writer/one/4", "--file", "answer.txt").out == "Say hello."


def test_gc_deletes_what_nothing_refers_to_and_nothing_else(filled):
    store = FolderBlobs(filled.root / ".orvl/blobs")
    batch = store.batch()
    key = batch.put(b"nobody wants this")
    batch.sync()
    used = {path for path in store.folder.glob("*/*") if path != store.path(key)}
    half = store.path(key).with_suffix(".0011aabb.part")
    half.write_bytes(b"half")
    dry = call(filled, "gc", "--dry-run")
    assert dry.out.startswith("2 files")
    assert half.exists()
    result = call(filled, "gc")
    assert result.out.startswith("2 files")
    assert set(store.folder.glob("*/*")) == used
    assert call(filled, "gc").out.startswith("0 files")
    assert call(filled, "doctor").status == 0
    assert call(filled, "show", "writer/one/2", "--file", "answer.txt").out == "Say hello."


def test_gc_keeps_every_kind_of_thing_that_a_run_refers_to(project):
    project.agent(
        "talker",
        """
        models = {"none": ["m"]}
        def command(prompt): return ["sh", "-c", "echo out; echo err >&2; echo x > f; mkdir -p .git; echo g > .git/g"]
        def read(output): return {"steps": [{"said": output}]}
        """,
    )
    project.write("evals/one/eval.md", "---\nmetrics: {speed: 1}\n---\na\n---\nb\n")
    project.write("evals/one/workspace/start", "start")
    assert call(project, "talker", "--eval=one").status == 0
    before = sorted(project.root.glob(".orvl/blobs/*/*"))
    assert len(before) == 14
    assert call(project, "gc").out.startswith("0 files")
    assert sorted(project.root.glob(".orvl/blobs/*/*")) == before


def test_a_stray_file_among_the_blobs_is_no_traceback(filled):
    (filled.root / ".orvl/blobs/.DS_Store").write_text("x")
    assert call(filled, "gc").status in (0, 2)
    assert call(filled, "doctor").status in (0, 1)


# -- where nothing can be written


def test_a_read_only_folder_can_be_read_and_is_refused_for_writing(filled):
    folder = db_file(filled).parent
    for extra in folder.glob("orvl.db-*"):
        extra.unlink()
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        report = call(filled, "report", "--json", ordinary=True)
        assert report.status == 0, report.err
        assert report.json["ratings"][0]["runs"]["rated"] == 3
        assert call(filled, "show", "writer/one/1", "--file", "answer.txt", ordinary=True).out == "Say hello."
        assert call(filled, "writer", "--eval=one", "--dry-run", ordinary=True).status == 0
        for words in (["writer", "--eval=one", "--episodes=9"], ["score", "writer", "--eval=one"], ["gc"]):
            result = call(filled, *words, ordinary=True)
            assert result.status == 2
            assert "Cannot" in result.err
            assert str(folder) in result.err
        doctor = call(filled, "doctor", ordinary=True)
        assert doctor.status == 1
        assert "not writable" in doctor.out
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)


def test_nothing_left_to_do_is_shown_from_a_read_only_store(filled):
    folder = db_file(filled).parent
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    result = call(filled, "writer", "--eval=one", "--episodes=3", ordinary=True)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    assert result.status == 2
    assert result.err.count("\n") == 1


def test_a_read_only_disk_is_a_sentence(filled, tmpfs):
    disk = tmpfs("disk", "8m")
    shutil.copytree(db_file(filled).parent, disk / "store")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    result = call(filled, "writer", "--eval=one", "--episodes=9", f"--store={disk}/store")
    assert result.status == 2
    assert "read-only file system" in result.err
    result = call(filled, "writer", "--eval=one", f"--store={disk}/new")
    assert result.status == 2
    assert "Choose another folder: --store DIR" in result.err
    assert call(filled, "report", "--json", f"--store={disk}/store").json["ratings"][0]["runs"]["rated"] == 3


@pytest.mark.parametrize("place", ["a file", "a link to nowhere", "/proc/nothing", "database is a folder"])
def test_a_store_that_cannot_be_one_is_a_sentence(small, place):
    path = small.root / "there"
    if place == "a file":
        path.write_text("x")
    elif place == "a link to nowhere":
        path.symlink_to("/nowhere/at/all")
    elif place == "database is a folder":
        (path / "orvl.db").mkdir(parents=True)
    result = call(small, "writer", "--eval=one", f"--store={'/proc/nothing' if place.startswith('/') else path}")
    if place != "a link to nowhere":
        assert result.status == 2
        assert result.err.startswith(("orvl: Cannot create the store", "orvl: Cannot open or write the store"))


def test_a_temporary_folder_that_cannot_be_written_is_a_sentence(small, tmpfs):
    disk = tmpfs("disk", "1m")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for place in (disk, disk / "missing"):
        result = call(small, "writer", "--eval=one", env={"TMPDIR": str(place)})
        if result.status != 0:  # Python falls back on /tmp where TMPDIR cannot be used
            assert result.status == 2
            assert "TMPDIR" in result.err


# -- where there is no room


def test_a_full_disk_ends_with_a_sentence_and_keeps_what_was_finished(project, tmpfs):
    disk = tmpfs("disk", "4m")
    project.agent(
        "writer", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "head -c 300000 /dev/urandom > x"]\n'
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    words = ["writer", "--eval=one", "--episodes=30", "--concurrency=2", f"--store={disk}/store", "--json"]
    result = call(project, *words)
    assert result.status == 1
    assert "no space left" in result.err or "is full" in result.err
    assert "What was finished is safe" in result.err
    with closing(sqlite3.connect(f"file:{disk}/store/orvl.db?mode=ro", uri=True)) as db, db:
        done = db.execute("SELECT count(*) FROM attempt WHERE outcome = 'finished'").fetchone()[0]
    assert 3 <= done < 30
    assert not [path for base in project.tmp.glob("orvl-*") for path in base.iterdir()]
    again = call(project, *words)
    assert again.status == 1
    report = call(project, "report", "--json", f"--store={disk}/store")
    assert report.json["ratings"][0]["runs"]["rated"] >= done - 2
    subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)
    final = call(project, *words)
    assert final.status == 0, final.err
    assert final.json["ratings"][0]["runs"] == {"planned": 30, "rated": 30, "failed": 0, "errored": 0}
    with SqliteStore(disk / "store", write=False) as store:
        assert store.integrity() == []
        assert store.rows("SELECT count(*) FROM attempt WHERE outcome <> 'errored'") == [(30,)]


@pytest.mark.parametrize("size", ["8k", "64k", "160k"])
def test_a_disk_too_small_for_a_store_is_a_sentence(small, tmpfs, size):
    disk = tmpfs("disk", size)
    result = call(small, "writer", "--eval=one", f"--store={disk}/store")
    assert result.status in (1, 2)
    assert "full" in result.err or "no space left" in result.err
    assert result.err.strip().count("\n") <= 1


def test_a_full_temporary_folder_is_the_disks_fault_and_no_missing_program(project, tmpfs):
    disk = tmpfs("disk", "1m")
    project.agent(
        "writer", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "head -c 9000000 /dev/urandom"]\n'
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.toml("attempts = 1")
    result = call(project, "writer", "--eval=one", "--json", env={"TMPDIR": str(disk)})
    assert result.status == 1
    assert "errored" in result.err
    assert "the disk that runs live on was full (TMPDIR)" in result.err
    assert result.json["ratings"][0]["runs"] == {"planned": 1, "rated": 0, "failed": 0, "errored": 1}
    assert not list(disk.glob("orvl-*/w*"))


def test_an_agent_that_fills_the_temporary_disk_is_no_made_up_number(project, tmpfs):
    disk = tmpfs("disk", "4m")
    project.agent(
        "writer", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "head -c 9000000 /dev/urandom > x"]\n'
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    result = call(project, "writer", "--eval=one", "--json", env={"TMPDIR": str(disk)})
    assert result.status == 0
    assert result.json["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}
    assert not list(disk.glob("orvl-*/w*"))


# -- several at once


def test_two_with_stores_of_their_own_do_not_disturb_each_other(small):
    started = [
        subprocess.Popen(
            [*small.command, "writer", "--eval=one", "--episodes=20", f"--store=s{number}", "-q"],
            cwd=small.root,
            env=small.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(6)
    ]
    ended = [(process.communicate(timeout=300)[1], process.returncode) for process in started]
    assert [status for _, status in ended] == [0] * 6, ended
    for number in range(6):
        with SqliteStore(small.root / f"s{number}", write=False) as store:
            assert store.rows("SELECT count(*) FROM attempt") == [(20,)]


def test_folders_of_a_killed_orvl_are_swept_also_without_their_lock(small):
    base = small.tmp / f"orvl-{os.getuid()}"
    (base / "wdead").mkdir(parents=True, mode=0o700)
    base.chmod(0o700)
    (base / "wdead/owner.lock").touch()
    old = base / "wolder"
    old.mkdir()
    os.utime(old, (0, 0))
    assert call(small, "writer", "--eval=one").status == 0
    assert list(base.iterdir()) == []


# -- history


def test_scoring_again_keeps_every_sample(filled):
    before = filled.rows("SELECT * FROM score ORDER BY id")
    assert call(filled, "score", "writer", "--eval=one", "--fresh").status == 0
    assert call(filled, "score", "writer", "--eval=one", "--fresh").status == 0
    assert filled.rows("SELECT * FROM score ORDER BY id")[:3] == before
    assert filled.rows("SELECT sample, count(*) FROM score GROUP BY sample") == [(1, 3), (2, 3), (3, 3)]
    assert filled.rows("SELECT count(*) FROM attempt") == [(3,)]
    assert call(filled, "doctor").status == 0


def test_fresh_runs_stand_beside_the_old_ones(filled):
    before = filled.rows("SELECT * FROM attempt")
    result = call(filled, "writer", "--eval=one", "--fresh", "--json")
    assert result.json["ratings"][0]["runs"]["rated"] == 1
    assert filled.rows("SELECT * FROM attempt")[:3] == before
    assert filled.rows("SELECT episode FROM run ORDER BY episode") == [(1,), (2,), (3,), (4,)]


def test_text_that_is_not_unicode_is_stored_and_ends_nothing(project):
    project.agent(
        "odd",
        """
        models = {"none": ["m"]}
        def command(): return ["sh", "-c", "printf x > $(printf '\\\\377')"]
        def read(): return {"error": "bad \\udcff name", "session": "s\\udcff", "steps": [{"x": "\\udcff"}]}
        """,
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    result = call(project, "odd", "--eval=one", "--json")
    assert result.json["ratings"][0]["runs"]["failed"] == 1
    assert call(project, "show", "odd/one/1").status == 0
    assert call(project, "report").status == 0
    assert Path(project.root / ".orvl/orvl.db").exists()


def test_results_of_checks_from_the_first_version_are_kept(tmp_path):
    (tmp_path / "blobs").mkdir()
    db = database.connect(tmp_path, write=True, migrations=MIGRATIONS[:1])
    for statement in (
        "INSERT INTO call VALUES (1, 0, '0', '{}', 0)",
        "INSERT INTO cell VALUES (1, 'k', 'a', 'm', 'p', 'e', '', '[]')",
        "INSERT INTO run VALUES (1, 'r', 1, 1)",
        "INSERT INTO attempt (id, run, call, outcome, started, seconds, sandbox, detail) VALUES (1, 1, 1, 'finished', 0, 0, 'none', '{}')",
        "INSERT INTO checked VALUES (1, 'x', '[]'), (1, 'y', '[]')",
    ):
        db.execute(statement)
    db.close()
    with SqliteStore(tmp_path, write=False) as store:
        assert store.rows("SELECT attempt, key, results FROM checked ORDER BY key") == [(1, "x", "[]"), (1, "y", "[]")]
        assert store.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]


# -- summaries


def many_scored(folder, runs=1200):
    """A store whose writer has left summaries behind."""

    def work(store):
        call, layout, cell = store.add_call("all", 1), store.add_layout(LAYOUT), store.add_cell(CELL)
        for episode in range(1, runs + 1):
            planned = PlannedRun(f"run {episode}", CELL, episode)
            number = store.add_attempt(planned, cell, call, Attempt("finished", None, 1.0, Usage(0.5)), "")
            store.add_scores(number, cell, call, (), layout, struct.pack("<d", episode / runs))

    with SqliteStore(folder, write=True) as store:
        store.transaction([work])


CELL = SimpleNamespace(key="cell", names=("a", "m", "p", "e"), version="", eval=SimpleNamespace(prompts=("Go.",)))
LAYOUT = Layout("layout", (("", ""),), (("speed", "s"),), (False,))


def test_a_writer_leaves_summaries_that_say_the_same_as_what_they_sum_up(tmp_path):
    many_scored(tmp_path)
    with SqliteStore(tmp_path, write=False) as store:
        assert (
            store.rows("SELECT count(*) FROM cell_counts") == store.rows("SELECT count(*) FROM cell_tables") == [(1,)]
        )
        summed = store.cells(), store.counts(1, ANY_EPISODE), store.score_tables(LAYOUT, [1])
        assert store.integrity() == []
    with SqliteStore(tmp_path, write=True) as store:
        store.transaction(
            [lambda s: s.db.execute("DELETE FROM cell_counts"), lambda s: s.db.execute("DELETE FROM cell_tables")]
        )
        cells, counts, tables = store.cells(), store.counts(1, ANY_EPISODE), store.score_tables(LAYOUT, [1])
    assert (cells, counts) == summed[:2]
    assert tables.S.tobytes() == summed[2].S.tobytes() and (tables.attempts == summed[2].attempts).all()
    with SqliteStore(tmp_path, write=False) as store:
        assert store.rows("SELECT count(*) FROM cell_counts") == [(1,)], "what is lost is made again"


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("cell_counts", "content = '[1200, 7, 0, \"none\", {}]'"),
        ("cell_tables", "attempts = substr(attempts, 9), S = substr(S, 9)"),
    ],
)
def test_doctor_sees_a_summary_that_is_wrong(tmp_path, table, change):
    many_scored(tmp_path)
    with closing(sqlite3.connect(tmp_path / "orvl.db")) as db, db:
        db.execute(f"UPDATE {table} SET {change}")
    with SqliteStore(tmp_path, write=False) as store:
        (wrong,) = store.integrity()
        assert "the summary of cell 1" in wrong


def test_a_few_runs_get_no_summary(tmp_path):
    many_scored(tmp_path, 20)
    with SqliteStore(tmp_path, write=False) as store:
        assert (
            store.rows("SELECT count(*) FROM cell_counts") == store.rows("SELECT count(*) FROM cell_tables") == [(0,)]
        )
        assert store.counts(1, ANY_EPISODE)[1].carried_out == 20

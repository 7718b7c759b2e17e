"""A store that is damaged, or made by somebody who means harm: a sentence, no write outside it, never a wrong number."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from helpers.thinned import thinned
from helpers.user_project import UserProject, blob_keys
from orvl.store.folder import FolderBlobs
from orvl.store.schema import MIGRATIONS

MADE_ONCE = ("template",)
DEEP = "[" * 100_000
HUGE = "1" + "0" * 400
READING = (
    ["report", "--json"],
    ["report", "--by=run"],
    ["show", "writer/one/1"],
    ["doctor"],
)
FURTHER = (
    ["show", "writer/one/1", "--json"],
    ["show", "writer/one/1", "--diff"],
    ["export", "runs", "runs.csv"],
    ["export", "scores", "scores.jsonl"],
    ["export", "atif", "--output=out"],
    ["compare", "writer", "empty"],
    ["endpoints"],
    ["writer", "--eval=one", "--dry-run"],
    ["gc", "--dry-run"],
)
WRITING = (["score", "writer", "--eval=one"], ["writer", "--eval=one", "--episodes=3"])


@pytest.fixture(scope="module")
def template():
    """A project whose store holds four runs."""
    base = Path(tempfile.mkdtemp(prefix="orvl-hostile-"))
    project = UserProject(base / "project")
    project.agent(
        "writer",
        'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "echo hello > answer.txt; echo x"]\n',
    )
    project.write(
        "evals/one/eval.md",
        "---\nmetrics: {half: 1, checks: 1}\nchecks: [{name: c, run: test -s answer.txt}]\n---\nGo.\n",
    )
    project.write("evals/one/workspace/given", "given\n")
    project.score("half", "def score(run): return 0.5\n")
    result = project.orvl("writer,empty", "--eval=one", "--episodes=2", "--sandbox=none")
    assert result.status == 0, result.err
    with closing(sqlite3.connect(project.root / ".orvl/orvl.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    yield project.root
    shutil.rmtree(base)


@pytest.fixture
def hostile(project, template):
    project.sandbox = "none"
    shutil.rmtree(project.root)
    shutil.copytree(template, project.root, symlinks=True)
    return project


def db_of(project) -> Path:
    return project.root / ".orvl/orvl.db"


def change(project, *statements: str) -> None:
    with closing(sqlite3.connect(db_of(project))) as db, db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            db.execute(statement)


def call(project, *words: str, timeout: float = 120):
    """A call that ends well, or in one sentence."""
    result = project.orvl(*words, timeout=timeout)
    assert "Traceback" not in result.err, (words, result.err[-3000:])
    assert result.status in (0, 1, 2), (words, result)
    if result.status == 2:
        *progress, sentence = result.err.splitlines()
        assert sentence.startswith("orvl: ") and not any("orvl: " in line for line in progress), (words, result.err)
        assert not progress or words in map(tuple, WRITING), (words, result.err)
        assert len(sentence) < 1500, words
    assert "\x1b" not in result.out + result.err, words
    return result


def ratings(result) -> dict:
    rows = json.loads(result.out, parse_constant=lambda text: pytest.fail(text))["ratings"]
    return {row["agent"]: (row["R"], row["metrics"].get("half", {}).get("mean"), row["runs"]) for row in rows}


HALF = {
    agent: (R, 0.5, {"planned": 2, "rated": 2, "failed": 0, "errored": 0})
    for agent, R in (("writer", 0.75), ("empty", 0.25))
}


def test_the_template_is_sound(hostile):
    assert ratings(call(hostile, "report", "--json")) == HALF
    for words in (*READING, *FURTHER, *WRITING):
        assert call(hostile, *words).status == 0, words


# -- rows

VALUES = {
    "detail nested": f"UPDATE attempt SET detail = '{DEEP}'",
    "detail a number": "UPDATE attempt SET detail = '7'",
    "detail without turns": "UPDATE attempt SET detail = '{}'",
    "turns that are none": """UPDATE attempt SET detail = '{"turns": [7], "cut": []}'""",
    "turns with a strange field": """UPDATE attempt SET detail = '{"turns": [{"__class__": 1}], "cut": []}'""",
    "checks nested": f"UPDATE checked SET results = '{DEEP}'",
    "checks a huge number": f"UPDATE checked SET results = '{HUGE}'",
    "checks null": "UPDATE checked SET results = 'null'",
    "score above 1": "UPDATE score SET value = 2",
    "score infinite": "UPDATE score SET value = 9e999",
    "score text": "UPDATE score SET value = 'much'",
    "score a blob": "UPDATE score SET value = x'00'",
    "score detail nested": f"UPDATE score SET detail = '{DEEP}'",
    "table infinite": "UPDATE card SET S = x'000000000000f07f000000000000f07f'",
    "table above 1": "UPDATE card SET S = x'0000000000000040000000000000e03f'",
    "table below 0": "UPDATE card SET S = x'000000000000e0bf000000000000e03f'",
    "table too long": "UPDATE card SET S = zeroblob(24)",
    "table text": "UPDATE card SET S = 'sixteen letters!'",
    "seconds infinite": "UPDATE attempt SET seconds = 9e999",
    "seconds text": "UPDATE attempt SET seconds = 'long'",
    "seconds negative": "UPDATE attempt SET seconds = -5",
    "tokens huge": "UPDATE attempt SET input_tokens = 9223372036854775807",
    "tokens text": "UPDATE attempt SET output_tokens = 'many'",
    "cost infinite": "UPDATE attempt SET cost_usd = 9e999",
    "outcome a blob": "UPDATE attempt SET outcome = x'00ff'",
    "outcome unknown": "UPDATE attempt SET outcome = 'won'",
    "tree a path": "UPDATE attempt SET tree = '../../../../etc/passwd'",
    "tree a number": "UPDATE attempt SET tree = 7",
    "episode huge": "UPDATE run SET episode = 4611686018427387904 - id",
    "episode text": "UPDATE run SET episode = 'first' || id",
    "agent a blob": "UPDATE cell SET agent = x'ff00'",
    "prompts nested": f"UPDATE cell SET prompts = '{DEEP}'",
    "layout nested": f"UPDATE layout SET judges = '{DEEP}', metrics = '{DEEP}', judged = '{DEEP}'",
    "certificate nested": f"INSERT INTO trust (kind, made, content) VALUES ('certificate', 0, '{DEEP}')",
    "certificate a number": "INSERT INTO trust (kind, made, content) VALUES ('certificate', 0, '7')",
    "certificate empty": "INSERT INTO trust (kind, made, content) VALUES ('certificate', 0, '{}')",
    "summary nested": f"INSERT INTO cell_counts VALUES (1, 2, 2, '{DEEP}')",
    "dangling run": "UPDATE attempt SET run = run + 1000",
    "another key for an episode": "UPDATE run SET key = 'x' || key",
    "run that is not there": "UPDATE run SET id = id + 4611686018427387904",
    "key a blob": "UPDATE run SET key = CAST(key AS BLOB)",
    "started a blob": "UPDATE attempt SET started = x'00'",
    "started text": "UPDATE attempt SET started = 'early'",
    "started too late for a date": "UPDATE attempt SET started = 1e300",
    "started infinite": "UPDATE attempt SET started = 9e999",
    "start a blob": "UPDATE attempt SET start_tree = x'00ff'",
    "turn without time": """UPDATE attempt SET detail = json_set(detail, '$.turns[0].seconds', json('"long"'))""",
    "output that is a list": """UPDATE attempt SET detail = json_set(detail, '$.turns[0].stdout', json('[1]'))""",
    "record a mapping": """UPDATE attempt SET detail = json_set(detail, '$.record', json('{"a": 1}'))""",
    "told a list": """UPDATE attempt SET detail = json_set(detail, '$.told', json('[1]'))""",
    "told text": """UPDATE attempt SET detail = json_set(detail, '$.told', json('{"seconds": "x"}'))""",
    "refused a number": """UPDATE attempt SET detail = json_set(detail, '$.refused', json('7'))""",
    "cut numbers": """UPDATE attempt SET detail = json_set(detail, '$.cut', json('[1, 2]'))""",
    "check without a name": """UPDATE checked SET results = json_set(results, '$[0].name', json('7'))""",
    "check of a huge weight": f"""UPDATE checked SET results = json_set(results, '$[0].weight', json('{HUGE}'))""",
    "check with a list for its output": """UPDATE checked SET results = json_set(results, '$[0].output', json('[]'))""",
    "score detail a list": "UPDATE score SET detail = '[1]'",
    "verdict without items": """UPDATE score SET judge = 'j', detail = '{"items": true}'""",
    "verdict of a strange time": """UPDATE score SET judge = 'j', detail = '{"calls": 1, "seconds": {"a": 1}}'""",
    "score reason a blob": "UPDATE score SET reason = x'00', kind = 'error', value = NULL",
    "inspection a list": "INSERT INTO found (attempt, kind, key, results, pictures) SELECT id, 'page', 'k', tree, '[1]' FROM attempt",
    "inspection of numbers": """INSERT INTO found (attempt, kind, key, results, pictures)
        SELECT id, 'page', 'k', tree, '{"a": [1]}' FROM attempt""",
    "inspection of another kind": "INSERT INTO found (attempt, kind, key, results, pictures) SELECT id, 'lint', 'k', tree, '{}' FROM attempt",
}


@pytest.mark.parametrize("name", thinned(list(VALUES), every=4))
def test_a_damaged_value_is_a_sentence_and_never_a_wrong_number(hostile, name):
    change(hostile, VALUES[name])
    for words in READING:
        result = call(hostile, *words)
        if words == ["report", "--json"] and result.status == 0:
            for agent, (R, half, _) in ratings(result).items():
                assert R in (HALF[agent][0], None) and half in (0.5, None), (name, result.out)
    call(hostile, *WRITING[len(name) % 2])


@pytest.mark.nightly
@pytest.mark.parametrize("name", VALUES)
def test_a_damaged_value_and_every_other_command(hostile, name):
    change(hostile, VALUES[name])
    for words in (*FURTHER, *WRITING):
        call(hostile, *words)


def test_names_with_control_characters_do_not_reach_the_terminal(hostile):
    change(hostile, "UPDATE cell SET agent = 'w' || char(27) || ']0;owned' || char(7) || char(13) || char(10) || 'x'")
    change(hostile, "UPDATE attempt SET reason = char(27) || '[2J', outcome = 'failed'")
    for words in (["report"], ["report", "--by=run"], ["doctor"], ["endpoints"]):
        result = call(hostile, *words)
        assert "\x07" not in result.out + result.err
        assert "\x1b" not in result.out + result.err


# -- what was planted

PLANTED = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON score BEGIN UPDATE score SET value = 1; END",
    "trigger on a new table": "CREATE TABLE n (x); CREATE TRIGGER t AFTER INSERT ON n BEGIN DELETE FROM score; END",
    "view for a table": "ALTER TABLE score RENAME TO s2; CREATE VIEW score AS SELECT * FROM s2",
    "table without its rules": "ALTER TABLE label RENAME TO l2; CREATE TABLE label AS SELECT * FROM l2",
    "another column": "ALTER TABLE attempt ADD COLUMN x INTEGER DEFAULT 7",
    "index that forbids runs": "CREATE UNIQUE INDEX once ON attempt (outcome, run)",
    "index gone": "DROP INDEX carried_out_once",
    "table gone": "DROP TABLE label",
}


@pytest.mark.parametrize("name", thinned(list(PLANTED)))
def test_what_was_planted_in_the_database_is_refused(hostile, name):
    change(hostile, *PLANTED[name].split("; ") if "BEGIN" not in PLANTED[name] else _split_trigger(PLANTED[name]))
    before = db_of(hostile).read_bytes()
    for words in (["report"], ["writer", "--eval=one", "--episodes=3"], ["gc"]):
        result = call(hostile, *words)
        assert result.status == 2, (words, result.out)
        assert "is damaged" in result.err
        assert str(db_of(hostile)) in result.err
    assert call(hostile, "doctor").status == 1
    assert db_of(hostile).read_bytes() == before


def _split_trigger(text: str) -> list[str]:
    table, found, trigger = text.partition("CREATE TRIGGER")
    return [*(part for part in table.split("; ") if part), found + trigger]


def test_a_users_own_view_is_left_alone(hostile):
    change(hostile, "CREATE VIEW mine AS SELECT agent FROM cell", "CREATE TABLE notes (text TEXT)")
    assert ratings(call(hostile, "report", "--json")) == HALF


def test_the_rules_of_a_table_that_orvl_did_not_make_are_not_followed(hostile):
    """A row of it takes a second to check, and as much memory as SQLite gives."""
    change(hostile, "CREATE TABLE notes (text TEXT)", "CREATE INDEX slow ON notes (length(text))")
    change(
        hostile,
        "INSERT INTO notes VALUES " + ", ".join(["('x')"] * 300),
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, '(text)', '(hex(zeroblob(200000000)) || text)') WHERE name = 'slow'",
    )
    assert call(hostile, "doctor", timeout=60).status == 0


def test_a_database_of_another_program_is_refused(hostile):
    db_of(hostile).unlink()
    with closing(sqlite3.connect(db_of(hostile))) as db, db:
        db.execute("CREATE TABLE run (id INTEGER, secret TEXT)")
        db.execute("INSERT INTO run VALUES (1, 'x')")
    for words in (["report"], ["writer", "--eval=one"]):
        assert call(hostile, *words).status == 2
    with closing(sqlite3.connect(db_of(hostile))) as db, db:
        assert db.execute("SELECT * FROM run").fetchall() == [(1, "x")]


@pytest.mark.parametrize("version", [len(MIGRATIONS) + 1, 2**31 - 1, -1])
def test_a_version_that_this_orvl_does_not_know_is_refused(hostile, version):
    change(hostile, f"PRAGMA user_version = {version}")
    for words in (["report"], ["writer", "--eval=one"], ["gc"]):
        assert call(hostile, *words).status == 2


# -- what leads out of the store


def hot_journal(db: Path, names: Path | None) -> bytes:
    """A journal as a crash leaves it; of a transaction over several databases it names the file that lists them."""
    magic = bytes.fromhex("d9d505f920a163d7")
    page = int.from_bytes(db.read_bytes()[16:18], "big")
    head = magic + struct.pack(">IIIII", 0, 1, db.stat().st_size // page, 512, page)
    name = os.fsencode(names) if names else b""
    tail = struct.pack(">I", (0x40000000 // page) + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    return head.ljust(512, b"\0") + (tail if names else b"")


def test_a_journal_that_names_a_file_of_the_user_deletes_nothing(hostile, outside):
    journal = Path(f"{db_of(hostile)}-journal")
    for words in (["report"], ["gc"], ["doctor"], *WRITING):
        journal.write_bytes(hot_journal(db_of(hostile), outside / "precious"))
        result = call(hostile, *words)
        assert result.status, words
        assert "names a file of another database" in result.err + result.out
    journal.unlink()
    assert ratings(call(hostile, "report", "--json")) == HALF


def test_a_journal_that_a_crash_left_is_rolled_back_by_whoever_comes_first(hostile):
    Path(f"{db_of(hostile)}-journal").write_bytes(hot_journal(db_of(hostile), None))
    assert ratings(call(hostile, "report", "--json")) == HALF
    assert call(hostile, "doctor").status == 0


@pytest.fixture
def outside(tmp_path):
    """What belongs to the user, and how it looks."""
    folder = tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    (folder / "precious").write_text("precious")
    (folder / "sub/precious").write_text("precious")
    yield folder
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) == [
        "precious",
        "sub",
        "sub/precious",
    ]
    assert (folder / "precious").read_text() == (folder / "sub/precious").read_text() == "precious"


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("blobs/ab", "sub"),
        ("blobs/ab", "."),
        ("blobs", "."),
        ("starts", "."),
        ("lock", "precious"),
        (".gitignore", "new"),
        ("orvl.db-wal", "new"),
        ("orvl.db-journal", "precious"),
        ("orvl.db-shm", "new"),
        ("orvl.db", "precious"),
    ],
)
def test_a_store_that_leads_elsewhere_writes_and_deletes_nothing_there(hostile, outside, place, target):
    path = hostile.root / ".orvl" / place
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(outside / target)
    for words in (["gc"], ["writer", "--eval=one", "--episodes=3"], ["report"], ["doctor"]):
        result = call(hostile, *words)
        assert result.status, words
        assert f"{path} is a link" in result.err + result.out, words


def test_a_store_that_is_itself_a_link_works(hostile, tmp_path):
    (hostile.root / ".orvl").rename(tmp_path / "large-disk")
    (hostile.root / ".orvl").symlink_to(tmp_path / "large-disk")
    assert call(hostile, "writer", "--eval=one", "--episodes=3").status == 0
    assert call(hostile, "gc").status == 0


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_gc_takes_odd_things_among_the_blobs_as_they_are(hostile, outside, kind):
    blobs = hostile.root / ".orvl/blobs"
    folder = next(path for path in blobs.iterdir() if path.is_dir())
    odd = folder / f"{'0' * 62}.zst"
    if kind == "link":
        odd.symlink_to(outside / "precious")
    elif kind == "folder":
        odd.mkdir()
        (odd / "x").write_text("x")
    else:
        os.mkfifo(odd)
    assert call(hostile, "gc").status == 0
    assert call(hostile, "doctor").status == 0
    assert os.path.lexists(odd) == (kind == "folder")


@pytest.mark.parametrize("kind", ["pipe", "link to a device", "folder", "link to a file"])
def test_a_blob_that_is_no_file_is_damaged_and_nothing_waits_for_it(hostile, outside, kind):
    blobs = FolderBlobs(hostile.root / ".orvl/blobs")
    key = next(key for key in blob_keys(hostile.root / ".orvl") if blobs.get(key) == b"hello\n")
    path = blobs.path(key)
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "link to a device" else outside / "precious")
    began = time.monotonic()
    result = call(hostile, "show", "writer/one/1", "--file", "answer.txt")
    assert result.status == 2
    assert "missing or damaged" in result.err
    assert call(hostile, "doctor").status == 1
    assert time.monotonic() - began < 100
    if kind != "folder":
        assert call(hostile, "writer", "--eval=one", "--episodes=3").status == 0
        assert call(hostile, "show", "writer/one/1", "--file", "answer.txt").out == "hello\n", "it was written again"


@pytest.mark.parametrize("name", ["orvl.db", "lock"])
def test_a_pipe_in_the_place_of_a_file_stops_nothing_forever(hostile, name):
    path = hostile.root / ".orvl" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for words in (["writer", "--eval=one"], ["report"], ["gc"]):
        assert call(hostile, *words, timeout=60).status == 2


# -- a manifest that means harm


@pytest.mark.parametrize(
    "rows",
    [
        [["../../../outside/precious", "file", 420, 6, "KEY", None, None]],
        [["/etc/owned", "file", 420, 6, "KEY", None, None]],
        [["a", "link", 511, 0, None, "/etc", None], ["a/b", "file", 420, 6, "KEY", None, None]],
        [["a", "folder", 493, 0, None, None, None], ["a/../../x", "file", 420, 6, "KEY", None, None]],
        [["..", "folder", 493, 0, None, None, None]],
        [[7, "file", 420, 6, "KEY", None, None]],
        [["a", "file", "rwx", "big", 5, None, None]],
        [["a", "file", 420, 6, "../../etc/passwd", None, None]],
        [["a"]],
        {"a": 1},
    ],
    ids=str,
)
def test_a_manifest_that_means_harm_writes_nothing_outside(hostile, outside, rows):
    blobs = FolderBlobs(hostile.root / ".orvl/blobs")
    key = next(key for key in blob_keys(hostile.root / ".orvl") if blobs.get(key) == b"hello\n")
    with blobs.batch() as batch:
        manifest = batch.put(json.dumps(rows).replace("KEY", key).encode())
    change(
        hostile,
        f"UPDATE attempt SET tree = '{manifest}', start_tree = '{manifest}'",
        "DELETE FROM score",
        "DELETE FROM checked",
    )
    for words in (
        ["show", "writer/one/1"],
        ["show", "writer/one/1", "--diff"],
        ["score", "writer", "--eval=one"],
        ["doctor"],
        ["gc"],
    ):
        call(hostile, *words)
    assert not Path("/etc/owned").exists()


# -- where it cannot be written


@pytest.mark.root
def test_a_store_on_a_full_disk_is_a_sentence_in_every_command(hostile, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], check=True)
    try:
        shutil.copytree(hostile.root / ".orvl", disk / "store")
        call(hostile, "report", f"--store={disk}/store")
        filler = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT)
        with suppress(OSError):
            while True:
                os.write(filler, b"x" * 4096)
        os.close(filler)
        store = f"--store={disk}/store"
        for words in (["report", "--json"], ["show", "writer/one/1"], ["doctor"], ["gc"], *WRITING):
            result = call(hostile, *words, store)
            if words == ["report", "--json"] and result.status == 0:
                assert ratings(result) == HALF
        (disk / "filler").unlink()
        assert ratings(call(hostile, "report", "--json", store))["empty"] == HALF["empty"]
        assert "intact" in call(hostile, "doctor", store).out
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)

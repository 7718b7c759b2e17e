"""Evals and stores from somebody else are data: nothing in them writes, deletes or unpacks beyond its own folder."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from orvl.capture.browser.result import Look
from orvl.errors import StoreError
from orvl.project import open_project
from orvl.run.start_cache import unused
from orvl.store import tree
from orvl.store.folder import FolderBlobs
from orvl.store.tree import Entry, TreeLimits

HEAD = "---\nmetrics: {speed: 1}\n---\nGo on.\n"
MINE = "what the user wrote\n"


@pytest.fixture
def mine(project):
    """A file of the user's, outside the project."""
    path = project.root.parent / "home/notes.txt"
    path.parent.mkdir()
    path.write_text(MINE)
    yield path
    assert path.read_text() == MINE
    assert sorted(found.name for found in path.parent.iterdir()) == ["notes.txt"]


@pytest.fixture
def stored(project):
    """A project with one run in its store."""
    project.agent("writer", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "echo hi > answer"]\n')
    project.write("evals/e/eval.md", HEAD)
    project.write("evals/e/workspace/given", "x")
    assert project.orvl("writer", "--eval=e").status == 0
    return project


def change(project, sql, *values):
    with sqlite3.connect(project.root / ".orvl/orvl.db") as database:
        database.execute(sql, values)
    database.close()


def refused(result, *words):
    assert result.status == 2, result.out + result.err
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


# -- evals


LINKS = {
    "a part": ("workspace", None),
    "a part by another link": ("workspace", "round"),
    "hidden checks": ("checks", None),
    "a reference": ("reference", None),
    "controls": ("controls", None),
    "a control": ("controls/good", None),
    "bugs": ("controls/bugs", None),
    "a round trip": ("round-trip", None),
}
INNER = ["workspace/x", "workspace/d/x", "checks/x", "reference/x", "controls/good/x", "controls/bugs/1.patch"]


@pytest.mark.parametrize("kind", LINKS)
def test_a_part_of_an_eval_that_lies_elsewhere_is_refused(project, mine, kind):
    part, by = LINKS[kind]
    project.write("evals/e/eval.md", HEAD)
    place = project.root / "evals/e" / part
    place.parent.mkdir(exist_ok=True)
    target = mine.parent
    if by:
        target = project.root / "evals/e" / by
        target.symlink_to(mine.parent)
    place.symlink_to(target)
    refused(project.orvl("dummy-good", "--eval=e"), str(place), "out of the eval")


@pytest.mark.parametrize("place", INNER)
@pytest.mark.parametrize("target", ["{mine}", "{up}", "/etc", "/workspace/x", "d/../../../../e2/eval.md"])
def test_a_link_in_an_eval_that_leads_outside_is_refused(project, mine, place, target):
    project.write("evals/e/eval.md", HEAD)
    project.write("evals/e2/eval.md", HEAD)
    link = project.root / "evals/e" / place
    (link.parent / "d").mkdir(parents=True, exist_ok=True)
    link.symlink_to(target.format(mine=mine, up=os.path.relpath(mine, link.parent)))
    refused(project.orvl("dummy-good", "--eval=e"), str(link), "leads outside")


def test_an_eval_md_that_is_somebody_elses_file_is_no_prompt(project, mine):
    (project.root / "evals/e").mkdir(parents=True)
    (project.root / "evals/e/eval.md").symlink_to(mine)
    (project.root / "evals/lone.md").symlink_to(mine)
    for name, path in (("e", "evals/e/eval.md"), ("lone", "evals/lone.md")):
        result = project.orvl("dummy-good", f"--eval={name}")
        refused(result, str(project.root / path))
        assert MINE.strip() not in result.out + result.err


def test_links_that_stay_inside_are_fine(project):
    project.write("evals/e/eval.md", HEAD)
    project.write("evals/e/workspace/AGENTS.md", "Be good.\n")
    project.write("evals/e/controls/good/a", "A")
    (project.root / "evals/e/workspace/CLAUDE.md").symlink_to("AGENTS.md")
    (project.root / "evals/e/workspace/later").symlink_to("not/made/yet")
    (project.root / "evals/e/reference").symlink_to("controls/good")
    (project.root / "evals/linked").symlink_to("e")
    (project.root / "evals/round").symlink_to("round")
    assert project.orvl("dummy-good", "--eval=e").status == 0
    assert project.orvl("show", "dummy-good/e/1", "--file", "a").out == "A"


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none", None])
def test_a_control_is_laid_over_links_not_through_them(project, mine, sandbox):
    """The links are made by the eval's own setup, which is the last part that can make them."""
    flags = [f"--sandbox={sandbox}"] if sandbox else []
    setup = f"ln -s {mine} out; ln -s {mine.parent} d; mkdir in; ln -s {mine} in/out"
    project.write("evals/e/eval.md", f"---\nmetrics: {{speed: 1}}\nsetup: ['{setup}']\n---\nGo on.\n")
    for name in ("out", "d/notes.txt", "d/new.txt", "in/out"):
        project.write(f"evals/e/controls/good/{name}", "theirs\n")
    done = project.orvl("dummy-good", "--eval=e", *flags)
    assert done.status == 0, done.err
    for name in ("out", "d/notes.txt", "d/new.txt", "in/out"):
        assert project.orvl("show", "dummy-good/e/1", "--file", name).out == "theirs\n"


@pytest.mark.parametrize(
    "name", ["{mine}", "../../../../../../../../../../{mine}", "a/{mine}", "b/../../../{mine}", "good/../{mine}"]
)
@pytest.mark.parametrize("kind", ["new", "changed"])
def test_a_patch_writes_nothing_outside(project, mine, name, kind):
    name = name.format(mine=mine)
    project.write("evals/e/eval.md", HEAD)
    project.write("evals/e/controls/good/a.py", "x = 1\n")
    before = "/dev/null" if kind == "new" else "a/a.py"
    hunk = "@@ -0,0 +1 @@\n+theirs\n" if kind == "new" else "@@ -1 +1 @@\n-x = 1\n+theirs\n"
    project.write("evals/e/controls/bugs/1.patch", f"--- {before}\n+++ {name}\n{hunk}")
    result = project.orvl("certify", "--eval=e", "--episodes=1", "--dry-run")
    assert "1.patch" in result.out + result.err
    assert "Traceback" not in result.err


def bombs():
    """Front matter of a few KiB that stands for more than any machine can hold, or never ends."""
    nine = [f"&b{n} [{','.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 12)]
    laughs = f"[&b0 [{','.join('z' * 9)}], {', '.join(nine)}]"
    merges = [f"m{n}: &m{n} {{<<: [{','.join([f'*m{n - 1}'] * 9)}], k: 1}}" for n in range(1, 12)]
    keys = ("description", "checks", "par", "limits", "app", "steps", "setup", "network", "unknown")
    return {
        **{f"aliases in {key}": f"{key}: {laughs}" for key in keys},
        "merged aliases": "\n".join(["m0: &m0 {k: 1}", *merges]),
        "a list in itself": "steps: &a [*a]",
        "a mapping in itself": "par: &a {x: *a}",
        "depth that ends the process": "steps: " + "[" * 100_000,
        "depth": "par: " + "{a: " * 900 + "1" + "}" * 900,
        "a number of 6,000 digits": "par: {speed: 0x" + "f" * 5000 + "}",
        "a number of 6,000 digits for a text": "description: 0x" + "f" * 5000,
        "a number in base 60": "par: {speed: 1" + ":1" * 9000 + "}",
        "no key": "~: 1",
        "many values": "steps: [" + "a," * 60_000 + "]",
        "much": "description: " + "a" * (300 << 10),
    }


@pytest.mark.parametrize("name", bombs())
def test_front_matter_that_stands_for_too_much_is_a_sentence(project, name):
    project.write("evals/e/eval.md", f"---\nmetrics: {{speed: 1}}\n{bombs()[name]}\n---\nGo on.\n")
    result = project.orvl("empty", "--eval=e", timeout=60)
    refused(result, "evals/e/eval.md")
    assert len(result.err) < 1000


@pytest.mark.parametrize("kind", ["a pipe", "a link to a pipe", "3 GiB of nothing", "many turns"])
def test_an_eval_md_without_end_is_not_read(project, kind):
    place = project.write("evals/e/eval.md", HEAD)
    if kind == "many turns":
        place.write_text(HEAD + "---\nx\n" * 1000)
    elif kind == "3 GiB of nothing":
        os.truncate(place, 3 << 30)
    else:
        place.unlink()
        os.mkfifo(place if kind == "a pipe" else place.with_name("pipe"))
        if kind != "a pipe":
            place.symlink_to("pipe")
    refused(project.orvl("empty", "--eval=e", timeout=60), "evals/e/eval.md")


def test_aliases_within_reason_are_fine(project):
    head = "metrics: &w {speed: 1}\npar: {<<: *w}\nsetup: [&t 'true', *t]"
    project.write("evals/e/eval.md", f"---\n{head}\n---\nGo on.\n")
    loaded = open_project(project.root).eval("e")
    assert (loaded.par, loaded.setup) == ({"speed": 1.0}, ("true", "true"))


def test_a_control_of_gigabytes_that_take_no_room_is_not_read(project):
    project.write("evals/e/eval.md", HEAD)
    place = project.write("evals/e/controls/good/a.py", "x = 1\n")
    os.truncate(place, 200 << 20)
    refused(project.orvl("certify", "--eval=e", "--dry-run"), str(place), "more than 128 MiB")


# -- stores


def test_gc_deletes_nothing_outside_the_store(stored, mine):
    store = stored.root / ".orvl"
    (store / "blobs/zz").symlink_to(mine.parent)
    (store / "blobs/ab").is_dir() or (store / "blobs/ab").symlink_to(mine.parent)
    (store / "blobs/00").mkdir(exist_ok=True)
    (store / "blobs/00/readme.txt").write_text("x")
    tree.remove(store / "starts")
    (store / "starts").symlink_to(mine.parent)
    (mine.parent / ".ssh").mkdir()
    try:
        stored.orvl("gc")
        stored.orvl("writer", "--eval=e", "--fresh")
        assert (mine.parent / ".ssh").is_dir()
        assert unused(store, []) == []
    finally:
        for path in mine.parent.iterdir():
            if path != mine:
                tree.remove(path)
    assert (store / "blobs/00/readme.txt").exists()


@pytest.mark.parametrize("name", ["orvl.db", "blobs", "orvl.db-wal"])
def test_a_store_with_links_is_refused(stored, mine, name):
    place = stored.root / ".orvl" / name
    tree.remove(place)
    place.symlink_to(mine.parent if name == "blobs" else mine)
    refused(stored.orvl("report"), str(place), "is a link")
    refused(stored.orvl("writer", "--eval=e", "--fresh"), str(place), "is a link")


@pytest.mark.parametrize("key", ["../../home/notes.txt", "/tmp/x/y", "../home/a", ".", "a/b"])
def test_export_writes_no_file_outside_its_folder(stored, mine, key):
    change(stored, "UPDATE run SET key = ?", key)
    out = stored.root / "a/b"
    result = stored.orvl("export", "atif", "--output", str(out))
    refused(result, "key")
    assert not list(out.glob("**/*"))


def test_export_replaces_a_link_and_does_not_write_through_it(stored, mine):
    for name in ("runs.csv", "runs.csv.part"):
        (stored.root / name).symlink_to(mine)
    assert stored.orvl("export", "runs", "runs.csv").status == 0
    assert not (stored.root / "runs.csv").is_symlink()


def test_init_in_somebodys_folder_writes_through_no_link(project, mine):
    (project.root / ".orvl").mkdir()
    for name in (".orvl/.gitignore", ".orvl/orvl.schema.json", "orvl.toml"):
        (project.root / name).symlink_to(mine)
    (project.root / "agents").mkdir()
    (project.root / "agents/my_agent.py").symlink_to(mine.parent / "made")
    project.orvl("init")


@pytest.mark.parametrize("key", ["../../../home/notes.txt", "/etc/passwd", "ab", "", "G" * 64, "../" * 21 + "a"])
def test_a_blob_has_a_hash_for_a_name(tmp_path, key):
    blobs = FolderBlobs(tmp_path)
    for use in (blobs.get, blobs.path, blobs.has, blobs.verify):
        try:
            assert use(key) is False
        except StoreError as error:
            assert "not the name of a blob" in str(error)


def bomb(folder, size):
    """A blob of so many zeros under its right name."""
    hasher = hashlib.sha256()
    compressor = zstandard.ZstdCompressor(level=19).compressobj()
    packed = b""
    for _ in range(size >> 20):
        hasher.update(bytes(1 << 20))
        packed += compressor.compress(bytes(1 << 20))
    packed += compressor.flush()
    key = hasher.hexdigest()
    path = FolderBlobs(folder).path(key)
    path.parent.mkdir(parents=True)
    path.write_bytes(packed)
    assert len(packed) < size / 1000
    return key


def test_a_blob_that_unpacks_to_more_than_its_entry_says_is_not_unpacked(tmp_path):
    key = bomb(tmp_path / "blobs", 256 << 20)
    blobs = FolderBlobs(tmp_path / "blobs")
    (tmp_path / "again").mkdir()
    with pytest.raises(StoreError, match="unpacks to more"):
        tree.restore([Entry("f", "file", 0o644, 10, key)], tmp_path / "again", blobs.write_to)
    assert (tmp_path / "again/f").stat().st_size <= 4 << 20
    with pytest.raises(StoreError, match="unpacks to more"):
        blobs.get(key, 1 << 20)


def test_a_stored_bomb_ends_a_command_with_a_sentence(stored):
    key = bomb(stored.root / "elsewhere", 64 << 20)
    path = FolderBlobs(stored.root / "elsewhere").path(key)
    place = FolderBlobs(stored.root / ".orvl/blobs").path(key)
    place.parent.mkdir(exist_ok=True)
    path.rename(place)
    with FolderBlobs(stored.root / ".orvl/blobs").batch() as batch:
        manifest = batch.put(tree.encode([Entry("answer", "file", 0o644, 3, key)]))
    change(stored, "UPDATE attempt SET tree = ?", manifest)
    result = stored.orvl("show", "writer/e/1", "--file", "answer")
    assert result.status != 0
    assert "unpacks to more" in result.err
    assert len(result.out) < 1 << 20


def laid_down(store, content):
    """A blob with a name that is not its own hash."""
    key = hashlib.sha256(b"hi\n").hexdigest()
    place = FolderBlobs(store / "blobs").path(key)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return key


def test_a_bomb_in_the_place_of_a_blob_is_not_unpacked_to_look_at_it(tmp_path):
    """64 MiB here; it could be a year of work. What is put there is compared with no more than its own size."""
    key = bomb(tmp_path / "other", 64 << 20)
    laid_down(tmp_path, FolderBlobs(tmp_path / "other").path(key).read_bytes())
    blobs = FolderBlobs(tmp_path / "blobs")
    seen = 0

    def counted(*words):
        nonlocal seen
        for chunk in FolderBlobs.stream(blobs, *words):
            seen += len(chunk)
            yield chunk

    blobs.stream = counted
    with blobs.batch() as batch:
        key = batch.put(b"hi\n")
    assert seen <= 4 << 20
    assert blobs.get(key) == b"hi\n"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=words[0], marks=[] if words[0] == "--call" else pytest.mark.nightly)
        for words in [("--file", "answer"), ("--call", "1"), ("--output",), ("--diff",)]
    ],
)
def test_no_part_of_a_run_takes_all_memory(stored, words):
    """The blob is what its name, and its entry, say; but nobody can show a GiB."""
    key = bomb(stored.root / "elsewhere", 1 << 30)
    place = FolderBlobs(stored.root / ".orvl/blobs").path(key)
    place.parent.mkdir(exist_ok=True)
    FolderBlobs(stored.root / "elsewhere").path(key).rename(place)
    with FolderBlobs(stored.root / ".orvl/blobs").batch() as batch:
        manifest = batch.put(tree.encode([Entry("answer", "file", 0o644, 1 << 30, key)]))
    turn = json.dumps(key)
    change(stored, "UPDATE attempt SET tree = ?", manifest)
    for name in ("stdout", "stderr"):
        change(stored, f"UPDATE attempt SET detail = json_set(detail, '$.turns[0].{name}', json(?))", turn)
    change(stored, "UPDATE attempt SET detail = json_set(detail, '$.record', json(?))", turn)
    change(
        stored,
        "INSERT INTO model_call (attempt, number, turn, protocol, asked_model, started, stream, left, tries, seconds, "
        "waited, tool_calls, answers_back, reasoning_given, findings) "
        "VALUES (1, 1, 1, 'openai', 'm', 0, 0, 0, 1, 0, 0, 0, 0, 0, '[]')",
    )
    limited = ["prlimit", f"--as={3 << 29}"]
    result = stored.orvl("show", "writer/e/1", *words, prefix=limited, env={"OPENBLAS_NUM_THREADS": "1"})
    assert "MemoryError" not in result.err and "Traceback" not in result.err
    assert result.status == (0 if words == ("--diff",) else 2), result.err[-500:]
    assert len(result.out) < 1 << 20


@pytest.mark.parametrize(
    "entries",
    [
        [Entry("../x", "file", 0o644, 1, "k")],
        [Entry("/tmp/x", "file", 0o644, 1, "k")],
        [Entry("d", "link", 0o777, target="/tmp"), Entry("d/x", "file", 0o644, 1, "k")],
        [Entry("d", "folder", 0o755), Entry("d/../../x", "file", 0o644, 1, "k")],
        [Entry("d", "link", 0o777, target="/tmp"), Entry("d", "folder", 0o755)],
        [Entry("d", "link", 0o777, target="{mine}"), Entry("d", "file", 0o644, 1, "k")],
        [Entry("..", "folder", 0o755)],
    ],
)
def test_a_manifest_leads_nowhere_else(tmp_path, mine, entries):
    root = tmp_path / "root"
    root.mkdir()
    entries = [Entry(e.path, e.kind, e.mode, e.size, e.hash, e.target and e.target.format(mine=mine)) for e in entries]
    with pytest.raises(OSError, match=r"."):
        tree.restore(entries, root, lambda _key, fd, _size: os.write(fd, b"theirs") and None)
    assert not Path("/tmp/x").exists()


ROW = '["f{}","file",420,{},"{}",null,null]'


@pytest.mark.parametrize(
    "manifest",
    [
        b"[" + b"[]," * (2 << 20) + b"[]]",
        b"[" * (6 << 20),
        b"[[" + b"[]," * (2 << 20) + b"[]]]",
        b'[["a","file",420,' + b"1" * (6 << 20) + b",null,null,null]]",
        b'[["' + b"\\" * (6 << 20 | 1) + b'","file",420,1,null,null,null]]',
        b'[["a\\u0000b","file",420,1,null,null,null]]',
        b'[["a","link",511,0,null,"a\\u0000b",null]]',
        b'[["\\ud800","file",420,1,null,null,null]]',
        b'[["a","file",420,NaN,null,null,null]]',
        b'[["a","file",420,1,null,null,null],]',
        b'[["a","file",420,1,null,null,null]',
        b'[["a","file",-1,-1,null,null,null]]',
        b"{}",
        b"",
    ],
    ids=lambda manifest: repr(manifest[:20]),
)
def test_a_manifest_of_another_form_is_refused_and_takes_no_memory(manifest):
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match="is damaged") as refusal:
            tree.decode(manifest)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
    assert len(str(refusal.value)) < 500


@pytest.mark.nightly
def test_a_manifest_without_end_is_refused():
    rows = (ROW.format(number, 1, "a" * 64) for number in range(tree.MOST_ENTRIES + 1))
    with pytest.raises(StoreError, match="is damaged"):
        tree.decode(f"[{','.join(rows)}]".encode())


def test_a_tree_that_names_one_blob_again_and_again_is_not_laid_down(stored):
    """Each file alone is within what a blob may have; together they are more than any disk has."""
    key = bomb(stored.root / "elsewhere", 64 << 20)
    path = FolderBlobs(stored.root / "elsewhere").path(key)
    place = FolderBlobs(stored.root / ".orvl/blobs").path(key)
    place.parent.mkdir(exist_ok=True)
    path.rename(place)
    with FolderBlobs(stored.root / ".orvl/blobs").batch() as batch:
        manifest = batch.put(tree.encode([Entry(f"f{n}", "file", 0o644, 64 << 20, key) for n in range(100_000)]))
    change(stored, "UPDATE attempt SET tree = ?", manifest)
    change(stored, "DELETE FROM score")
    stored.score("path", "def score(run): return len(list(run.path.iterdir())) / 1e9\n")
    stored.write("evals/e/eval.md", "---\nmetrics: {path: 1}\nchecks: [{name: c, run: 'true'}]\n---\nGo on.\n")
    result = stored.orvl("score", "writer", "--eval=e")
    assert "Traceback" not in result.err
    assert "take 6250 GiB, and no more than 16 GiB are ever laid down" in result.err
    assert result.status


def test_the_names_of_few_files_can_be_long_and_are_bounded(tmp_path):
    """An agent's files have paths of 50 KB each; 50,000 of them would be gigabytes in orvl's own memory."""
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(150):
        os.mkdir("\x01" * 255, dir_fd=fd)
        inner = os.open("\x01" * 255, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    for number in range(300):
        os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    entries, notes = tree.scan(tmp_path, tree.hash_of, TreeLimits(files=4 << 10))
    assert notes == ["names of more than 4 MiB: the rest was left out"]
    assert len(tree.encode(entries)) < 5 << 20
    assert tree.decode(tree.encode(entries)) == entries
    tree.remove(tmp_path)


def test_a_manifest_makes_no_device_and_no_program_of_its_owner(tmp_path):
    entries = [
        Entry("device", "device", 0o666),
        Entry("pipe", "pipe", 0o666),
        Entry("su", "file", 0o6755, 0, "k"),
        Entry("d", "folder", 0o2777),
    ]
    tree.restore(entries, tmp_path, lambda *_: None)
    assert {path.name: path.stat().st_mode & 0o7777 for path in tmp_path.iterdir()} == {"su": 0o755, "d": 0o777}


@pytest.mark.parametrize("file", ["../../home/notes.txt", "/etc/x.png", "a/b.png", "", ".png"])
def test_a_stored_picture_has_a_plain_name(file):
    shot = {"name": "desktop-light", "file": file, "width": 1, "height": 1, "bytes": 1, "plain": False}
    data = {"status": "done", "reason": None, "shots": [shot]}
    with pytest.raises(StoreError, match="picture"):
        Look.from_json(json.loads(json.dumps(data)))


def test_a_pipe_in_the_place_of_a_blob_holds_nobody_up(tmp_path):
    blobs = FolderBlobs(tmp_path)
    key = hashlib.sha256(b"x").hexdigest()
    blobs.path(key).parent.mkdir()
    os.mkfifo(blobs.path(key))
    with pytest.raises(StoreError):
        blobs.get(key)


def test_the_built_in_evals_are_within_their_own_folders(tmp_path):
    project = open_project(tmp_path)
    for name, file in project.eval_files.items():
        if file.origin == "built-in":
            assert project.eval(name).prompts

"""Capture: a workspace is kept byte for byte, hostile or not; what was cut is said; it comes back as it was."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.user_project import BOUND_BY_MODES, blob_keys
from orvl.capture import diff
from orvl.store import tree
from orvl.store.folder import FolderBlobs
from orvl.store.tree import Entry, TreeLimits


def leave(project, code, *words, head="metrics: {speed: 1}", name="e", ordinary=False, more=""):
    """Runs an agent that is this Python code, and gives how orvl ended."""
    script = project.write("tool/agent.py", "import os, sys, pathlib\nW = os.fsencode(os.getcwd())\n" + code)
    project.agent("mine", f'models = {{"none": ["m"]}}\ndef command(): return [{sys.executable!r}, {str(script)!r}]\n')
    project.eval(name, f"---\n{head}\n---\nGo.\n{more}")
    return call(project, "mine", f"--eval={name}", *words, ordinary=ordinary)


def call(project, *words, ordinary=False):
    result = project.orvl(*words, prefix=BOUND_BY_MODES if ordinary else ())
    assert "Traceback" not in result.err, result.err
    return result


def blobs(project):
    return FolderBlobs(project.root / ".orvl" / "blobs")


def kept(project):
    """The entries of the newest attempt, by path."""
    manifest = project.rows("SELECT tree FROM attempt ORDER BY id DESC LIMIT 1")[0][0]
    return {entry.path: entry for entry in tree.decode(blobs(project).get(manifest))}


def cut(project):
    return call(project, "show", "mine/e/1", "--json").json["attempts"][-1]["cut"]


def shown(project, path):
    """A file's bytes, by the command line."""
    done = project.call("show", "mine/e/1", "--file", path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def left_over(project):
    return [path for base in project.tmp.glob("orvl-*") for path in base.iterdir()]


def outcome(project):
    return project.rows("SELECT outcome, reason FROM attempt ORDER BY id DESC LIMIT 1")[0]


def listing(root):
    """A folder as it lies on the disk: path, type, mode, bytes or target."""
    found = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = None
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(info.st_mode):
                content = Path(os.fsdecode(path)).read_bytes()
            found[os.path.relpath(path, os.fsencode(root))] = (
                stat.S_IFMT(info.st_mode),
                stat.S_IMODE(info.st_mode),
                content,
            )
    return found


# -- what is kept


def test_modes_are_kept(project):
    modes = [0o600, 0o644, 0o755, 0o444, 0o000, 0o4755, 0o2755, 0o1644, 0o7777]
    code = f"for m in {modes!r}:\n    p = f'f{{m:o}}'; open(p, 'w').write(p); os.chmod(p, m)\n"
    code += "os.makedirs('d/e'); os.chmod('d/e', 0o1777); os.chmod('d', 0o711)\n"
    assert leave(project, code).status == 0
    entries = kept(project)
    assert {f"f{mode:o}": mode for mode in modes} == {p: e.mode for p, e in entries.items() if p.startswith("f")}
    assert (entries["d"].mode, entries["d/e"].mode) == (0o711, 0o1777)
    assert shown(project, "f0") == b"f0"


def test_links_are_kept_and_not_followed(project):
    code = """
for name, to in {"root": "/", "dangling": "nowhere/at/all", "up": "../..", "self": "self", "abs": "/etc/passwd", "proc": "/proc/self"}.items():
    os.symlink(to, name)
os.symlink(b"bad\\xff\\xfe", "bytes")
os.mkdir("d"); os.symlink("..", "d/loop")
"""
    assert leave(project, code).status == 0
    entries = kept(project)
    assert {p: e.target for p, e in entries.items() if e.kind == "link"} == {
        "root": "/",
        "dangling": "nowhere/at/all",
        "up": "../..",
        "self": "self",
        "abs": "/etc/passwd",
        "proc": "/proc/self",
        "bytes": "bad\udcff\udcfe",
        "d/loop": "..",
    }
    assert len(entries) == 9
    assert b"root:" not in b"".join(blobs(project).get(key) for key in blob_keys(project.root / ".orvl"))


def test_odd_names_and_bytes_are_kept(project):
    names = [
        b"new\nline",
        b"\xff\xfe",
        "naïve ☃".encode(),
        b" ",
        b"-rf",
        b"a'b\"c$(x)",
        b"\x1b[31m",
        b"x" * 255,
        b"\\",
        b"*",
        b"tab\t",
    ]
    code = f"for n in {names!r}:\n    open(os.path.join(W, n), 'wb').write(b'<' + n + b'>')\n"
    code += "open('crlf', 'wb').write(b'a\\r\\nb\\r\\n\\r'); open('nul', 'wb').write(bytes(range(256))); open('zero', 'w')\n"
    assert leave(project, code).status == 0
    entries = kept(project)
    for name in names:
        assert shown(project, os.fsdecode(name)) == b"<" + name + b">"
        assert os.fsdecode(name) in entries
    assert shown(project, "crlf") == b"a\r\nb\r\n\r"
    assert shown(project, "nul") == bytes(range(256))
    assert shown(project, "zero") == b""
    assert call(project, "show", "mine/e/1").status == 0
    assert call(project, "show", "mine/e/1", "--diff").status == 0
    assert call(project, "show", "mine/e/1", "--json").json["attempts"]
    assert call(project, "doctor").status == 0


def test_empty_folders_and_nested_repositories_are_kept(project):
    code = """
import subprocess
os.makedirs("a/b/c")
for path in (".git", "sub/.git", "sub/deep/.git"):
    os.makedirs(path + "/refs/heads"); os.makedirs(path + "/hooks")
    open(path + "/HEAD", "w").write("ref: refs/heads/main\\n")
    open(path + "/hooks/post-checkout", "w").write("#!/bin/sh\\ntouch " + os.getcwd() + "/../../../pwned\\n")
    os.chmod(path + "/hooks/post-checkout", 0o755)
"""
    assert leave(project, code).status == 0
    entries = kept(project)
    assert [entries[path].kind for path in ("a/b/c", ".git/refs/heads", "sub/deep/.git/refs/heads")] == ["folder"] * 3
    assert shown(project, "sub/deep/.git/HEAD") == b"ref: refs/heads/main\n"
    assert entries["sub/.git/hooks/post-checkout"].mode == 0o755


def test_pipes_sockets_and_devices_are_named_and_never_opened(project):
    code = """
import socket
os.mkfifo("pipe", 0o640); socket.socket(socket.AF_UNIX).bind("socket")
if os.geteuid() == 0:
    os.mknod("null", 0o020666, os.makedev(1, 3)); os.mknod("zero", 0o020666, os.makedev(1, 5))
open("after", "w").write("ok")
"""
    assert leave(project, code, "--sandbox=none").status == 0
    entries = kept(project)
    assert {p: e.kind for p, e in entries.items()} == {
        "pipe": "pipe",
        "socket": "socket",
        "after": "file",
        **({} if os.geteuid() else {"null": "device", "zero": "device"}),
    }
    assert entries["pipe"].mode == 0o640
    assert "a pipe" in call(project, "show", "mine/e/1", "--diff").out
    assert not left_over(project)


def test_what_an_ordinary_user_may_not_read_is_kept_with_its_mode(project):
    code = """
os.makedirs("locked/inner/deep"); open("locked/inner/deep/f", "w").write("found")
open("secret", "w").write("secret")
for path, mode in (("locked/inner/deep/f", 0), ("locked/inner/deep", 0), ("locked/inner", 0o100), ("locked", 0), ("secret", 0o200)):
    os.chmod(path, mode)
"""
    result = leave(project, code, ordinary=True)
    assert result.status == 0, result.err
    entries = kept(project)
    assert shown(project, "locked/inner/deep/f") == b"found"
    assert shown(project, "secret") == b"secret"
    assert {p: e.mode for p, e in entries.items()} == {
        "locked": 0,
        "locked/inner": 0o100,
        "locked/inner/deep": 0,
        "locked/inner/deep/f": 0,
        "secret": 0o200,
    }
    assert not left_over(project)


def test_checks_see_the_modes_that_the_agent_left(project):
    code = "open('f', 'w').write('x'); os.chmod('f', 0); os.makedirs('d'); os.chmod('d', 0)\n"
    head = 'metrics: {checks: 1}\nchecks: [{name: m, run: \'test "$(stat -c %a f) $(stat -c %a d)" = "0 0"\'}]'
    result = leave(project, code, "--json", head=head, ordinary=True)
    assert result.json["ratings"][0]["metrics"]["checks"]["mean"] == 1.0


def test_locked_folders_in_home_are_cleaned_up(project):
    code = """
base = os.environ["HOME"] + "/a/b/c"
os.makedirs(base); open(base + "/f", "w")
for path in (base, os.path.dirname(base), os.path.dirname(os.path.dirname(base))):
    os.chmod(path, 0)
"""
    assert leave(project, code, ordinary=True).status == 0
    assert not left_over(project)


def test_the_users_own_files_keep_their_modes(project):
    project.write("evals/e/eval.md", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    locked = project.write("evals/e/checks/secret", "x")
    locked.chmod(0o200)
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    call(project, "mine", "--eval=e", ordinary=True)
    assert stat.S_IMODE(locked.stat().st_mode) == 0o200


# -- limits


def test_a_sparse_huge_file_is_not_read(project):
    code = "os.truncate(os.open('huge', os.O_CREAT | os.O_RDWR), 1 << 31); open('small', 'w').write('x')\n"
    assert leave(project, code).status == 0
    entries = kept(project)
    assert (entries["huge"].size, entries["huge"].hash, entries["huge"].cut) == (1 << 31, None, "too large")
    assert entries["small"].hash
    assert cut(project) == ["1 larger than 64 MiB: contents not kept"]
    assert "cut: 1 larger than 64 MiB" in call(project, "show", "mine/e/1").out
    assert "not kept" in call(project, "show", "mine/e/1", "--diff").out
    assert call(project, "show", "mine/e/1", "--file", "huge").status == 2


def test_a_file_of_exactly_the_limit_is_kept(project):
    project.toml("limits.file = 5\nlimits.capture = 9")
    code = """
for name, size in (("a", 5 << 20), ("b", (5 << 20) + 1), ("c", 4 << 20), ("d", 1), ("z", 0)):
    open(name, "wb").write(b"q" * size)
"""
    assert leave(project, code).status == 0
    entries = kept(project)
    assert {p: e.cut for p, e in entries.items()} == {
        "a": None,
        "b": "too large",
        "c": None,
        "d": "over the limit",
        "z": None,
    }
    assert cut(project) == ["1 larger than 5 MiB: contents not kept", "1 past 9 MiB in all: contents not kept"]
    assert shown(project, "a") == b"q" * (5 << 20)


@pytest.mark.nightly
def test_a_hundred_thousand_files_are_cut_and_the_run_is_rated(project):
    code = """
for i in range(100):
    os.mkdir(f"d{i:03}")
    for j in range(1000):
        os.close(os.open(f"d{i:03}/{j}", os.O_CREAT | os.O_WRONLY))
"""
    result = leave(project, code, "--json")
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}
    assert cut(project) == ["more than 50000 files and folders: the rest was left out"]
    assert len(kept(project)) == 50_000
    assert not left_over(project)


def test_what_lies_in_the_top_folder_is_not_pushed_out_by_a_heap_of_dependencies(project):
    project.toml("limits.files = 50")
    code = """
os.makedirs("node_modules/x"); os.makedirs("src")
for i in range(200):
    open(f"node_modules/x/{i}", "w")
open("package.json", "w").write("{}"); open("src/app.js", "w").write("1")
"""
    assert leave(project, code).status == 0
    assert {"package.json", "src/app.js"} <= set(kept(project))
    assert cut(project) == ["more than 50 files and folders: the rest was left out"]


def test_many_different_files_are_all_kept(project):
    code = "for i in range(600):\n    open(f'{i}', 'w').write(str(i))\n"
    assert leave(project, code).status == 0
    entries = kept(project)
    assert len(entries) == 600
    store = blobs(project)
    assert all(store.verify(entries[str(i)].hash) for i in range(0, 600, 37))
    assert not [path for path in store.folder.glob("*/*") if path.suffix != ".zst"]


def test_folders_too_deep_are_cut(project):
    code = """
for i in range(300):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w")
"""
    assert leave(project, code).status == 0
    entries = kept(project)
    deepest = max(entries.values(), key=lambda entry: len(entry.path))
    assert deepest.cut == "too deep"
    assert cut(project) == ["1 folders deeper than 200 levels: not looked into"]
    assert not left_over(project)


LONG_PATHS = "for i in range(30):\n    os.mkdir('n' * 200); os.chdir('n' * 200)\nopen('bottom', 'w').write('here')\n"


def test_paths_longer_than_the_system_allows_come_back(project):
    project.score("mine", "def score(run): return float(run.path.is_dir())\n")
    result = leave(project, LONG_PATHS, "--json", head="metrics: {mine: 1}")
    assert shown(project, "/".join(["n" * 200] * 30) + "/bottom") == b"here"
    assert result.json["warnings"] == []
    assert result.status == 0
    assert not left_over(project)


def test_paths_longer_than_the_system_allows_do_not_stop_checks_on_a_capture(project):
    assert leave(project, LONG_PATHS).status == 0
    project.eval("e", "---\nmetrics: {checks: 1}\nchecks: [{name: a, run: 'true'}]\n---\nGo.\n")
    result = call(project, "score", "mine", "--eval=e", "--json")
    assert result.json["ratings"][0]["metrics"]["checks"]["mean"] == 1.0
    assert result.status == 0


def test_deep_folders_of_many_runs_at_once_do_not_use_up_the_files_that_may_be_open(project):
    script = "for i in range(150):\n    os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w').write('here')\n"
    project.write("tool/agent.py", "import os, time\n" + script + "time.sleep(1)\n")
    project.agent(
        "mine", f'models = {{"none": ["m"]}}\ndef command(): return ["python3", "{project.root}/tool/agent.py"]\n'
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    words = [*project.command, "mine", "--sandbox=none", "--eval=e", "--episodes=16", "--concurrency=16", "--json"]
    done = subprocess.run(
        ["prlimit", "--nofile=1024:1024", *words], cwd=project.root, env=project.env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert project.rows("SELECT count(DISTINCT tree) FROM attempt") == [(1,)]
    assert cut(project) == []


# -- the agent and its own workspace


@pytest.mark.parametrize(
    "code",
    [
        "import shutil; shutil.rmtree(os.getcwd())",
        "import shutil; w = os.getcwd(); shutil.rmtree(w); open(w, 'w').write('file')",
        "import shutil; w = os.getcwd(); shutil.rmtree(w); os.symlink('/etc', w)",
        "import shutil; w = os.getcwd(); shutil.rmtree(w); os.mkfifo(w)",
        "import shutil; w = os.getcwd(); shutil.rmtree(w); os.symlink('/proc', w); import time; time.sleep(1)",
    ],
    ids=["removed", "a file", "a link", "a pipe", "a link to a place without room"],
)
@pytest.mark.parametrize("turns", [1, 2])
def test_an_agent_that_takes_its_workspace_away_is_rated_on_nothing(project, code, turns):
    script = (
        f"if not os.path.exists(os.environ['HOME'] + '/once'):\n    open(os.environ['HOME'] + '/once', 'w'); {code}\n"
    )
    result = leave(project, script, "--json", "--sandbox=none", more="---\nMore.\n" * (turns - 1))
    assert result.json["ratings"][0]["runs"]["rated"] == 1, result.err
    assert result.status == 0
    assert kept(project) == {}
    assert any("removed its own workspace" in note for note in cut(project)) or turns == 2
    assert "cannot run" not in result.err
    assert "/etc" not in call(project, "show", "mine/e/1", "--output").out.split()
    assert not left_over(project)


@pytest.mark.parametrize("turns", [1, 2])
def test_a_workspace_of_mode_000_is_kept(project, turns):
    code = "open('f', 'a').write('x'); os.chmod('.', 0)\n"
    result = leave(project, code, "--json", ordinary=True, more="---\nMore.\n" * (turns - 1))
    assert result.json["ratings"][0]["runs"]["rated"] == 1, result.err
    assert shown(project, "f") == b"x" * turns
    assert not left_over(project)


@pytest.mark.parametrize(
    "code",
    [
        "import shutil; shutil.rmtree('../logs'); print('hello')",
        "print('hello', flush=True); import shutil, time; time.sleep(0.3); shutil.rmtree('../logs')",
        "import shutil; shutil.rmtree('..')",
        "print('hello', flush=True); import time; time.sleep(0.3); os.remove('../logs/1.out'); os.mkfifo('../logs/1.out')",
    ],
    ids=["logs before printing", "logs after printing", "everything", "a pipe for a log"],
)
def test_an_agent_that_deletes_orvls_own_folders_harms_only_itself(project, code):
    project.agent("other", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "sleep 1; echo x > f"]\n')
    project.toml("attempts = 1")
    script = project.write("tool/agent.py", f"import os\n{code}\n")
    project.agent("mine", f'models = {{"none": ["m"]}}\ndef command(): return ["python3", {str(script)!r}]\n')
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    try:
        result = project.orvl("mine,other", "--eval=e", "--json", "--episodes=2", "--concurrency=2", timeout=90)
    except subprocess.TimeoutExpired:
        pytest.fail("orvl hangs")
    assert "Traceback" not in re.sub("and said: .*", "", result.err)
    assert "cannot run" not in result.err
    runs = {row["agent"]: row["runs"] for row in result.json["ratings"]}
    assert runs["other"] == {"planned": 2, "rated": 2, "failed": 0, "errored": 0}
    assert runs["mine"]["rated"] + runs["mine"]["errored"] == 2


def test_files_of_a_command_do_not_go_through_a_link_that_the_agent_left(project):
    target = project.root / "mine.txt"
    target.write_text("precious")
    project.agent(
        "mine",
        f"""
        from orvl import Command
        models = {{"none": ["m"]}}
        def command(): return Command(["sh", "-c", 'ln -sf "$1" ~/conf; cat ~/conf', "sh", {str(target)!r}], files={{"conf": "x"}})
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\na\n---\nb\n")
    call(project, "mine", "--eval=e")
    assert target.read_text() == "precious"


def test_a_file_where_a_command_needs_a_folder_ends_only_that_run(project):
    project.agent(
        "mine",
        """
        from orvl import Command
        models = {"none": ["m"]}
        def command(): return Command(["sh", "-c", "rm -rf ~/.config; touch ~/.config"], files={".config/x": "x"})
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\na\n---\nb\n")
    result = call(project, "mine", "--eval=e", "--json")
    assert sum(result.json["ratings"][0]["runs"][name] for name in ("rated", "errored")) == 1


# -- back again


def scanned(root, store):
    batch = store.batch()
    entries, notes = tree.scan(root, batch.put_fd, TreeLimits())
    batch.sync()
    assert not notes
    return entries


def test_a_tree_comes_back_as_it_was(tmp_path):
    root, again = tmp_path / "was", tmp_path / "again"
    for folder in ("a/b", "empty", ".git/objects", "locked"):
        (root / folder).mkdir(parents=True)
    (root / "a/b/crlf").write_bytes(b"x\r\n")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\n")).write_bytes(os.urandom(5 << 20))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "locked/f").write_text("f")
    (root / "locked/f").chmod(0)
    (root / "locked").chmod(0o555)
    (root / "a").chmod(0)
    os.symlink("/", root / "slash")
    os.symlink("gone", root / "dangling")
    store = FolderBlobs(tmp_path / "blobs")
    entries = tree.decode(tree.encode(scanned(root, store)))
    again.mkdir()
    tree.restore(entries, again, store.write_to)
    if os.geteuid() == 0:  # Others may not read what is locked.
        assert listing(again) == listing(root)
    assert tree.scan(again, tree.hash_of, TreeLimits())[0] == entries


def test_a_manifest_cannot_lead_out_of_the_folder_through_a_link(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "again").mkdir()
    store = FolderBlobs(tmp_path / "blobs")
    batch = store.batch()
    key = batch.put(b"x")
    batch.sync()
    entries = [Entry("d", "link", 0o777, target=str(tmp_path / "out")), Entry("d/f", "file", 0o644, 1, key)]
    with pytest.raises(OSError, match=r"."):
        tree.restore(entries, tmp_path / "again", store.write_to)
    assert not list((tmp_path / "out").iterdir())


def test_an_eval_starts_from_its_workspace_byte_for_byte(project):
    project.write("evals/e/eval.md", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    start = project.root / "evals/e/workspace"
    (start / "empty").mkdir(parents=True)
    Path(os.fsdecode(os.fsencode(start) + b"/\xff")).write_bytes(b"\r\n\0")
    (start / "x.sh").write_text("#!/bin/sh\n")
    (start / "x.sh").chmod(0o755)
    os.symlink("nowhere", start / "link")
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    assert call(project, "mine", "--eval=e").status == 0
    assert project.rows("SELECT tree = start_tree FROM attempt") == [(1,)]
    assert call(project, "show", "mine/e/1", "--diff").out.strip() == ""


def test_a_large_file_that_the_agent_did_not_touch_is_no_change(project):
    project.toml("limits.file = 1")
    project.write("evals/e/eval.md", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.write("evals/e/workspace/big", "x" * (2 << 20))
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    assert call(project, "mine", "--eval=e").status == 0
    assert "big" not in call(project, "show", "mine/e/1", "--diff").out


def test_a_pipe_in_an_evals_workspace_is_a_sentence(project):
    project.write("evals/e/eval.md", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    (project.root / "evals/e/workspace").mkdir()
    os.mkfifo(project.root / "evals/e/workspace/pipe")
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    result = call(project, "mine", "--eval=e")
    assert result.status == 0 or ("pipe" in result.err and "[(" not in result.err)


# -- the diff


def diffed(before, after):
    """The diff of two {path: bytes, or (kind, …)}."""
    contents = {}

    def entries(files):
        rows = []
        for path, content in files.items():
            mode = 0o644
            if isinstance(content, tuple):
                content, mode = content
            if isinstance(content, str):
                rows.append(Entry(path, "link", 0o777, target=content))
                continue
            key = f"{hash(content):x}"
            contents[key] = content
            rows.append(Entry(path, "file", mode, len(content), key))
        return rows

    return diff.unified(entries(before), entries(after), contents.__getitem__)


def test_the_diff_says_what_was_added_removed_and_changed():
    text = diffed({"old": b"1\n2\n", "same": b"s", "x": b"a\nb\nc\n"}, {"new": b"n\n", "same": b"s", "x": b"a\nB\nc\n"})
    assert text == (
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
        "--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n"
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )


def test_the_diff_says_modes_links_binaries_and_missing_newlines():
    assert "# mode 644 became 755\n" in diffed({"x": b"a"}, {"x": (b"a", 0o755)})
    both = diffed({"x": b"a\n"}, {"x": (b"b\n", 0o755)})
    assert "# mode 644 became 755\n" in both
    assert "-a\n+b\n" in both
    assert "--> a" in diffed({"x": "a"}, {"x": "b"})
    assert "# binary: 2 bytes became 3" in diffed({"x": b"\0a"}, {"x": b"\0ab"})
    assert "-a\n\\ No newline at end of file\n+a\n" in diffed({"x": b"a"}, {"x": b"a\n"})
    assert "-a\n+a\r\n" in diffed({"x": b"a\n"}, {"x": b"a\r\n"})


def test_the_diff_says_what_is_too_long():
    assert "too long to show" in diffed({}, {"x": b"x" * (600 << 10)})
    long = b"".join(b"%d\n" % i for i in range(6000))
    assert "6000 lines became 6001: too long to compare" in diffed({"x": long}, {"x": long + b"x\n"})
    text = diffed({}, {f"{i}": b"x\n" * 200_000 for i in range(20)})
    assert len(text) < 5 << 20
    assert "more changed files not shown: the diff is longer than 4 MiB" in text


def test_a_name_cannot_forge_lines_of_the_diff():
    text = diffed({}, {"x\n+++ b/tests.py\n@@ -1 +1 @@\n+all tests pass": b"y\n"})
    assert "\n+all tests pass" not in text
    assert "\n+++ b/tests.py" not in text


def test_empty_folders_and_their_modes_are_seen_in_the_changes():
    was, now = [Entry("d", "folder", 0o755)], [Entry("d", "folder", 0o700), Entry("e", "folder", 0o755)]
    assert [(change.path, change.kind) for change in diff.changes(was, now)] == [("d", "changed"), ("e", "added")]


def test_the_diff_of_repetitive_files_does_not_take_minutes():
    code = """
import random, sys, time
sys.path.insert(0, "unit")
from test_capture import diffed
draw = random.Random(1)
a, b = (b"".join(b"line %d\\n" % draw.randrange(110) for _ in range(5000)) for _ in range(2))
diffed({"x": a}, {"x": b})
"""
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], timeout=100, check=True)


def test_a_file_that_is_not_there_is_a_sentence(project):
    assert leave(project, "").status == 0
    result = call(project, "show", "mine/e/1", "--file", "nope")
    assert result.status == 2
    assert "left no file 'nope'" in result.err

"""The ladder of controls: what is derived works, or fails, as it says, when the evals' own checks look at it."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import orvl
from helpers.eval_checks import checked
from helpers.needs import need_program
from orvl.errors import FileError, UserError
from orvl.project import Project
from orvl.trust.controls import CONTROLS, make_controls, write
from orvl.trust.controls.control import ControlFiles
from orvl.trust.controls.reformatted import reformat
from orvl.trust.mutate.bugs import choose, plant
from orvl.trust.mutate.candidates import candidates
from orvl.trust.mutate.png import lines_as_png
from orvl.trust.mutate.syntax import is_sound

BUILT_IN = Path(orvl.__file__).parent / "evals"
WITHOUT_GOOD = {"empty", "master-key", "prompt-copy"}


def an_eval(root, name="small", good=None, bad=None, head="", prompt="Write `tool.py`.", **parts):
    """An eval of a project at `root`, with files by folder and path."""
    folder = root / "evals" / name
    folder.mkdir(parents=True)
    (folder / "eval.md").write_text(f"---\ndescription: x\n{head}---\n{prompt}\n")
    for part, files in {"controls/good": good, "controls/bad": bad, **parts}.items():
        for path, content in (files or {}).items():
            place = folder / part / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
    return Project(root).eval(name)


def without_patches(root, name):
    """A built-in eval as a user's own, without the bugs that were written for it by hand."""
    place = root / "evals" / name
    shutil.copytree(BUILT_IN / name, place, ignore=shutil.ignore_patterns("bugs", "__pycache__"))
    return Project(root).eval(name)


def failing(one, control, only=()):
    """The checks of an eval that a control fails."""
    folder = one.folder.parent / f"work-{one.name}-{control.name}"
    if one.part("workspace"):
        shutil.copytree(one.part("workspace"), folder)
    folder.mkdir(exist_ok=True)
    write(replace(control, by_turn=None), folder)
    names = [check.name for check in one.checks if not only or check.name in only]
    (results,) = checked(one, [folder], [names])
    return {name for name, result in results.items() if not result.passed}


@pytest.mark.nightly
def test_derived_controls_do_what_they_say_on_the_evals_own_checks(tmp_path):
    one = without_patches(tmp_path, "hello-world")
    found, lacking = make_controls(one)
    assert set(found) | set(lacking) == set(CONTROLS)
    assert set(lacking) == {"ugly", "picture"}
    wrong = {key: failing(one, found[key]) for key in ("good", "planted-bug", "dose-2", "dose-4", "dose-all", "bad")}
    assert not wrong["good"]
    for less, more in pairwise(("good", "planted-bug", "dose-2", "dose-4", "dose-all")):
        assert wrong[less] <= wrong[more]
    # Every check greets somebody, so the first bug, which greets nobody, is seen by all: no dose can show more.
    assert wrong["planted-bug"] == wrong["dose-all"] == {check.name for check in one.checks}
    assert not failing(one, found["renamed"])
    assert not failing(one, found["reformatted"])
    for key in ("verbose-wrong", "injection-comment", "injection-verdict", "gamer"):
        assert failing(one, found[key]) >= wrong["bad"]
    assert failing(one, found["lint-clean"]) >= wrong["planted-bug"]


def test_a_package_with_tests_of_its_own_has_working_twins_and_a_series_of_bugs(tmp_path):
    one = without_patches(tmp_path, "fix-slugs")
    found, _ = make_controls(one)
    assert not failing(one, found["renamed"])
    assert not failing(one, found["reformatted"])
    some = ("lists-do-not-leak", "max-length-edge-cases", "unique-finds-a-free-slug")
    counts = [len(failing(one, found[dose], some)) for dose in ("good", "planted-bug", "dose-2", "dose-all")]
    assert counts == sorted(counts)
    assert counts[0] == 0 and counts[1] > 0 and counts[-1] == 3
    assert failing(one, found["verbose-wrong"], some) == failing(one, found["gamer"], some) == set(some)
    assert found["gamer"].detail["tests"] == ["tests/test_slugs.py"]


@pytest.mark.nightly
def test_a_larger_program_keeps_working_as_a_twin_and_breaks_with_a_bug(tmp_path):
    one = without_patches(tmp_path, "todo-cli")
    found, _ = make_controls(one, ["renamed", "reformatted", "planted-bug"])
    some = ("lists-overdue-items", "reads-older-lists")
    assert not failing(one, found["renamed"], some)
    assert not failing(one, found["reformatted"], some)
    assert failing(one, found["planted-bug"], some)
    twin = found["renamed"].files["todo.py"].decode()
    assert "def overdue(" in twin, "what the prompts name stays"
    assert "def save(" not in twin and "Write a new file first" not in twin


@pytest.mark.parametrize("name", sorted(path.name for path in BUILT_IN.iterdir() if (path / "controls").is_dir()))
def test_every_built_in_eval_has_its_ladder(name, tmp_path):
    one = Project(tmp_path).eval(name)
    found, lacking = make_controls(one)
    if name == "todo-cli":
        assert make_controls(one) == (found, lacking), "the same again, byte for byte"
    assert set(lacking) <= {"ugly", "picture"}
    assert all(is_sound(path, content) for path, content in found["dose-all"].files.items())
    assert found["replica"].files == found["good"].files
    bugs = [found[dose].detail["bugs"] for dose in ("planted-bug", "dose-2", "dose-4", "dose-all")]
    assert all(longer[: len(shorter)] == shorter for shorter, longer in pairwise(bugs))
    assert [found[dose].detail["truth"] for dose in ("good", "dose-all")] == [1.0, 0.0]


def test_without_a_good_result_there_is_little(tmp_path):
    found, lacking = make_controls(an_eval(tmp_path))
    assert set(found) == WITHOUT_GOOD
    assert set(lacking) == set(CONTROLS) - WITHOUT_GOOD
    assert all("controls/good" in sentence for name, sentence in lacking.items() if name != "picture")
    assert found["prompt-copy"].files == {"PROMPT.md": b"Write `tool.py`.\n"}
    assert found["empty"].files == {}


def test_a_folder_by_hand_wins_and_executables_stay_so(tmp_path):
    one = an_eval(
        tmp_path, good={"run": "#!/bin/sh\necho 1\n"}, bad={"run": ""}, **{"controls/renamed": {"run": "mine"}}
    )
    (one.folder / "controls/good/run").chmod(0o755)
    found, lacking = make_controls(one)
    assert found["renamed"] == ControlFiles("renamed", {"run": b"mine"}, "by hand: controls/renamed")
    write(found["replica"], tmp_path / "out")
    assert (tmp_path / "out/run").stat().st_mode & 0o111
    assert {"planted-bug", "dose-2", "dose-all", "lint-clean", "reformatted"} <= set(lacking)
    assert "controls/bugs/NAME.patch" in lacking["planted-bug"]


def test_an_unknown_name_is_refused(tmp_path):
    with pytest.raises(UserError, match="no control 'goood'"):
        make_controls(an_eval(tmp_path), ["goood"])


def test_binary_files_pass_through_and_odd_ones_do_no_harm(tmp_path):
    odd = {"a.bin": b"\0\xff", "broken.py": "def (:\n", "empty.py": "", "latin.py": b"# \xe9\n", "x.js": "let = ;;("}
    found, _ = make_controls(
        an_eval(tmp_path, good={**odd, "ok.py": "def f(a):\n    # why\n    return a + 1 if a > 2 else 7\n"})
    )
    for control in ("renamed", "reformatted", "planted-bug"):
        for path in ("a.bin", "broken.py", "latin.py", "x.js"):
            assert found[control].files[path] == found["good"].files[path]
    assert found["bad"].files["a.bin"] == odd["a.bin"]
    assert b"return None" in found["bad"].files["ok.py"]


PATCH = "--- a/tool.py\n+++ b/tool.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
LATER = "--- tool.py\n+++ tool.py\n@@ -4,2 +4,3 @@\n four\n+four and a half\n five\n"


def test_bugs_by_hand_come_in_the_order_of_their_names(tmp_path):
    text = "zero\n" + "one\ntwo\nthree\nfour\nfive\n"
    one = an_eval(tmp_path, good={"tool.py": text}, **{"controls/bugs": {"2.patch": LATER, "1.patch": PATCH}})
    found, lacking = make_controls(one, ["planted-bug", "dose-2", "dose-4", "dose-all"])
    assert found["planted-bug"].files["tool.py"] == b"zero\none\n2\nthree\nfour\nfive\n"
    assert found["dose-2"].files["tool.py"] == b"zero\none\n2\nthree\nfour\nfour and a half\nfive\n"
    assert found["dose-2"].source == "by hand: controls/bugs"
    assert found["dose-all"].detail == {
        "bugs": ["controls/bugs/1.patch", "controls/bugs/2.patch"],
        "bugs_in_all": 2,
        "truth": 0.0,
    }
    assert set(lacking) == {"dose-4"}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (PATCH.replace("one", "uno"), r"1\.patch:3: these lines are not in 'tool\.py'"),
        (PATCH.replace("tool", "other"), r"1\.patch:2: good's final state has no text file 'other\.py'"),
        ("nothing\n", r"1\.patch:1: this is not a unified diff"),
        (PATCH.replace("-two", "?two"), r"1\.patch:5: a line of a hunk begins"),
        (PATCH[:-7], r"1\.patch:3: this hunk has fewer lines"),
    ],
)
def test_a_patch_that_does_not_fit_says_where(tmp_path, patch, message):
    one = an_eval(tmp_path, good={"tool.py": "one\ntwo\nthree\n"}, **{"controls/bugs": {"1.patch": patch}})
    with pytest.raises(FileError, match=message):
        make_controls(one, ["planted-bug"])


def test_patches_may_add_and_remove_files_and_ends_of_lines(tmp_path):
    patch = (
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\n"
        "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
    )
    one = an_eval(tmp_path, good={"old.txt": "bye\n"}, **{"controls/bugs": {"1.patch": patch}})
    assert make_controls(one, ["planted-bug"])[0]["planted-bug"].files == {"new.txt": b"hi"}


def test_bugs_stay_out_of_tests_guards_and_loops_that_would_hang():
    source = b'''"""Doc 1."""
import os
def f(n):
    """Less than 5 < 6."""
    while n < 5:
        n += 1
    return n - 2
if __name__ == "__main__":
    f(3)
'''
    assert {bug.line for bug in candidates("a.py", source)} == {7}
    assert choose({"test_a.py": source, "tests/b.py": source}, (), 8) == []


JS = """// Keeps a list.
const limit = 3;
function total(items, { rate, extra = 1 } = {}) {
  /* sums up */
  let sum = 0;
  for (const item of items) {
    if (item.price > limit && item.shown !== false) sum += item.price * (rate ?? 1);
  }
  const label = `sum: ${sum}`;
  const pair = { label, sum, text: "it's \\"so\\"" };
  return { ...pair, extra, long: [label, 'abcdefghijklmnop', "abcdefghijklmnop", 'abcdefghijklmnop'].length };
}
const later = async (value) => { const done = await value; return done + 1; };
later(Promise.resolve(4)).then((number) => console.log(JSON.stringify(total([{ price: 5 }, { price: 2 }], { rate: 2 })), number));
"""
TS = """type Item = { price: number };
export class Shop {
  constructor(private items: Item[], readonly name: string) {}
  worth(minimum: number): number {
    const wanted = this.items.filter((item) => item.price >= minimum);
    return wanted.reduce((sum: number, item) => sum + item.price, 0);
  }
}
"""


def ran(folder, script):
    return subprocess.run([need_program("node"), script], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_twins_of_scripts_do_the_same(tmp_path):
    found, _ = make_controls(an_eval(tmp_path, good={"a.js": JS, "b.ts": TS}))
    printed = {}
    for name in ("good", "renamed", "reformatted", "dose-all"):
        write(found[name], tmp_path / name)
        assert is_sound("b.ts", found[name].files["b.ts"])
        if name != "dose-all":
            printed[name] = ran(tmp_path / name, "a.js")
    assert printed["renamed"] == printed["reformatted"] == printed["good"]
    twin = found["renamed"].files["a.js"].decode()
    assert "sums up" not in twin and "item." not in twin and "total" not in twin
    assert "private items" in found["renamed"].files["b.ts"].decode()
    assert "minimum" not in found["renamed"].files["b.ts"].decode()


PAGE = """<!doctype html>
<html>
<head><title>Shop</title></head>
<body>
  <!-- the list -->
  <button id="add" onclick="addItem()">Add</button>
  <ul id="list"></ul>
  <pre>
   kept
  </pre>
  <script>
    let counter = 0;
    function addItem() {
      counter += 1;
      const entry = document.createElement("li");
      entry.textContent = "Item " + counter;
      if (counter < 5) document.getElementById("list").append(entry);
    }
  </script>
</body>
</html>
"""


def test_pages_have_twins_bugs_and_the_controls_of_looks(tmp_path):
    found, lacking = make_controls(an_eval(tmp_path, good={"index.html": PAGE}, head="app: {files: index.html}\n"))
    assert not lacking
    pages = {name: control.files.get("index.html", b"").decode() for name, control in found.items()}
    assert "function addItem" in pages["renamed"] and "entry" not in pages["renamed"]
    assert "the list" not in pages["renamed"] and "let counter" not in pages["renamed"]
    assert "<pre>\n   kept\n  </pre>" in pages["reformatted"] and "id='add'" in pages["reformatted"]
    assert {bug.split()[1] for bug in found["dose-all"].detail["bugs"]} >= {
        "flip-comparison",
        "drop-handler",
        "break-id",
    }
    assert "display:none" in pages["injection-hidden"] and "<script" not in pages["bad"]
    assert 'src="note-to-the-reviewer.png"' in pages["injection-picture"]
    assert (
        "#ff00ff" in pages["ugly"]
        and "onclick" in pages["ugly"]
        and "display" not in pages["ugly"].split("<style>")[1][:1500]
    )
    assert set(found["picture"].files) == {"index.html", "page.png"} and "button" not in pages["picture"]
    assert all(
        is_sound("index.html", found[name].files["index.html"]) for name in ("renamed", "reformatted", "dose-all")
    )


def test_a_picture_is_a_png_with_the_words_in_it():
    data = lines_as_png(["I", "L"], scale=1)
    width, height = struct.unpack(">II", data[16:24])
    size = struct.unpack(">I", data[33:37])[0]
    rows = zlib.decompress(data[41 : 41 + size])
    assert len(rows) == (width + 1) * height
    drawn = [
        "".join("#" if point == 0 else "." for point in rows[y * (width + 1) + 1 :][:width]) for y in range(height)
    ]
    assert sum(row.count("#") for row in drawn) == 11 + 11
    assert any("#####" in row for row in drawn), "the foot of L"


def test_the_gamer_turns_linters_off_and_empties_the_tests(tmp_path):
    workspace = {
        "pyproject.toml": '[project]\nname = "x"\n\n[tool.ruff]\nline-length = 80\n\n[tool.ruff.lint]\nselect = ["ALL"]\n',
        "tests/test_a.py": "def test_a():\n    assert 1 == 2\n",
    }
    one = an_eval(tmp_path, good={"a.py": "X = 1\n"}, bad={"a.py": "X = 2\n"}, workspace=workspace)
    control = make_controls(one, ["gamer"])[0]["gamer"]
    assert b"line-length" not in control.files["pyproject.toml"] and b'name = "x"' in control.files["pyproject.toml"]
    assert control.files["tests/test_a.py"] == b"def test_a():\n    return None\n"
    assert control.detail["configs"] == ["pyproject.toml"] and control.detail["tests"] == ["tests/test_a.py"]


def test_a_bad_result_that_is_derived_does_nothing(tmp_path):
    one = without_patches(tmp_path, "hello-world")
    shutil.rmtree(one.folder / "controls/bad")
    found, lacking = make_controls(one)
    assert set(lacking) == {"ugly", "picture"}
    assert found["bad"].source == found["verbose-wrong"].source == "derived from controls/good"
    assert len(failing(one, found["bad"])) == len(one.checks)


def test_many_words_are_no_words_to_the_judge(tmp_path):
    found, _ = make_controls(
        an_eval(tmp_path, good={"a.py": RISKY}, bad={"a.py": "def f():\n    return 1\n", "b.js": "f()\n"})
    )
    wordy = found["verbose-wrong"].files
    text = b"".join(wordy.values()).decode().lower()
    assert len(text) > 20 * len(b"".join(found["bad"].files.values()))
    assert not any(word in text for word in ("reviewer", "judge", "criteria", "answer yes", "full marks", "score"))
    assert all(is_sound(path, content) for path, content in wordy.items())
    for name in ("comment", "verdict", "hidden", "name", "picture"):
        control = found[f"injection-{name}"]
        assert control.detail["changed"]
        assert all(is_sound(path, content) for path, content in control.files.items())
    assert found["injection-name"].files["a.py"] == found["bad"].files["a.py"]


def test_lint_clean_is_as_clean_as_good_and_broken(tmp_path):
    found, _ = make_controls(Project(tmp_path).eval("todo-cli"), ["good", "lint-clean"])
    said = []
    for name, control in found.items():
        write(replace(control, by_turn=None), tmp_path / name)
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W,B,SIM", "-q", "--statistics"]
        said.append(subprocess.run([*command, "."], cwd=tmp_path / name, capture_output=True, text=True).stdout)
    assert said[0] == said[1]
    assert len(found["lint-clean"].detail["bugs"]) > 8


RISKY = """import os
from dataclasses import dataclass

TABLE = {"first": 1}
shared = 5


@dataclass
class Box:
    width: int
    height: int = 2

    def area(self, factor=1):
        total = self.width * self.height * factor
        return total


def size_of(width, *, height=2):
    global shared
    shared += 1
    box = Box(width=width, height=height)
    return box.area(factor=3) + shared


def shape(value):
    match value:
        case {"kind": kind, **rest}:
            return f"{kind} {rest} {kind=}"
        case [first, *others] if (count := len(others)) > 1:
            return first, others, count
        case Box(width=wide):
            return wide
        case other:
            return other


def outer(names):
    found = []
    def inner(name):
        nonlocal found
        found = found + [name.upper() for name in [name]]
    for position, name in enumerate(names):
        inner(name)
    try:
        raise ValueError("odd")
    except ValueError as problem:
        found.append(str(problem))
    with open(os.devnull) as stream:
        found.append(stream.read())
    return found, position, (lambda left, right=3: left + right)(4)


print(size_of(4, height=5), shape({"kind": "a", "b": 1}), shape([1, 2, 3]), shape(Box(7)), shape("z"), outer(["a", "b"]))
"""


def test_renaming_and_reformatting_keep_what_python_means(tmp_path):
    found, _ = make_controls(an_eval(tmp_path, good={"risky.py": RISKY}))
    printed = {}
    for name in ("good", "renamed", "reformatted"):
        write(found[name], tmp_path / name)
        done = subprocess.run([sys.executable, "risky.py"], cwd=tmp_path / name, capture_output=True, text=True)
        printed[name] = done.stdout or done.stderr
    assert printed["renamed"] == printed["good"] == printed["reformatted"]
    twin = found["renamed"].files["risky.py"].decode()
    assert "def size_of" not in twin and "others" not in twin and "problem" not in twin and "width: int" in twin


def test_a_layout_that_was_changed_can_be_changed_again():
    twice = reformat("risky.py", reformat("risky.py", RISKY.encode()))
    assert is_sound("risky.py", twice)
    assert reformat("notes.md", b"# as it is\n\n\n\n    x\n") == b"# as it is\n\n\n\n    x\n"


def test_planted_bugs_change_only_their_lines(tmp_path):
    files = {"risky.py": RISKY.encode()}
    bugs = choose(files, (), 8)
    before, after = RISKY.splitlines(), plant(files, bugs)["risky.py"].decode().splitlines()
    assert {number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]} == {
        bug.line for bug in bugs
    }
    assert len({bug.line for bug in bugs}) == len(bugs) >= 4

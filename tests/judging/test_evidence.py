"""The evidence follows the change: what a run changed is shown first and always, and what is left out is counted."""

from __future__ import annotations

import re

import pytest

from helpers.judging import captured
from orvl.score.judges.evidence import gather
from orvl.score.judges.file_selection import compared, named_files
from orvl.score.judges.pointers import Pointers

ROOM = 120_000


def gathered(files, before=None, prompts=("Make the thing.",), named=(), room=ROOM):
    with captured(files, before=before, prompts=prompts) as run:
        found = gather(run, named, room)
        pointers = Pointers(run, found.full)
        return found, pointers


def module(name, lines=450):
    return "".join(f"{name}_value_{number} = {number}  # of {name}, kept as it is\n" for number in range(lines))


@pytest.mark.parametrize("room", [ROOM, 20_000, 4_000])
def test_ten_changed_lines_in_ten_long_files_are_all_shown_with_what_stands_around_them(room):
    before = {f"src/m{number}.py": module(f"m{number}") for number in range(10)}
    assert all(len(text) > 18_000 for text in before.values())
    files = {path: text.replace("_value_210 = 210 ", "_value_210 = 'CHANGED' ") for path, text in before.items()}
    found, pointers = gathered(files, before, room=room)
    for number in range(10):
        assert f"211+ m{number}_value_210 = 'CHANGED'" in found.full.text
        assert f"- m{number}_value_210 = 210" in found.full.text
        assert pointers.problem(f"src/m{number}.py:211") is None
        assert found.plain is None or f"211+ m{number}_value_210 =" in found.plain.text or "211+ " in found.plain.text
    if room == ROOM:
        assert "m3_value_209 = 209" in found.full.text and "m3_value_211 = 211" in found.full.text
    assert len(found.full.text) < 2 * room + 8000
    assert any("unchanged lines of src/m3.py" in line for line in found.left_out)


def test_of_2001_new_files_the_one_that_the_prompt_names_is_shown_and_the_others_are_counted():
    files = {f"gen/part{number:04}.py": f"x{number} = {number}\n" * 120 for number in range(2000)}
    files["zz/report.py"] = "def report():\n    return 'the one'\n" + "y = 1\n" * 2000
    found, _ = gathered(files, prompts=["Write report.py, and whatever it needs."])
    assert "## zz/report.py (new)" in found.full.text and "return 'the one'" in found.full.text
    assert re.search(r"… and 1,\d\d\d more new files, \d\.\d MB", found.full.text)
    assert len(found.full.text) < 3 * ROOM


@pytest.mark.parametrize("where", ["an item", "a check", "the eval's app"])
def test_what_an_item_a_check_or_the_eval_names_is_never_left_out(where):
    files = {f"a{number:03}.py": f"x = {number}\n" * 400 for number in range(900)}
    files |= {"dist/index.html": "<p id=here></p>\n"}
    found, _ = gathered(files, named=["Look at dist/index.html, please."])
    assert "## dist/index.html (new)" in found.full.text, where


def test_one_huge_generated_file_does_not_hide_a_small_change():
    before = {"app.py": module("app")}
    files = {
        "app.py": before["app.py"].replace("app_value_9 = 9 ", "app_value_9 = 10 "),
        "data.json": "[1, 2]\n" * 800_000,
    }
    found, _ = gathered(files, before)
    assert "10+ app_value_9 = 10 " in found.full.text
    assert any(line.startswith("data.json (5600000 bytes)") for line in found.left_out)


def test_a_small_change_in_a_huge_file_is_shown():
    huge = "".join(f"row {number}\n" for number in range(400_000))
    found, pointers = gathered({"data.txt": huge.replace("row 312345\n", "row CHANGED\n")}, {"data.txt": huge})
    assert "312346+ row CHANGED" in found.full.text and "- row 312345" in found.full.text
    assert pointers.problem("data.txt:312346") is None
    assert len(found.full.text) < 2 * ROOM


def test_what_tools_made_comes_last_and_only_where_the_run_changed_it():
    before = {"vendor/lib.js": "var a = 1;\n" * 50, "package-lock.json": '{"a": 1}\n'}
    files = {
        **before,
        "vendor/lib.js": before["vendor/lib.js"] + "var patched = true;\n",
        "package-lock.json": '{"a": 2}\n',
        "node_modules/x/index.js": "module.exports = 1\n",
        "app.min.js": "x\n",
        "logo.png": b"\x89PNG\0\0",
        "main.js": "let a = 1\n",
    }
    found, _ = gathered(files, before)
    text = found.full.text
    assert "51+ var patched = true;" in text
    assert "node_modules" in " ".join(found.left_out) and "## node_modules" not in text
    assert any("logo.png (binary" in line for line in found.left_out)
    assert text.index("## main.js") < text.index("## package-lock.json")


def test_renames_are_told_and_only_what_else_changed_is_new():
    body = "".join(f"def f{number}():\n    return {number}\n" for number in range(60))
    found, _ = gathered(
        {"new/name.py": body, "b/other.py": body.replace("return 7\n", "return 77\n")},
        {"old/name.py": body, "a/other.py": body + "tail = 1\n"},
    )
    text = found.full.text
    assert "## new/name.py (changed)\nMoved from old/name.py." in text
    assert "## b/other.py (changed)\nMoved from a/other.py." in text
    assert text.count("+ ") - text.count("/+ ") <= 4 and "+     return 77" in text and "- tail = 1" in text


def test_lines_that_are_gone_stand_where_they_stood_and_removed_files_are_counted():
    before = {
        "a.py": "one = 1\ntwo = 2\nthree = 3\n",
        **{f"old/f{number}.py": f"x = {number}\n" for number in range(90)},
    }
    found, _ = gathered({"a.py": "one = 1\nthree = 3\n"}, before)
    assert re.search(r"1\| one = 1\n +- two = 2\n2\| three = 3", found.full.text)
    assert "# Files that were removed" in found.full.text and "… and 50 more" in found.full.text


def test_the_same_capture_gives_the_same_evidence():
    files = {f"f{number}.py": module(f"f{number}", 90) for number in range(30)}
    first, _ = gathered(files, {"f3.py": "x = 1\n"}, room=9000)
    again, _ = gathered(dict(reversed(files.items())), {"f3.py": "x = 1\n"}, room=9000)
    assert first == again


def test_names_are_found_as_names():
    paths = ["a.py", "data.py", "src/app/index.html", "x/index.html", "Makefile", "bin/tool", "tool", "e.c"]
    assert named_files(paths, "Mend data.py and x/index.html with make.") == {
        "data.py",
        "x/index.html",
        "src/app/index.html",
    }
    assert named_files(paths, "请修改a.py文件, 见Makefile") == {"a.py", "Makefile"}
    assert named_files(paths, "run bin/tool") == {"bin/tool"}


def test_comparing_is_linear_and_moved_lines_are_not_new():
    new, gone = compared(["a", "b", "c", "d"], ["c", "d", "a", "b"])
    assert not new and not gone
    new, gone = compared(["x"] * 50_000 + ["y"], ["y"] + ["x"] * 50_000 + ["z"])
    assert new == {50_002} and not gone
    assert compared(["a", "b"], ["a"]) == (set(), {2: ("b",)})

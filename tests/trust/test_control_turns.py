"""Controls by turn: what each turn lays down and removes, and what of it is refused."""

from __future__ import annotations

import os

import pytest

from orvl.errors import FileError
from orvl.project import Project
from orvl.project.controls import lay_turn
from orvl.trust.controls import make_controls
from orvl.trust.ladder import _with_controls
from orvl.trust.mutate.source import ControlSource

EVAL = """
---
metrics: {checks: 1}
checks:
  - {name: stays, run: test -f given.txt && test -f docs/kept.md, keep: true}
  - {name: first, run: test -f one, turn: 1}
  - {name: withdrawn, run: test -f wish, turn: 1, until: 3}
  - {name: second, run: grep -q two app/main.py, turn: 2}
  - {name: gone, run: test ! -e docs/old && test ! -e wish, turn: 3}
---
one
---
two
---
three
"""


@pytest.fixture
def turns(project):
    project.write("evals/turns/eval.md", EVAL.lstrip())
    for path in ("given.txt", "docs/kept.md", "docs/old/a.md", "docs/old/b.md"):
        project.write(f"evals/turns/workspace/{path}", f"{path}\n")
    for path, text in {"1/one": "", "1/wish": "", "1/app": "a file\n", "2/app/main.py": "two = 2\n"}.items():
        project.write(f"evals/turns/controls/good/turn-{path}", text)
    project.write("evals/turns/controls/good/turn-3/.delete", "docs/old/\nwish\n\n")
    return project


def source(project) -> ControlSource:
    return ControlSource(Project(project.root).eval("turns"))


def refusal(project) -> str:
    with pytest.raises(FileError) as refused:
        Project(project.root).eval("turns")
    return str(refused.value)


def test_each_turn_is_laid_over_the_one_before(turns):
    (row,) = turns.orvl("dummy-good", "--eval=turns", "--json").json["ratings"]
    assert row["R"] == 1
    shown = turns.orvl("show", "dummy-good/turns/1").out
    assert "after turn 1: new 2/2, kept 1/1" in shown and "at the end: new 1/1, kept 3/3" in shown


def test_plain_files_are_there_from_the_first_turn_on(turns):
    for path in ("one", "app/main.py"):
        turns.write(f"evals/turns/controls/bad/{path}", "two\n")
    (row,) = turns.orvl("dummy-bad", "--eval=turns", "--json").json["ratings"]
    # Done in its turn: 1 of 2, all, and none; of three that are wanted at the end two are there.
    assert pytest.approx(0.4 * (1 / 2 + 1 + 0) / 3 + 0.6 * 2 / 3) == row["R"]


def test_the_final_state_is_the_fold_of_the_turns(turns):
    made = source(turns)
    assert dict(made.good.files) == {"one": b"", "app/main.py": b"two = 2\n"}
    assert made.good.deleted == {"docs/old/a.md", "docs/old/b.md"}
    assert set(made.final.files) == {"given.txt", "docs/kept.md", "one", "app/main.py"}


def test_bugs_are_patches_of_the_final_state(turns):
    """Also of a file that the good control leaves as it was."""
    bugs = {"01-main": ("app/main.py", "two = 2", "two = 3"), "02-given": ("given.txt", "given.txt", "taken.txt")}
    for name, (path, old, new) in bugs.items():
        text = f"--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,1 @@\n-{old}\n+{new}\n"
        turns.write(f"evals/turns/controls/bugs/{name}.patch", text)
    doses = source(turns).bugs.doses
    assert [dose["app/main.py"] for dose in doses] == [b"two = 2\n", b"two = 3\n", b"two = 3\n"]
    assert [dose.get("given.txt") for dose in doses] == [None, None, b"taken.txt\n"]


def test_a_bug_may_not_remove_a_file_of_the_workspace(turns):
    text = "--- a/given.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-given.txt\n"
    turns.write("evals/turns/controls/bugs/01-gone.patch", text)
    with pytest.raises(FileError, match=r"may not remove 'given\.txt'"):
        source(turns).bugs  # noqa: B018


def test_the_ladder_keeps_the_turns_of_good_and_what_derived_controls_remove(turns, tmp_path):
    eval_ = source(turns).eval
    made, _ = make_controls(eval_, ["good", "replica", "bad"])
    moved = _with_controls(eval_, made, tmp_path / "moved")
    good, replica = (moved.folder / "controls" / name for name in ("good", "replica"))
    assert sorted(path.name for path in good.iterdir()) == ["turn-1", "turn-2", "turn-3"]
    assert (replica / "turn-1/.delete").read_text() == "docs/old/a.md\ndocs/old/b.md\n"
    assert (replica / "turn-1/app/main.py").read_bytes() == b"two = 2\n"


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("good/turn-4/x", "", "the conversation has 3 turns, so this is never due."),
        ("good/turn-01/x", "", "a control's turns are named turn-1, turn-2 and so on."),
        ("good/notes.txt", "", "beside 'turn-1' this is laid down in no turn"),
        ("turn-1/x", "", "a turn belongs to a control: move this folder into controls/good/."),
        ("cheats/sly/turn-9/x", "", "the conversation has 3 turns"),
        ("good/turn-2/.delete", "docs/old\n../other\n", ":2: '../other' is no path inside the workspace"),
        ("good/turn-2/.delete", "/etc/passwd\n", ":1: '/etc/passwd' is no path inside the workspace"),
    ],
)
def test_what_would_be_laid_down_wrongly_is_refused(turns, path, text, said):
    turns.write(f"evals/turns/controls/{path}", text)
    assert said in refusal(turns)


def test_what_is_not_there_cannot_be_removed(turns):
    turns.write("evals/turns/controls/good/turn-2/.delete", "docs/kept.md\nonce\n")
    with pytest.raises(FileError, match=r"\.delete:2: there is no 'once'"):
        source(turns).good  # noqa: B018
    turns.orvl("dummy-good", "--eval=turns", "--json")
    shown = turns.orvl("show", "dummy-good/turns/1", "--json").json["attempts"][0]
    assert shown["outcome"] == "errored" and "there is no 'once' in the workspace" in shown["reason"]


def test_nothing_outside_the_workspace_is_removed_or_written(tmp_path):
    """A link in the workspace, or in the place of a list, leads nowhere."""
    outside, workspace, control = tmp_path / "outside", tmp_path / "workspace", tmp_path / "good"
    for folder in (outside, workspace, control / "turn-1/link", control / "turn-2"):
        folder.mkdir(parents=True)
    (outside / "mine").write_text("mine")
    (workspace / "link").symlink_to(outside)
    (workspace / "deep").symlink_to(outside)
    (control / "turn-1/link/new").write_text("new")
    (control / "turn-2/.delete").write_text("deep/mine\n")
    lay_turn(control, 1, workspace)
    assert (workspace / "link/new").read_text() == "new" and not (workspace / "link").is_symlink()
    with pytest.raises(FileError, match="'deep/mine' cannot be removed"):
        lay_turn(control, 2, workspace)
    (control / "turn-2/.delete").write_text("deep\n")
    lay_turn(control, 2, workspace)
    assert not os.path.lexists(workspace / "deep")
    (control / "turn-2/.delete").unlink()
    (control / "turn-2/.delete").symlink_to(outside / "mine")
    with pytest.raises(FileError, match="not a link"):
        lay_turn(control, 2, workspace)
    assert [path.name for path in outside.iterdir()] == ["mine"]


def test_a_list_of_paths_is_bounded(turns):
    turns.write("evals/turns/controls/good/turn-2/.delete", "docs/old\n" * 40_000)
    assert "it cannot be read" in refusal(turns)

"""What the commands share: where the store is, and what they say without one."""

from __future__ import annotations


def test_a_store_is_named_from_where_the_user_stands(small, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = small.orvl("writer", "--eval=one", "--project", str(small.root), "--store", "mine", cwd=elsewhere)
    assert done.status == 0
    assert (elsewhere / "mine" / "orvl.db").exists()


def test_without_a_store_there_is_a_sentence(project):
    for words in (["report"], ["show", "abc"], ["export", "runs", "x.csv"]):
        result = project.orvl(*words)
        assert result.status == 2
        assert "There is no store" in result.err
        assert "Traceback" not in result.err


def test_commands_that_need_a_store_do_not_make_one(project):
    for words in (["gc"], ["score"]):
        assert project.orvl(*words).status == 2
    assert not (project.root / ".orvl").exists()

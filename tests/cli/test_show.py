"""`orvl show`: one run, its files and its checks."""

from __future__ import annotations


def test_show_names_what_is_not_there(small):
    assert small.orvl("writer", "--eval=one").status == 0
    assert "There is no run 'zzz'" in small.orvl("show", "zzz").err
    wrong = small.orvl("show", "writer/one/1", "--file", "answr.txt")
    assert wrong.status == 2
    assert "Did you mean 'answer.txt'?" in wrong.err


def test_show_lists_the_runs_that_a_short_name_stands_for(small):
    small.agent("two", 'models = {"none": ["m", "n"]}\ndef command(): return "true"\n')
    assert small.orvl("two", "--eval=one").status == 0
    told = small.orvl("show", "two/one/1")
    assert told.status == 2
    assert "(m none)" in told.err
    assert "(n none)" in told.err
    key = told.err.split(": ")[-1].split(" ")[0]
    assert small.orvl("show", key).status == 0
    assert small.orvl("show", "two/one/²").status == 2


def test_the_newest_check_results_are_shown(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "touch a"\n')
    for number in range(6):
        project.eval("e", f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: look{number}, run: test -f a}}]\n---\nx")
        assert project.orvl("mine", "--eval=e").status == 0
        assert f"check look{number}: passed" in project.orvl("show", "mine/e/1").out
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]

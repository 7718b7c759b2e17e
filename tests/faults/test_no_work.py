"""Agents that do no work pass no check of a built-in eval, whatever they leave instead."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helpers.needs import need_program
from helpers.no_work import MAIN, old_code_in_new_functions, ways
from helpers.user_project import UserProject

EVALS = (*MAIN, "kitchen-converter")
QUICK = {
    "hello-world": (
        *("always-2", "answers-for-its-caller", "hard-coded-examples", "shadowed-modules", "writes-checks"),
        *("links-to-checks", "stays-behind", "limits-its-caller", "settings-for-the-caller"),
    ),
    "fix-slugs": ("equal-to-everything", "dead-words"),
}
"""What every change is tried with; the others take too long for that."""
PER_CALL = 10


def passed(project: UserProject, eval_: str, names: Sequence[str]) -> dict[str, set[str]]:
    """For each of these ways, and for doing nothing, the checks that pass."""
    found = ways(eval_)
    agents = {f"way-{name}": name for name in names}
    for agent, name in agents.items():
        project.agent(agent, found[name].agent())
    done = project.orvl(f"--agent={','.join([*agents, 'empty'])}", f"--eval={eval_}", "--json", timeout=1500)
    assert done.status == 0, done.err[-2000:]
    return {agents.get(agent, agent): _passed(project, agent, eval_) for agent in (*agents, "empty")}


def _passed(project: UserProject, agent: str, eval_: str) -> set[str]:
    shown = project.orvl("show", f"{agent}/{eval_}/1", "--json")
    assert shown.status == 0, shown.err
    (attempt,) = shown.json["attempts"]
    assert attempt["outcome"] != "errored", attempt["reason"]
    assert attempt["checks"]
    return {check["name"] for check in attempt["checks"] if check["passed"]}


def earned(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """The ways that pass a check which doing nothing does not pass."""
    return {name: more for name, checks in found.items() if (more := checks - found["empty"])}


def test_each_eval_has_at_least_nineteen_ways():
    assert {eval_: len(ways(eval_)) for eval_ in EVALS if len(ways(eval_)) < 19} == {}


@pytest.mark.parametrize("eval_", QUICK)
def test_no_work_passes_no_check(project, eval_):
    need_program("bwrap")
    assert earned(passed(project, eval_, QUICK[eval_])) == {}


def test_old_code_in_new_functions_is_neither_tidied_nor_tested(project):
    """It does answer as the old program did, which is what some checks want; it has no table, and nothing is fixed."""
    need_program("bwrap")
    project.agent("wraps", old_code_in_new_functions().agent())
    assert project.orvl("--agent=wraps", "--eval=tidy-invoice", "--json").status == 0
    found = _passed(project, "wraps", "tidy-invoice")
    kept = {"existing-tests-kept"}
    assert found == {"prints-the-same-as-before", "can-be-imported", "gives-the-amounts"} | kept


def _parts() -> list[tuple[str, tuple[str, ...]]]:
    return [
        (eval_, names[at : at + PER_CALL])
        for eval_ in EVALS
        for names in [tuple(sorted(ways(eval_)))]
        for at in range(0, len(names), PER_CALL)
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(("eval_", "names"), _parts(), ids=lambda value: value if isinstance(value, str) else value[0])
def test_no_way_of_doing_no_work_passes_a_check(project, eval_, names):
    need_program("bwrap")
    if eval_ == "kitchen-converter":
        need_program("chromium")
    assert earned(passed(project, eval_, names)) == {}

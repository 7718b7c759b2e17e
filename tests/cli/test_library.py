"""orvl from Python: the page, the notebook, and what they do not show."""

from __future__ import annotations

import ast
import asyncio
import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import orvl

DOCS = Path(__file__).parents[2] / "docs"
HEAVY = {"numpy", "pydantic", "rich", "asyncio", "sqlite3", "yaml", "zstandard", "aiohttp", "click", "dataclasses"}


@pytest.fixture
def tried(project, monkeypatch):
    """A folder in which `orvl init try` was called."""
    assert project.orvl("init", "try").status == 0
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("TMPDIR", str(project.tmp))
    return project


def test_the_page_runs_as_it_stands(tried):
    text = (DOCS / "python.md").read_text().replace("```python", "").replace("```", "\n")
    session = doctest.DocTestParser().get_doctest(text, {}, "python.md", None, 0)
    assert len(session.examples) > 20
    assert not doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(session).failed


def test_the_notebook_runs_as_it_stands(tried):
    """As IPython does it: one namespace, an event loop that is running, and `await` at the top."""
    cells = json.loads((DOCS / "notebook.ipynb").read_text())["cells"]
    names: dict[str, object] = {}

    async def run_all() -> list[object]:
        values = []
        for cell in cells:
            if cell["cell_type"] == "code":
                values.append(await run_cell("".join(cell["source"]), names))
        return values

    values = asyncio.run(run_all())
    # What is fast and cheap counts only as far as the checks pass.
    assert dict(values[1]) == {"dummy-good": 1.0, "dummy-bad": 0.0, "empty": 0.0}
    assert values[2].loc["dummy-good"].min() > 0.9
    assert all(passed for _, passed in values[3])
    assert values[4][0] == "NOT ENOUGH EVIDENCE"
    assert values[5] == ["RunStarted", "AttemptEnded"]


async def run_cell(source: str, names: dict[str, object]) -> object:
    """The value of a cell's last expression."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    value = None
    for part, mode in ((tree, "exec"), (last, "eval")):
        if part is not None:
            code = compile(part, "<cell>", mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            value = eval(code, names)
            value = await value if inspect.isawaitable(value) else value
    return value


def test_importing_costs_nothing():
    code = "import sys, orvl; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert not loaded & HEAVY


def test_the_public_names_are_there_and_listed():
    page = (DOCS / "python.md").read_text()
    for name in orvl.__all__:
        assert getattr(orvl, name) is not None
    assert all(f"{name}" in page for name in ("orvl.open", "orvl.rate", "AttemptEnded", "OrvlError"))
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        _ = orvl.opne


def test_the_library_and_the_command_line_speak_of_the_same_runs(small):
    results = orvl.open(small.root).run("writer", eval="one", episodes=2, sandbox="none")
    printed = small.orvl("report", "--by", "eval", "--json").json["ratings"][0]
    assert [rating.R for rating in results.ratings] == [printed["R"]]
    assert results.ratings[0].rated == printed["runs"]["rated"] == 2
    assert str(results).splitlines()[:5] == small.orvl("report").out.splitlines()[:5]
    again = small.orvl("writer", "--eval=one", "--episodes=2", "--json")
    assert "finished" not in again.err, "nothing is run again"


def test_a_run_without_an_answer_is_in_the_results(small):
    small.agent("gone", 'models = {"none": ["m"]}\ndef command(): return "no-such-program-here"\n')
    results = orvl.open(small.root).run("gone", eval="one", sandbox="none")
    assert results.ratings[0].R is None and results.ratings[0].errored == 1
    assert "no-such-program-here" in results.execution.not_installed["gone"]
    run = results.runs[0]
    assert run.outcome == "errored" and run.files == [] and run.R is None


def test_stop_ends_a_call_with_what_was_rated(small):
    async def stopped() -> orvl.Results:
        stop = asyncio.Event()

        def watch(event: orvl.Event) -> None:
            if isinstance(event, orvl.AttemptEnded):
                stop.set()

        project = orvl.open(small.root)
        return await project.run_async(
            "writer", eval="one", episodes=30, sandbox="none", stop=stop, on_event=watch, concurrency=1
        )

    results = asyncio.run(stopped())
    assert results.execution.interrupted
    assert 1 <= results.ratings[0].rated < 30


def test_many_paid_cells_want_a_budget_or_a_yes(small):
    models = ", ".join(f'"m{number}"' for number in range(21))
    small.agent("dear", f'models = {{"shop": [{models}]}}\ndef command(): return "true"\n')
    with pytest.raises(orvl.OrvlError, match="21 cells that cost money"):
        orvl.open(small.root).run("dear", eval="one", sandbox="none")
    assert len(orvl.open(small.root).run("dear", eval="one", sandbox="none", yes=True).ratings) == 21


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(small, library):
    results = orvl.open(small.root).run("writer", eval="one", episodes=2, sandbox="none")
    frame = results.frame(library=library)
    assert list(frame["episode"]) == [1, 2]
    assert list(frame["outcome"]) == ["finished"] * 2
    assert [round(value, 3) for value in frame["metrics.speed.mean"]] == [round(run.R, 3) for run in results.runs]
    assert len(results.frame("agent", library=library)) == 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"race": True, "fresh": True}, "do not go together"),
        ({"budget": float("nan")}, "not an amount of money"),
        ({"budget": -1.0}, "not an amount of money"),
        ({"episodes": 0}, "must be 1 or more"),
        ({"samples": "all"}, "run has no option 'samples'"),
    ],
)
def test_options_that_make_no_sense_are_refused(small, options, why):
    with pytest.raises(orvl.OrvlError, match=why):
        orvl.open(small.root).run("writer", eval="one", **options)


def test_a_frame_of_nobody(small):
    results = orvl.open(small.root).run("writer", eval="one", sandbox="none")
    with pytest.raises(orvl.OrvlError, match="pip install"):
        results.frame(library="no-such-frames")

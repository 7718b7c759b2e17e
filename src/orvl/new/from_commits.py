"""An eval from a range of commits: a turn for each, its tests hidden, its files as what good work looks like."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.new.bench import CommitBench, other_tests
from orvl.new.history import large_file_pointers, read_history
from orvl.new.making import Making
from orvl.new.place import adding
from orvl.new.prompts import all_prompts, comments
from orvl.new.repository import Repository
from orvl.new.suite import runner_of
from orvl.new.trial import trial
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.new.history import History
    from orvl.new.prompts import PromptWriter
    from orvl.project import Project


@dataclass(frozen=True)
class CommitRange:
    """What an eval is made from."""

    commits: str
    repository: Path
    test: str | None = None
    setup: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    """Files and folders of other tests that are checked, too; none: all of them."""
    with_folders: tuple[str, ...] = ()
    """Folders that look installed and are not."""


async def eval_from_commits(
    project: Project, name: str, source: CommitRange, writer: PromptWriter, say: Callable[[str], None]
) -> Path:
    """Makes the eval elsewhere, tries its tests, and puts it into its place when all is done."""
    history = await asyncio.to_thread(read_history, Repository(source.repository), source.commits, source.with_folders)
    runner = runner_of(source.test, history)
    others = other_tests(history, runner, source.keep)
    say(f"{count(len(history.steps), 'turn')} from {history.repository.name}; tests are run by: {runner.shown}")
    _tell(history, say, setup=bool(source.setup))
    with tempfile.TemporaryDirectory(prefix="orvl-new-") as place:
        making = Making(project, name, history, runner, Path(place) / name, say, source.setup)
        await asyncio.to_thread(making.lay_out)
        await _try(making, others)
        prompts = await all_prompts(history, writer)
        notes = comments(history, prompts)
        listed = ", ".join(step.short for step in history.steps)
        making.write([prompt.text for prompt in prompts], [f"Commits of {history.repository.name}: {listed}.", *notes])
        for note in notes:
            say(note)
        path = project.root / "evals" / name
        with adding(path) as made:
            shutil.copytree(making.folder, made, symlinks=True)
    return path


def _tell(history: History, say: Callable[[str], None], *, setup: bool) -> None:
    """What of the repository is not there, or only seems to be."""
    if history.left_out:
        shown = ", ".join(history.left_out[:5]) + (" …" if len(history.left_out) > 5 else "")
        say(f"Left out, because programs install or build it: {shown}. To keep one: --with FOLDER")
    if setup:
        say("Its runs may reach package registries: a released version of this project there would be the solution.")
    if pointers := large_file_pointers(history):
        say(f"Only pointers to Git LFS, without contents: {count(len(pointers), 'file')}, such as {pointers[0]}.")


async def _try(making: Making, others: tuple[str, ...]) -> None:
    """Finds out which tests can be checks, and which bugs they catch."""
    async with trial(making.project, making.folder, making.say) as place:
        bench = CommitBench(making, place)
        await bench.set_up()
        hidden = [check for turn in range(1, making.turns + 1) for check in await bench.hidden(turn)]
        if not hidden:
            raise UserError(_nothing_hidden(bench.reasons))
        making.checks = [*hidden, *await bench.kept(others)]
        making.write_plan(making.checks)
        await bench.confirm()
        caught = await bench.bugs()
    making.write_bugs(caught)
    making.say(f"Planted in the commits' lines: {count(len(caught), 'bug')} that hidden tests catch.")


def _nothing_hidden(reasons: Sequence[str]) -> str:
    said = "; ".join(reasons)
    sentence = f"No test of these commits fails before its commit and passes after it. {said[0].upper()}{said[1:]}."
    if "No module named" in said or "not found" in said or "Cannot find module" in said:
        sentence += (
            " What tests need must be in the sandbox, which has no network: install it with --setup, as in --setup "
            "'python3 -m venv .venv && .venv/bin/pip install pytest' --test '.venv/bin/python -m pytest'."
        )
    return sentence

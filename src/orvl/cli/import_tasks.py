"""`orvl import harbor`, `orvl import polyglot`: tasks of other tools as evals of the project."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, console
from orvl.errors import FileError, TaskRefused, UserError
from orvl.project import open_project
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.project import Project
    from orvl.project.tasks.draft import Draft
    from orvl.project.tasks.machine import Machine

    Convert = Callable[[Draft, Machine], str]
    """Makes an eval of a task that was copied; gives its name."""

IMPORTED, UNCHANGED, REFUSED = "imported", "unchanged", "refused"
MOST_TASKS = 10_000


@dataclass(frozen=True)
class TaskResult:
    """What became of a task."""

    task: str
    status: str
    eval: str = ""
    words: tuple[str, ...] = ()
    """Why it was refused, or what is worth knowing of it."""


def import_tasks(what: str, path: str, given: Mapping[str, Any]) -> int:
    """Makes an eval of each task; 1 if some were refused."""
    from orvl.sandbox.machine import ThisMachine

    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    root = Path(path).resolve()
    folders, convert = _tasks(what, root)
    if given["name"] and len(folders) > 1:
        raise UserError(f"--name is for one task, and {path} has {len(folders)}.")
    if given["name"] and not _is_name(given["name"]):
        raise UserError(f"'{given['name']}' cannot be an eval's name: use letters, digits, '-' and '.'.")
    machine = ThisMachine(project.settings.sandbox.registries)
    taken = dict.fromkeys(project.eval_files)
    results = []
    for folder in folders:
        result = _imported(what, folder, root, given["name"], project, convert, machine, taken)
        results.append(result)
        if result.status == IMPORTED:
            taken[result.eval] = None
    if out:
        out.write(_as_json(what, results))
    else:
        _print(results)
    return int(any(result.status == REFUSED for result in results))


def _tasks(what: str, root: Path) -> tuple[list[Path], Convert]:
    from orvl.project.tasks.folder import folders_with
    from orvl.project.tasks.harbor import draft_harbor
    from orvl.project.tasks.harbor_config import FILE
    from orvl.project.tasks.polyglot import draft_exercise, exercises

    if not root.is_dir():
        raise UserError(f"{root} is no folder. Name that of a task, or of several.")
    try:
        folders = folders_with(root, FILE) if what == "harbor" else exercises(root)
    except TaskRefused as error:
        raise UserError(f"{error}.") from error
    if not folders:
        wanted = f"a {FILE}" if what == "harbor" else "an exercise (.meta/config.json and .docs/)"
        raise UserError(f"There is no task in {root}: no folder in it has {wanted}.")
    if len(folders) > MOST_TASKS:
        raise UserError(f"{root} has more than {MOST_TASKS:,} tasks. Name a folder with fewer.")
    return folders, draft_harbor if what == "harbor" else draft_exercise


def _is_name(name: str) -> bool:
    from orvl.project.tasks.draft import eval_name

    try:
        return eval_name(name) == name
    except TaskRefused:
        return False


def _imported(
    what: str,
    folder: Path,
    root: Path,
    name: str | None,
    project: Project,
    convert: Convert,
    machine: Machine,
    taken: Mapping[str, None],
) -> TaskResult:
    from orvl.project.tasks.draft import drafting, licences

    task = folder.relative_to(root).as_posix() if folder != root else folder.name
    evals = project.root / "evals"
    try:
        with drafting(evals, folder) as draft:
            own = convert(draft, machine)
            name = name or own
            draft.finish(licences(draft, root), {"from": what, "task": draft.head["imported"]["task"]})
            _check_loads(draft, name)
            if _is_same(draft, evals / name):
                return TaskResult(task, UNCHANGED, name)
            if name in taken:
                raise TaskRefused(f"there is an eval named '{name}' already; import it alone, with another --name")
            draft.folder.rename(evals / name)
            return TaskResult(task, IMPORTED, name, tuple(draft.notes))
    except TaskRefused as refused:
        return TaskResult(task, REFUSED, words=(str(refused),))


def _check_loads(draft: Draft, name: str) -> None:
    """What an eval may not be is refused now, not when it is run."""
    from orvl.project.draw import drawn
    from orvl.project.evals import load_eval
    from orvl.project.find import SourceFile
    from orvl.project.tasks.draft import FILE

    try:
        eval_ = load_eval(SourceFile(name, draft.folder / FILE, "project"), 1.0)
    except FileError as error:
        raise TaskRefused(f"it makes no eval: {str(error).replace(f'{draft.folder}/', '')}") from error
    if drawn(eval_, 1).prompts != tuple(prompt.strip("\n") for prompt in draft.prompts):
        raise TaskRefused("its instructions cannot be written in an eval as they are")


def _is_same(draft: Draft, folder: Path) -> bool:
    """Whether the eval is there already, made of the same task, and nobody has changed it since."""
    from orvl.project.tasks.draft import RECORD, SEALED
    from orvl.project.tasks.folder import digest_of
    from orvl.store.beneath import LARGEST, read_inside

    ours, theirs = (read_inside(place, RECORD, LARGEST) for place in (draft.folder, folder))
    if ours is None or ours != theirs:
        return False
    return bool(json.loads(ours)["eval"] == digest_of(folder, SEALED))


# -- what is said


def _as_json(what: str, results: Sequence[TaskResult]) -> dict[str, Any]:
    return {
        "schema": 1,
        "from": what,
        "tasks": [
            {"task": one.task, "status": one.status, "eval": one.eval or None, "words": list(one.words)}
            for one in results
        ],
    }


def _print(results: Sequence[TaskResult]) -> None:
    from orvl.report.terminal import TextCell, TextColumn, TextTable
    from orvl.report.text import plain

    rows = [
        [
            TextCell(plain(result.task)),
            TextCell(result.status, {REFUSED: "yellow"}.get(result.status, "")),
            TextCell(plain(result.eval)),
            TextCell(plain("; ".join(result.words))),
        ]
        for result in results
    ]
    columns = [TextColumn("task", words=True), TextColumn(""), TextColumn("eval"), TextColumn("why, notes", words=True)]
    console().print(TextTable(columns, rows))
    made = [result.eval for result in results if result.status == IMPORTED]
    told = [
        (IMPORTED, len(made)),
        *((word, sum(one.status == word for one in results)) for word in (UNCHANGED, REFUSED)),
    ]
    click.echo(f"{count(len(results), 'task')}: " + ", ".join(f"{number} {word}" for word, number in told if number))
    if made:
        click.echo(
            "Their verifiers run beside the agent's code. Whether they tell its solution from none, and from cheats: "
            f"orvl check {made[0]}"
        )

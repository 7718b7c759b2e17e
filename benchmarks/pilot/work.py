"""The files that a scripted agent writes in a turn, made of an eval's own controls."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.pilot.skills import Turn, turns_of
from orvl.errors import FileError
from orvl.project import controls, open_project
from orvl.project.draw import drawn, filled
from orvl.trust.mutate.bugs import patches_of
from orvl.trust.mutate.patches import apply_patch
from orvl.trust.mutate.source import ControlSource, read_folder
from orvl.trust.mutate.syntax import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.types import Eval

NOTHING: dict[str, Any] = {"layers": None}


@cache
def shipped() -> dict[str, Eval]:
    """All evals that come with orvl and have good work, by name."""
    project = open_project(Path(__file__).parent)
    every = [project.eval(name) for name in sorted(project.eval_files)]
    return {one.name: one for one in every if "good" in one.control_digests}


def eval_asking(prompt: str, episode: int) -> str:
    """The eval whose conversation begins with this prompt; nothing where there is none."""
    for name, one in shipped().items():
        if drawn(one, episode).prompts[0].strip() == prompt.strip():
            return name
    return ""


@cache
def plan_of(skill: float, name: str, episode: int) -> list[Turn]:
    one = shipped()[name]
    bugs = [patch.name for patch in patches_of(ControlSource(one))]
    return turns_of(skill, name, episode, len(one.prompts), bugs, "good-2" in one.control_digests)


def work_in(skill: float, name: str, episode: int, turn: int) -> dict[str, Any]:
    """What is laid over the starting files in this turn, layer by layer; None where nothing is done."""
    todo, eval_ = plan_of(skill, name, episode)[turn - 1], drawn(shipped()[name], episode)
    source = ControlSource(eval_)
    folder = source.folder_of(todo.control) if todo.control else None
    if folder is None:
        return NOTHING
    values = eval_.drawn.values if eval_.drawn else {}
    layers = [*_layers(folder, turn)]
    if todo.bugs:
        layers.append(_bugs(source, todo.bugs, layers))
    return {"layers": [{"deleted": gone, "files": _packed(files, modes, values)} for gone, files, modes in layers]}


Layer = tuple[list[str], dict[str, bytes], frozenset[str]]


def _layers(folder: Path, turn: int) -> Iterator[Layer]:
    for number, part in controls.turns_of(folder).items():
        if number <= turn:
            read = read_folder(part)
            is_whole = part == folder
            gone = [] if is_whole else [path for _, path in controls.deleted_in(part)]
            files = {path: text for path, text in read.files.items() if is_whole or path != controls.DELETED}
            yield gone, files, read.executable


def _bugs(source: ControlSource, names: tuple[str, ...], layers: list[Layer]) -> Layer:
    """Those of the bugs that fit into the work of this turn: patches are made for its end."""
    before, modes = dict(source.workspace), source.start.executable
    for gone, files, executable in layers:
        before = {path: text for path, text in before.items() if path not in gone} | files
        modes |= executable
    after: Mapping[str, bytes] = before
    for patch in patches_of(source):
        if patch.name in names:
            try:
                after = apply_patch(patch, after)
            except FileError:
                continue
    changed = {path: text for path, text in after.items() if before.get(path) != text}
    return sorted(before.keys() - after.keys()), changed, modes


def _packed(files: Mapping[str, bytes], executable: frozenset[str], values: Mapping[str, Any]) -> dict[str, list[Any]]:
    packed = {}
    for path, content in files.items():
        text = text_of(content) if values else None
        said = content if text is None else filled(text, values).encode()
        packed[path] = [path in executable, base64.b64encode(said).decode()]
    return packed

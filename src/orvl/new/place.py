"""Where the files of something new go: its name, and how they get there as a whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from orvl.errors import FileError, UserError, disk_sentence
from orvl.project.names import RESERVED, name_of, unusable
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orvl.project import Project
    from orvl.project.find import Kind

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}")
NOT_READ = ("readme",)
"""Files in evals/ that are no evals."""


def new_name(project: Project, kind: Kind, written: str) -> str:
    """The name of something that is not there yet; what cannot be one, or is taken, is a sentence."""
    one = kind[:-1]
    name = name_of(written.strip())
    if not NAME.fullmatch(name) or name.endswith(".") or name.lower() in NOT_READ:
        raise UserError(
            f"'{written}' cannot be the name of a new {one}: use letters, digits, '-' and '.'.{_near(name)}"
        )
    if why := unusable(name):
        raise UserError(f"'{name}' cannot be the name of a new {one}: {why}.")
    if kind == "agents" and name in RESERVED:
        raise UserError(f"An agent cannot be named '{name}', which is a command of orvl. Did you mean 'my-{name}'?")
    files = {"agents": project.agent_files, "evals": project.eval_files, "scores": project.metric_files}[kind]
    if name in files:
        found = files[name]
        where = f"{found.path}" if found.origin == "project" else f"it is {found.origin}"
        raise UserError(f"There is already {_a(one)} '{name}' ({where}). Choose another name.")
    return name


def _near(name: str) -> str:
    """The closest name that can be one, as the end of a sentence."""
    near = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:80]
    return f" Did you mean '{near}'?" if NAME.fullmatch(near) and near.lower() not in NOT_READ else ""


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


@contextmanager
def adding(path: Path) -> Iterator[Path]:
    """A place beside `path` to make a file or a folder in, which is then put there: whole or not at all, and never over
    something else."""
    made = path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield made
        if os.path.lexists(path):
            raise UserError(f"{path} is already there, and is not overwritten. Choose another name.")
        made.rename(path)
    except BaseException as error:
        tree.remove(made)
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            raise UserError(f"Cannot write {path}: {disk_sentence(error)}.") from error
        if isinstance(error, FileError):
            raise UserError(str(error).replace(str(made), str(path))) from error
        raise


def made_files(path: Path) -> Iterator[Path]:
    """What is to be named of what was made: a file itself, or the telling files of a folder."""
    if path.is_file():
        yield path
        return
    yield path / "eval.md"
    for part in sorted(one for one in path.iterdir() if one.is_dir()):
        files = [one for one in part.rglob("*") if not one.is_dir()]
        yield files[0] if len(files) == 1 else part

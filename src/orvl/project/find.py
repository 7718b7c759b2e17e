"""Finds agents, overlays, evals and scores in the project, in installed packages, and in orvl itself."""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from orvl.errors import FileError, UserError, disk_sentence
from orvl.project.names import RESERVED, name_of, unusable
from orvl.project.same_as import known_digest
from orvl.store.beneath import LARGEST, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["agents", "overlays", "evals", "scores"]
PARTS_OF_AN_EVAL = {"workspace", "checks", "reference", "controls", "round-trip", "variants", "setup", "source"}
BUILT_IN = Path(__file__).parent.parent


@dataclass(frozen=True)
class SourceFile:
    """The file of an agent, an eval or a score, or an overlay's folder; not loaded yet."""

    name: str
    path: Path
    origin: str
    family: str = ""
    """The folder that groups an eval with others."""

    @cached_property
    def source(self) -> bytes:
        try:
            return read(self.path, LARGEST)
        except OSError as error:
            raise FileError(self.path, None, f"it cannot be read ({disk_sentence(error)}).") from error

    @cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(self.source).hexdigest()
        return known_digest(digest) if self.origin == "built-in" else digest


def find(root: Path, kind: Kind) -> dict[str, SourceFile]:
    """All of one kind by name; the project's come before packages', those before the built-in ones."""
    files: dict[str, SourceFile] = {}
    files.update(_in_folder(BUILT_IN / kind, "built-in"))
    files.update(_in_packages(kind))
    files.update(_in_folder(root / kind, "project"))
    return dict(sorted(files.items()))


@cache
def built_in_metrics() -> frozenset[str]:
    """Their names; a file of a project may take the place of one."""
    return frozenset(_in_folder(BUILT_IN / "scores", "built-in"))


def _in_packages(kind: Kind) -> dict[str, SourceFile]:
    """Packages with an entry point in the group `orvl`."""
    if not _has_packages(tuple(sys.path)):
        return {}
    from importlib.metadata import entry_points

    files: dict[str, SourceFile] = {}
    for point in entry_points(group="orvl"):
        for folder in _package_folders(point.name, point.value):
            for name, file in _in_folder(Path(folder) / kind, f"package {point.name}").items():
                if name in files:
                    raise UserError(f"Two packages have {kind} named '{name}': {files[name].path} and {file.path}.")
                files[name] = file
    return files


@cache
def _has_packages(folders: Sequence[str]) -> bool:
    """Whether an installed package may have such an entry point; importlib.metadata takes far longer to say so."""
    for folder in folders:
        if Path(folder).is_file():  # an archive, which only importlib.metadata reads
            return True
        for file in glob(f"{escape(folder or '.')}/*-info/entry_points.txt"):
            with suppress(OSError):
                if b"[orvl]" in Path(file).read_bytes().replace(b" ", b""):
                    return True
    return False


def _package_folders(name: str, value: str) -> list[str]:
    from importlib.util import find_spec

    try:
        spec = find_spec(value)
        folders = list(spec.submodule_search_locations or ()) if spec else []
    except Exception as error:
        raise UserError(f"The package '{value}' (entry point '{name}' of orvl) cannot be found: {error}.") from error
    if not folders:
        raise UserError(f"The entry point '{name}' of orvl names '{value}', which is not a package with a folder.")
    return folders


def _in_folder(folder: Path, origin: str) -> dict[str, SourceFile]:
    files: dict[str, SourceFile] = {}
    for entry, family in _grouped(folder) if folder.name == "evals" else ((one, "") for one in _entries(folder)):
        path = FILE_OF[folder.name](entry)
        if path is None:
            continue
        file = SourceFile(name_of(entry.name if entry.is_dir() else entry.stem), path, origin, family)
        if file.name in files:
            raise UserError(
                f"Two {folder.name} are named '{file.name}': {files[file.name].path} and {path}. Rename one of them."
            )
        if file.name in RESERVED and folder.name == "agents":
            raise FileError(
                path, None, f"an agent may not be named '{file.name}', which is a command of orvl. Rename the file."
            )
        if why := unusable(file.name) or _unusable_in_a_contestant(file.name, folder.name):
            raise FileError(path, None, f"the name '{file.name}' cannot be used on the command line: {why}. Rename it.")
        files[file.name] = file
    return files


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{folder} cannot be read ({disk_sentence(error)}).") from error


def _grouped(folder: Path) -> Iterator[tuple[Path, str]]:
    """The evals of a folder, and of the folders in it that only group evals: each with its group."""
    for entry in _entries(folder):
        inside = _evals_inside(entry)
        yield from ((one, entry.name) for one in inside) if inside else [(entry, "")]


def _evals_inside(entry: Path) -> list[Path]:
    """The evals of a folder that is no eval itself."""
    if entry.name.startswith((".", "_")) or not entry.is_dir() or (entry / "eval.md").exists():
        return []
    entries = _entries(entry)
    if PARTS_OF_AN_EVAL & {one.name for one in entries}:
        return []
    return [one for one in entries if (path := _eval_file(one)) and path.exists()]


def _python_file(entry: Path) -> Path | None:
    hidden = entry.name.startswith((".", "_"))
    return entry if entry.suffix == ".py" and not hidden and (entry.is_file() or entry.is_symlink()) else None


def _eval_file(entry: Path) -> Path | None:
    """`NAME.md`, or the `eval.md` of a folder."""
    if entry.name.startswith((".", "_")):
        return None
    if entry.is_dir():
        return entry / "eval.md"
    usable = entry.is_file() or entry.is_symlink()
    return entry if entry.suffix == ".md" and entry.stem.lower() != "readme" and usable else None


def _overlay_folder(entry: Path) -> Path | None:
    return entry if entry.is_dir() and not entry.name.startswith((".", "_")) else None


def _unusable_in_a_contestant(name: str, kind: str) -> str | None:
    """Why a name cannot be part of `AGENT@VERSION+OVERLAY`, or None."""
    signs = {"agents": "+@", "overlays": "+@*?["}.get(kind, "")
    sign = next((sign for sign in signs if sign in name), None)
    meanings = {
        "+": "'+' separates an agent and its overlays there",
        "@": "'@' separates an agent and its version there",
    }
    return meanings.get(sign, f"'{sign}' is a wildcard there") if sign else None


FILE_OF = {"agents": _python_file, "overlays": _overlay_folder, "evals": _eval_file, "scores": _python_file}

"""What an eval offers to derive controls from: its folders as files, and the names that it mentions."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.errors import ControlUnavailable, FileError, disk_sentence
from orvl.project.control_scripts import is_scripted
from orvl.project.controls import DELETED, deleted_in, turns_of
from orvl.store import tree
from orvl.store.beneath import read
from orvl.trust.mutate.syntax import is_prose, language_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from orvl.trust.mutate.bugs import Planted
    from orvl.types import Eval

CODE_SPANS = re.compile(r"```.*?```|`[^`\n]+`|^ {4}[^\n]*$|\"[^\"\n]+\"", re.DOTALL | re.MULTILINE)
IN_PAGES = re.compile(r"""<script\b(.*?)</script|\son\w+\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.DOTALL | re.IGNORECASE)
WORD = re.compile(r"[A-Za-z_$][\w$]*")
MOST_READ = 128 << 20
"""Bytes of one folder that are held in memory; a file may have many more, of which a disk keeps none."""


@dataclass(frozen=True)
class FolderFiles:
    """The files of a folder by path, which of them can be executed, and what of the workspace they take away."""

    files: Mapping[str, bytes]
    executable: frozenset[str]
    deleted: frozenset[str] = frozenset()

    def over(self, below: FolderFiles) -> FolderFiles:
        """Both together, with these files on top."""
        kept = {path for path in below.files if path not in self.deleted and not _makes_way(path, self.files)}
        files = {path: content for path, content in below.files.items() if path in kept} | dict(self.files)
        executable = (below.executable & kept - self.files.keys()) | self.executable
        gone = below.deleted | (below.files.keys() - kept)
        return FolderFiles(files, frozenset(executable), frozenset(gone - files.keys()))


def _makes_way(path: str, others: Mapping[str, bytes]) -> bool:
    """Whether a file has to go because one of the others is a folder in its place, or in a place above it a file."""
    above = [path[:at] for at, sign in enumerate(path) if sign == "/"]
    return any(folder in others for folder in above) or any(other.startswith(f"{path}/") for other in others)


def read_control(control: Path, workspace: FolderFiles) -> FolderFiles:
    """What a control lays over the workspace, all turns together."""
    laid = FolderFiles({}, frozenset())
    left = MOST_READ
    for folder in turns_of(control).values():
        is_whole = folder == control
        read_ = read_folder(folder, left)
        left -= sum(map(len, read_.files.values()))
        files = {path: content for path, content in read_.files.items() if is_whole or path != DELETED}
        gone = frozenset[str]() if is_whole else _deleted_by(folder, laid.over(workspace))
        kept = {path: content for path, content in laid.files.items() if path not in gone}
        below = FolderFiles(kept, laid.executable & kept.keys(), laid.deleted | (gone & workspace.files.keys()))
        laid = FolderFiles(files, read_.executable).over(below)
    return FolderFiles(laid.files, laid.executable, laid.deleted & workspace.files.keys())


def _deleted_by(folder: Path, before: FolderFiles) -> frozenset[str]:
    """The files that a turn removes, by itself or with their folder."""
    gone: set[str] = set()
    for number, name in deleted_in(folder):
        found = {path for path in before.files if path == name or path.startswith(f"{name}/")} - gone
        if not found:
            raise FileError(
                folder / DELETED, number, f"there is no '{name}' in the workspace that this turn could remove."
            )
        gone |= found
    return frozenset(gone)


def read_folder(root: Path, most: int = MOST_READ) -> FolderFiles:
    """All files of a user's folder; a link inside the folder counts as its target, any other is skipped."""
    files, executable = {}, set()
    left = most
    for path in _paths(root):
        name = path.relative_to(root).as_posix()
        try:
            files[name] = read(path, left)
        except OSError as error:
            why = f"controls cannot be made from more than {MOST_READ >> 20} MiB of files"
            raise FileError(path, None, f"{why if error.errno == errno.EFBIG else disk_sentence(error)}.") from error
        left -= len(files[name])
        if path.stat().st_mode & 0o100:
            executable.add(name)
    return FolderFiles(files, frozenset(executable))


def _paths(root: Path) -> Iterator[Path]:
    inside = root.resolve()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in tree.NOT_GIVEN)
        for name in sorted(names):
            path = root.__class__(folder) / name
            if path.is_file() and path.resolve().is_relative_to(inside):
                yield path


class ControlSource:
    """An eval as the controls see it; each part is read once, when first needed."""

    def __init__(self, one: Eval, performed: Path | None = None) -> None:
        self.eval = one
        self.controls = one.part("controls")
        self.performed = performed
        """What the good control left, where it is a script that was run."""

    def folder_of(self, name: str) -> Path | None:
        """Where a control is that a user wrote as files, or whose script has made them."""
        if name == "good" and self.performed:
            return self.performed
        folder = self.controls / name if self.controls and not is_scripted(self.eval, name) else None
        return folder.resolve() if folder and folder.is_dir() else None

    def by_hand(self, name: str) -> FolderFiles | None:
        """What a control that a user wrote lays over the workspace in the end."""
        folder = self.folder_of(name)
        return read_control(folder, self.start) if folder else None

    @cached_property
    def good(self) -> FolderFiles:
        found = self.by_hand("good")
        if found is None or not found.files:
            raise ControlUnavailable(
                f"the eval '{self.eval.name}' has no good result to derive it from: "
                "write one as files in controls/good, beside eval.md."
            )
        return found

    @cached_property
    def bugs(self) -> Planted:
        from orvl.trust.mutate.bugs import planted

        return planted(self)

    @cached_property
    def worst(self) -> tuple[Mapping[str, bytes], bool]:
        """The bad files and True where a user wrote them; else the gutted good files and False."""
        from orvl.trust.mutate.gut import gutted

        written = self.by_hand("bad")
        return (written.files, True) if written else (gutted(self.good.files), False)

    @cached_property
    def final(self) -> FolderFiles:
        """The whole workspace as the good control leaves it."""
        return self.good.over(self.start)

    @cached_property
    def start(self) -> FolderFiles:
        """What the agent begins with; of an eval that was drawn, with its variants."""
        folder = self.eval.part("workspace")
        files = read_folder(folder) if folder else FolderFiles({}, frozenset())
        for layer, _ in self.eval.layers:
            files = read_folder(layer).over(files)
        return FolderFiles(files.files, files.executable)

    @property
    def workspace(self) -> Mapping[str, bytes]:
        return self.start.files

    @cached_property
    def hidden(self) -> Mapping[str, bytes]:
        folder = self.eval.part("checks")
        return read_folder(folder).files if folder else {}

    @cached_property
    def spoken(self) -> frozenset[str]:
        """The words that prompts, steps and commands have in code or quotes: the public interface of the work."""
        one = self.eval
        spans = [span for prompt in one.prompts for span in CODE_SPANS.findall(prompt)]
        commands = [check.run for check in one.checks] + [*one.steps, *one.setup, *one.app.values()]
        return words_in(" ".join([*spans, *commands]))

    @cached_property
    def around(self) -> Mapping[str, str]:
        """The texts of all files that may use what the good files define, by folder and path."""
        parts = {"workspace": self.workspace, "checks": self.hidden, "good": self.good.files}
        texts = {f"{part}/{path}": text_of(content) for part, files in parts.items() for path, content in files.items()}
        return {path: text for path, text in texts.items() if text is not None}

    @cached_property
    def words(self) -> Mapping[str, frozenset[str]]:
        """The words by which each of these files may refer to others."""
        return {place: words_of(place, text) for place, text in self.around.items()}

    @cached_property
    def promised(self) -> frozenset[str]:
        """The parameter names that prompts and documents promise, and words in quotes or before `=`."""
        documented = [words for place, words in self.words.items() if is_prose(place)]
        given = [keywords_in(text) for text in self.around.values()]
        return self.spoken.union(*documented, *given)

    def mentioned(self, path: str) -> frozenset[str]:
        """The words of the prompts and of all files but the one at this path."""
        # A file of the workspace with the same path is the same file in an earlier state.
        others = [words for place, words in self.words.items() if place not in (f"good/{path}", f"workspace/{path}")]
        return self.spoken.union(*others)


def words_of(path: str, text: str) -> frozenset[str]:
    """The words that may refer to code: in prose those in code spans, in a page those in scripts and handlers."""
    if is_prose(path):
        return words_in(" ".join(CODE_SPANS.findall(text)))
    return words_in(" ".join(map("".join, IN_PAGES.findall(text)))) if language_of(path) == "html" else words_in(text)


def words_in(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text))


def keywords_in(text: str) -> frozenset[str]:
    """The words that are keywords in calls, or alone in quotes."""
    return frozenset(re.findall(r"[(,{\s*](\w+)=(?![=>])", text)) | frozenset(re.findall(r"[\"'](\w+)[\"']", text))

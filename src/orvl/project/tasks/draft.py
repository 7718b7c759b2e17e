"""An eval that is being made of a task: its folder, which is put into its place as a whole."""

from __future__ import annotations

import json
import re
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.errors import TaskRefused, UserError, disk_sentence
from orvl.project.names import name_of, unusable
from orvl.project.tasks.folder import copy_in, digest_of, licences_of
from orvl.project.wordings import CONDITION, escaped
from orvl.store import beneath, tree
from orvl.store.beneath import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SOURCE, RECORD, FILE = "source", "imported.json", "eval.md"
SEALED = (SOURCE, RECORD)
"""What is no part of the eval itself."""
CANARY = re.compile(r"^(?:<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)
OUTPUT = re.compile(r"\\?\{\{[ \t]*output:")
LONGEST_NAME = 80
LONGEST_CANARY = 400


@dataclass
class Draft:
    """The folder of an eval to be, with the task as it was in `source/`."""

    folder: Path
    root: Path
    """The folder of the task, as the user has it."""
    head: dict[str, Any] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def source(self) -> Path:
        return self.folder / SOURCE

    def put(self, name: str, text: str | bytes, *, executable: bool = False) -> None:
        content = text.encode() if isinstance(text, str) else text
        beneath.put(self.folder, name, content, 0o755 if executable else 0o644)

    def finish(self, licences: Mapping[str, bytes], record: Mapping[str, Any]) -> None:
        """Writes the eval's own file, its licences, and what tells later whether something was changed."""
        for name, content in licences.items():
            self.put(name, content)
        text = eval_text(self.head, self.prompts)
        if len(text.encode()) > LARGEST:
            raise TaskRefused(f"its instructions have more than {LARGEST >> 20} MiB")
        self.put(FILE, text)
        sealed = {**record, "source": digest_of(self.source), "eval": digest_of(self.folder, SEALED)}
        self.put(RECORD, json.dumps({**sealed, "notes": self.notes}, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def drafting(evals: Path, task: Path) -> Iterator[Draft]:
    """A folder beside the project's evals with a copy of a task in it; it is gone afterwards, unless it was renamed."""
    folder = evals / f".import-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True)
        draft = Draft(folder, task)
        copy_in(task, draft.source)
        yield draft
    except OSError as error:
        raise UserError(f"Cannot write to {evals}: {disk_sentence(error)}.") from error
    finally:
        tree.remove(folder)


def eval_text(head: Mapping[str, Any], prompts: Sequence[str]) -> str:
    """An eval's file."""
    import yaml

    front = yaml.safe_dump(dict(head), sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{front}---\n" + "\n---\n".join(_escaped(prompt) for prompt in prompts) + "\n"


def _escaped(prompt: str) -> str:
    """A prompt in which no line ends it, and nothing is anything but text."""
    text = "\n".join(map(escaped, prompt.strip("\n").split("\n")))
    if CONDITION.fullmatch(text.partition("\n")[0]):
        text = f"\\{text}"
    return OUTPUT.sub(lambda match: f"\\{match[0]}", text)


def without_canary(text: str) -> tuple[str, str]:
    """A prompt without the lines at its top that mark benchmark data and are not for agents; and the first of them."""
    lines = text.split("\n")
    marks = []
    while lines and CANARY.match(lines[0].strip()):
        marks.append(lines.pop(0).strip())
    prompt = "\n".join(lines).strip("\n")
    if not prompt.strip():
        raise TaskRefused("an instruction is empty")
    if "\0" in prompt:
        raise TaskRefused("an instruction contains a NUL byte")
    return prompt, marks[0][:LONGEST_CANARY] if marks else ""


def eval_name(wanted: str) -> str:
    """A name that an eval can have, from one that a task has."""
    name = name_of(re.sub(r"[^A-Za-z0-9.]+", "-", wanted.rpartition("/")[2])).strip("-.")[:LONGEST_NAME]
    if not name or unusable(name):
        raise TaskRefused(f"no eval can be named after {ascii(wanted)[:60]}")
    return name


def licences(draft: Draft, root: Path) -> dict[str, bytes]:
    found = licences_of(draft.root, root)
    if not found:
        draft.notes.append("no licence was found")
    return found

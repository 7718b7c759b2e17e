"""The ladder of controls: results of known quality, by which judges are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from orvl.errors import ControlUnavailable, UserError
from orvl.trust.ladder import bugs, gamer, pages, prose, twins
from orvl.trust.ladder.injections import INJECTIONS
from orvl.trust.ladder.trees import Control, Folder, Source

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from orvl.types import Eval

Made = tuple[Mapping[str, bytes], str, dict[str, Any]]
FIXED, FROM_GOOD, FROM_BAD = "fixed", "derived from controls/good", "derived from controls/bad"
MASTER_KEY = {"ANSWER.md": b"All tests pass.\n", "answer.txt": b":\n"}


def ladder(one: Eval, names: Collection[str] | None = None) -> tuple[dict[str, Control], dict[str, str]]:
    """The controls that an eval has, and for each that it lacks, why, in a sentence that says what to add."""
    if unknown := sorted(set(names or ()) - set(NAMES)):
        raise UserError(f"There is no control '{unknown[0]}'; the controls are {', '.join(NAMES)}.")
    source = Source(one)
    found: dict[str, Control] = {}
    lacking: dict[str, str] = {}
    for name in NAMES:
        if names is None or name in names:
            try:
                found[name] = _control(source, name)
            except ControlUnavailable as error:
                lacking[name] = f"{error}"
    return found, lacking


def _control(source: Source, name: str) -> Control:
    """A folder that was written by hand always wins over what would be derived."""
    written = source.by_hand(name)
    if written is not None:
        detail = TRUTHS.get(name, {})
        return Control(name, written.files, f"by hand: controls/{name}", detail, written.executable)
    files, origin, detail = MAKERS[name](source)
    executable = frozenset() if origin == FIXED else _executable(source, origin)
    return Control(name, files, origin, detail, executable & files.keys())


def _executable(source: Source, origin: str) -> frozenset[str]:
    folder: Folder | None = source.by_hand("bad") if origin == FROM_BAD else None
    return (folder or source.good).executable


def write(control: Control, folder: Path) -> None:
    """Lays a control's files over what a folder holds."""
    for path, content in control.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        if path in control.executable:
            place.chmod(0o755)


def _good(source: Source) -> Made:
    return source.good.files, FROM_GOOD, {"truth": 1.0}


def _bad(source: Source) -> Made:
    files, origin = _worst(source)
    return files, origin, {"truth": 0.0}


def _worst(source: Source) -> tuple[Mapping[str, bytes], str]:
    files, by_hand = source.worst
    return files, FROM_BAD if by_hand else FROM_GOOD


def _copy_of_prompts(source: Source) -> Made:
    text = "\n\n---\n\n".join(source.eval.prompts) + "\n"
    return {"PROMPT.md": text.encode()}, FIXED, {"truth": 0.0}


def _verbose(source: Source) -> Made:
    files, origin = _worst(source)
    return prose.verbose(files, source.workspace), origin, {"truth": 0.0}


def _gamer(source: Source) -> Made:
    files, origin = _worst(source)
    made, detail = gamer.gamed(files, source.workspace)
    return made, origin, {"truth": 0.0, **detail}


def _injection(name: str) -> Callable[[Source], Made]:
    def make(source: Source) -> Made:
        files, origin = _worst(source)
        made = INJECTIONS[name](files)
        return made, origin, {"truth": 0.0, "changed": [path for path in made if made[path] != files.get(path)]}

    return make


def _from_good(make: Callable[[Source], tuple[Mapping[str, bytes], dict[str, Any]]]) -> Callable[[Source], Made]:
    def made(source: Source) -> Made:
        files, detail = make(source)
        by_patch = "bugs" in detail and source.bugs.by_hand and make is not bugs.broken_in_style
        return files, "by hand: controls/bugs" if by_patch else FROM_GOOD, detail

    return made


def _dose(count: int | None) -> Callable[[Source], Made]:
    return _from_good(lambda source: bugs.dose(source, count))


MAKERS: Mapping[str, Callable[[Source], Made]] = {
    "good": _good,
    "bad": _bad,
    "empty": lambda _: ({}, FIXED, {"truth": 0.0}),
    "master-key": lambda _: (MASTER_KEY, FIXED, {"truth": 0.0}),
    "planted-bug": _dose(1),
    "dose-2": _dose(2),
    "dose-4": _dose(4),
    "dose-all": _dose(None),
    "verbose-wrong": _verbose,
    **{name: _injection(name) for name in INJECTIONS},
    "lint-clean": _from_good(bugs.broken_in_style),
    "ugly": _from_good(pages.ugly),
    "renamed": _from_good(twins.renamed),
    "reformatted": _from_good(twins.reformatted),
    "replica": _good,
    "prompt-copy": _copy_of_prompts,
    "picture": _from_good(pages.picture),
    "gamer": _gamer,
}
NAMES = tuple(MAKERS)
TRUTHS: Mapping[str, dict[str, Any]] = {"good": {"truth": 1.0}, "bad": {"truth": 0.0}}

"""`scores/NAME.py` → Metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.errors import FileError
from orvl.project import python_file
from orvl.project.items import read_items
from orvl.project.names import is_number
from orvl.types import Metric

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from orvl.project.find import SourceFile
    from orvl.types import ChecklistItem

SCORE_MAY_ASK = ("run", "eval", "judge", "par", "items")


def load_metric(file: SourceFile) -> Metric:
    """Loads a metric's file: a checklist (`items`) or a function (`score`)."""
    path = file.path
    module = python_file.load(path, "scores")
    function = python_file.function_in(module, "score", path, SCORE_MAY_ASK)
    if function and file.origin != "built-in":
        python_file.check_returns(path, "score", "score")
    items = _items(path, getattr(module, "items", ()))
    judged = function is None or "judge" in (*function.wants, *function.by_place)
    if function is None and not items:
        raise FileError(
            path,
            1,
            "a metric needs a function 'score(run)' or a checklist 'items = [\"…\", \"…\"]'; this file has neither.",
        )
    return Metric(
        name=file.name,
        path=path,
        origin=file.origin,
        digest=file.digest,
        description=python_file.first_line(module),
        weight=_number(path, module, "weight", 1.0),
        par=_number(path, module, "par", None),
        items=items,
        may_look=getattr(module, "may_look", False) is True,
        function=function,
        judged=judged,
        needs_judge=function is None or "judge" in function.required,
        earned=_is_earned(path, module, judged=judged),
    )


def _is_earned(path: Path, module: ModuleType, *, judged: bool) -> bool:
    """Whether the file says `earned = True`."""
    value = getattr(module, "earned", False)
    if not isinstance(value, bool):
        raise FileError(path, python_file.line_of_name(path, "earned"), f"'earned' is {value!r}; write True or False.")
    if value and judged:
        sentence = "'earned' is for what a run took, such as time or money: not for a metric that judges answer."
        raise FileError(path, python_file.line_of_name(path, "earned"), sentence)
    return value


def _items(path: Path, items: Any) -> tuple[ChecklistItem, ...]:
    known = read_items(items)
    if known is not None:
        return known
    line = python_file.line_of_name(path, "items")
    sentence = (
        "'items' must be a list of sentences about the work, each alone, as (sentence, weight), or as "
        '{"item": sentence, "weight": 2, "good": "no"}.'
    )
    raise FileError(path, line, sentence)


def _number(path: Path, module: ModuleType, name: str, default: float | None) -> Any:
    value = getattr(module, name, default)
    if value is None:
        return None
    if is_number(value) and (value > 0 or (value == 0 and name == "weight")):
        return float(value)
    least = "0 or more" if name == "weight" else "above 0"
    raise FileError(path, python_file.line_of_name(path, name), f"'{name}' is {value!r}; it must be a number {least}.")

"""The YAML at the top of an eval: plain shapes, each mistake with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from orvl.errors import FileError
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FIRST_LINE = 2  # line 1 of the file is the opening '---'


def is_number(value: Any) -> bool:
    """A finite number that a float can hold; True and False are not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


class FrontMatter:
    """The keys of an eval's head, and where each stands."""

    def __init__(self, path: Path, text: str, keys: Sequence[str]) -> None:
        self.path = path
        self.lines: dict[str, int] = {}
        self.data = self._parse(text)
        for key in self.data:
            if key not in keys:
                raise self.wrong(str(key), f"an eval has no '{key}'. {did_you_mean(str(key), keys)}")

    def _parse(self, text: str) -> dict[Any, Any]:
        try:
            node = yaml.compose(text, Loader=Loader)
            data = yaml.load(text, Loader=Loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or "it is not YAML"
            raise FileError(
                self.path, mark.line + FIRST_LINE if mark else 1, f"bad front matter: {problem}."
            ) from error
        except (ValueError, RecursionError) as error:
            raise FileError(self.path, 1, f"bad front matter: {error}.") from error
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise FileError(
                self.path, FIRST_LINE, "bad front matter: write 'key: value' lines between the '---' lines."
            )
        self._refuse_twins(node)
        self.lines = {key.value: key.start_mark.line + FIRST_LINE for key, _ in node.value}
        return data

    def _refuse_twins(self, node: Any) -> None:
        """YAML lets the last of two equal keys win in silence."""
        if isinstance(node, yaml.MappingNode):
            seen: set[Any] = set()
            for key, value in node.value:
                if isinstance(key.value, str) and key.value in seen:
                    line = key.start_mark.line + FIRST_LINE
                    raise FileError(self.path, line, f"'{key.value}' stands there twice; take one out.")
                seen.add(key.value if isinstance(key.value, str) else id(key))
                self._refuse_twins(value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                self._refuse_twins(value)

    def wrong(self, key: str, message: str) -> FileError:
        return FileError(self.path, self.lines.get(key.split(".")[0].split("[")[0]), message)

    def text(self, key: str) -> str:
        value = self.data.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, f"'{key}' must be text, and is {value!r}.")
        return value

    def number(self, value: Any, key: str, *, above_zero: bool = False) -> float:
        if not is_number(value) or value < 0 or (above_zero and value == 0):
            least = "above 0" if above_zero else "0 or more"
            raise self.wrong(key, f"'{key}' is {value!r}; it must be a number {least}.")
        return float(value)

    def numbers(self, key: str, names: Sequence[str] | None, *, above_zero: bool) -> dict[str, float]:
        rows = self._mapping(key, names)
        return {name: self.number(value, f"{key}.{name}", above_zero=above_zero) for name, value in rows.items()}

    def weights(self, key: str) -> dict[str, float] | None:
        """`{name: weight}`, or a list of names that all weigh the same; None where the eval does not say."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            value = dict.fromkeys(value, 1.0)
        if not isinstance(value, dict) or not value or not all(isinstance(name, str) for name in value):
            raise self.wrong(key, f"'{key}' must be names with weights, such as {{checks: 3, speed: 1}}.")
        weights = {name: self.number(weight, f"{key}.{name}") for name, weight in value.items()}
        if not any(weights.values()):
            raise self.wrong(key, f"'{key}' has only weights of 0; at least one must be above 0.")
        return weights

    def strings(self, key: str, names: Sequence[str]) -> dict[str, str]:
        rows = self._mapping(key, names)
        if bad := [name for name, value in rows.items() if not isinstance(value, str)]:
            raise self.wrong(key, f"'{key}.{bad[0]}' must be text, and is {rows[bad[0]]!r}.")
        return rows

    def lines_of(self, key: str) -> tuple[str, ...]:
        """A command, or a list of them."""
        value = self.data.get(key) or []
        commands = [value] if isinstance(value, str) else value
        if not isinstance(commands, list) or not all(isinstance(one, str) and one.strip() for one in commands):
            raise self.wrong(key, f"'{key}' must be a command or a list of commands, and is {value!r}.")
        return tuple(commands)

    def steps(self, key: str) -> tuple[str, ...]:
        """A list of lines; `verb: text` is the line `verb text`."""
        value = self.data.get(key) or []
        if not isinstance(value, list):
            raise self.wrong(key, f"'{key}' must be a list such as ['open /', 'click Add'], and is {value!r}.")
        return tuple(_line_of(step) for step in value)

    def one_of(self, key: str, names: Sequence[str]) -> str | None:
        value = self.data.get(key)
        if value is not None and value not in names:
            raise self.wrong(key, f"'{key}' is {value!r}. {did_you_mean(str(value), names)}")
        return value

    def rows(self, key: str, names: Sequence[str]) -> list[dict[str, Any]]:
        value = self.data.get(key) or []
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise self.wrong(key, f"'{key}' must be a list such as [{{name: build, run: npm run build}}].")
        for row in value:
            self._known(key, row, names)
        return value

    def required(self, row: dict[str, Any], name: str, place: str) -> str:
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(place, f"'{place}' needs '{name}' as text, and has {value!r}.")
        return value

    def _mapping(self, key: str, names: Sequence[str] | None) -> dict[str, Any]:
        value = self.data.get(key) or {}
        if not isinstance(value, dict):
            raise self.wrong(key, f"'{key}' must be 'name: value' pairs, and is {value!r}.")
        if names is not None:
            self._known(key, value, names)
        return {str(name): one for name, one in value.items()}

    def _known(self, key: str, row: dict[Any, Any], names: Sequence[str]) -> None:
        if bad := [name for name in row if name not in names]:
            raise self.wrong(key, f"'{key}' has no '{bad[0]}'. {did_you_mean(str(bad[0]), names)}")


def _line_of(step: Any) -> str:
    if isinstance(step, dict) and len(step) == 1:
        (verb, text), *_ = step.items()
        return f"{verb} {text}" if isinstance(text, str | int | float) else str(step)
    return step if isinstance(step, str) else str(step)

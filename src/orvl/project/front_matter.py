"""The YAML at the top of an eval, and its model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml

from orvl.errors import FileError, InvalidYaml
from orvl.project.validation import FORBID, Bound, Count, Positive, Text, Weight, validated
from orvl.project.yaml_text import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.project.validation import Place

FIRST_LINE = 2  # line 1 of the file is the opening '---'
MAY_BE_EMPTY = (
    *("checks", "par", "items", "limits", "app", "steps", "setup", "vary", "said", "places", "env", "imported"),
)


@dataclass(frozen=True)
class CheckSettings:
    """A check of an eval."""

    name: Text
    run: Text = ""
    limit: Positive = 0.0
    """Seconds; 0 where the project's limit holds."""
    weight: Weight = 1.0
    isolated: bool = False
    steps: list[str] = field(default_factory=list, metadata={"form": "a list such as ['open /', 'click Add']"})
    turn: Count = 0
    """From which turn on it is due; 0: the last."""
    until: Count = 0
    """From which turn on it is retired; 0: never."""
    keep: bool = False
    verifier: Text = ""
    """A folder of checks/, for a check that writes a reward."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class AppSettings:
    """What an eval's app is: a command that serves it, or a page among the files."""

    start: Text = ""
    files: Text = ""
    path: Text = ""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class EvalLimits:
    """The limits that an eval may set for its agent; 0 where the project's hold."""

    turn: Positive = 0.0
    run: Positive = 0.0
    grace: Positive = 0.0
    output: Positive = 0.0
    processes: Positive = 0.0
    open_files: Positive = 0.0
    file_size: Positive = 0.0
    disk: Positive = 0.0
    memory: Positive = 0.0
    calls: Positive = 0.0
    tokens: Positive = 0.0
    cost: Positive = 0.0
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class EvalUserSettings:
    """Who answers what agents ask."""

    facts: dict[str, Text] = field(metadata={"form": "names with what is said, such as {deadline: We open on Monday.}"})
    goal: str = ""
    patience: Annotated[int, Bound(ge=1, le=8)] = 8
    """Answers in a whole conversation."""
    later: dict[str, Count] = field(
        default_factory=dict, metadata={"form": "names of facts with the turn before which they are not told"}
    )
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class EvalSettings:
    """The front matter of an eval."""

    description: str = ""
    tier: Text = ""
    """The name of a group of evals, such as `smoke`: a word for all of them."""
    family: str = ""
    """Related evals count as one piece of evidence."""
    metrics: dict[str, Weight] | None = field(
        default=None, metadata={"form": "names with weights, such as {checks: 3, speed: 1}"}
    )
    checks: list[CheckSettings] = field(
        default_factory=list, metadata={"form": "a list such as [{name: build, run: npm run build}]"}
    )
    par: dict[str, Positive] = field(default_factory=dict)
    floor: Annotated[float, Bound(ge=0, lt=1)] = 0.0
    """What doing nothing gets on the checks."""
    items: dict[str, Any] = field(
        default_factory=dict,
        metadata={"form": "requirements by metric, such as {functionality: [The total is shown.]}"},
    )
    limits: EvalLimits = field(default_factory=EvalLimits)
    app: AppSettings = field(default_factory=AppSettings)
    steps: list[str] = field(default_factory=list, metadata={"form": "a list such as ['open /', 'click Add']"})
    setup: list[Text] = field(default_factory=list, metadata={"form": "a command or a list of commands"})
    network: Literal["registries", "setup"] | None = None
    """Who reaches package registries: the setup and the agent, or the setup alone."""
    workdir: Text = ""
    """Where the workspace is inside a sandbox."""
    places: list[Text] = field(default_factory=list, metadata={"form": "a list of paths such as [/data]"})
    env: dict[str, str] = field(default_factory=dict, metadata={"form": "names with texts, such as {TZ: UTC}"})
    imported: dict[str, str] = field(default_factory=dict)
    vary: dict[str, Any] = field(
        default_factory=dict, metadata={"form": "names with choices, such as {city: [Lyon, Ghent]}"}
    )
    """What differs from episode to episode."""
    user: EvalUserSettings | None = None
    """A model that answers agents' questions with facts in fixed wording."""
    private: bool = False
    """Whether what it says, and what agents make of it, stays out of everything that is written for others."""
    canary: Text = ""
    """A text that occurs nowhere else: where it turns up, the eval has been."""
    said: list[Text] = field(default_factory=list, metadata={"form": "a list of words such as [--verbose, exit 3]"})
    """What checks need although no prompt and no file says it; `orvl check` does not complain of it."""
    __pydantic_config__ = FORBID


class FrontMatter:
    """The settings of an eval, and the line of each."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines: dict[str, int] = {}
        self._node: Any = None
        data = self._parse(text)
        self.only_names_metrics = isinstance(data.get("metrics"), list)
        self.settings = validated(EvalSettings, _normalised(data), "an eval", self.wrong) if data else EvalSettings()

    def _parse(self, text: str) -> dict[Any, Any]:
        try:
            node, data = read_yaml(text)
        except InvalidYaml as error:
            line = 1 if error.line is None else error.line - 1 + FIRST_LINE
            raise FileError(self.path, line, f"bad front matter: {error.problem}.") from error
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise FileError(
                self.path, FIRST_LINE, "bad front matter: write 'key: value' lines between the '---' lines."
            )
        self._refuse_twins(node)
        self._node = node
        self.lines = {key.value: _line(key) for key, _ in node.value}
        return data

    def _refuse_twins(self, node: Any) -> None:
        """YAML lets the last of two equal keys win in silence."""
        if isinstance(node, yaml.MappingNode):
            seen: set[Any] = set()
            for key, value in node.value:
                if isinstance(key.value, str) and key.value in seen:
                    raise FileError(self.path, _line(key), f"Duplicate key '{key.value}'.")
                seen.add(key.value if isinstance(key.value, str) else id(key))
                self._refuse_twins(value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                self._refuse_twins(value)

    def wrong(self, place: Place, message: str) -> FileError:
        """A mistake at a place, or at the nearest line around it."""
        node, line = self._node, None
        for step in place:
            if isinstance(node, yaml.MappingNode):
                pair = next(((key, value) for key, value in node.value if key.value == step), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                pair = (node.value[step], node.value[step])
            else:
                pair = None
            if pair is None:
                break
            line, node = _line(pair[0]), pair[1]
        return FileError(self.path, line, message)


def _line(node: Any) -> int:
    line: int = node.start_mark.line
    return line + FIRST_LINE


def _normalised(data: dict[Any, Any]) -> dict[Any, Any]:
    """What may be written shorter, written out: a list of metrics, one command alone, `verb: text` as a step."""
    data = {key: value for key, value in data.items() if value is not None and (value or key not in MAY_BE_EMPTY)}
    metrics, setup, steps = data.get("metrics"), data.get("setup"), data.get("steps")
    if isinstance(metrics, list) and all(isinstance(name, str) for name in metrics):
        data["metrics"] = dict.fromkeys(metrics, 1.0)
    if isinstance(setup, str):
        data["setup"] = [setup]
    if isinstance(steps, list):
        data["steps"] = [_step(step) for step in steps]
    if isinstance(data.get("par"), dict):
        data["par"] = {str(name): value for name, value in data["par"].items()}
    return data


def _step(step: Any) -> str:
    if isinstance(step, dict) and len(step) == 1:
        (verb, text), *_ = step.items()
        return f"{verb} {text}" if isinstance(text, str | int | float) else str(step)
    return step if isinstance(step, str) else str(step)

"""A Harbor task's `task.toml` → what of it matters here; what cannot be had here is refused."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.errors import TaskRefused
from orvl.project.names import is_number
from orvl.project.tasks.folder import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FILE = "task.toml"
LONGEST = 256 << 10
MOST_STEPS = 100
VERIFIER_SECONDS = 600.0
"""What Harbor gives a verifier that says nothing."""
LONGEST_SECONDS = 7 * 86400.0
STEP = re.compile(r"(?!\.)[\w.+@ -]{1,100}(?<![. ])", re.ASCII)
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG])", re.IGNORECASE)
TEMPLATE = re.compile(r"\$\{(\w+)(?::-([^{}]*))?\}")
VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class HarborStep:
    """One step of a task, or the only one (whose name is empty)."""

    name: str
    agent_seconds: float | None
    verifier_seconds: float
    verifier_env: Mapping[str, str]
    has_threshold: bool = False
    counts: bool = True
    """Whether its reward is part of the task's."""

    @property
    def folder(self) -> str:
        """Where its own files are in the task."""
        return f"steps/{self.name}/" if self.name else ""


@dataclass(frozen=True)
class HarborConfig:
    """What a task's settings mean here."""

    name: str = ""
    description: str = ""
    steps: tuple[HarborStep, ...] = ()
    workdir: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    solution_env: Mapping[str, str] = field(default_factory=dict)
    has_network: bool = True
    memory: int | None = None
    storage: int | None = None
    notes: tuple[str, ...] = ()


def harbor_config(folder: Path) -> HarborConfig:
    """Reads the settings of a task that was copied."""
    data = _toml(text_of(folder, FILE, LONGEST))
    environment, verifier = _table(data, "environment"), _table(data, "verifier")
    _refuse_environment(environment)
    _refuse_verifier(verifier)
    if data.get("steps") is None and (folder / "trajectory.json").exists():
        raise TaskRefused("it begins in the middle of a conversation (trajectory.json)")
    package = _table(data, "task")
    steps = _steps(data, verifier, _seconds(_table(data, "agent"), "agent", None))
    return HarborConfig(
        name=_text(package, "name"),
        description=_text(package, "description"),
        steps=steps,
        workdir=_text(environment, "workdir"),
        env=_env(environment, "environment"),
        solution_env=_env(_table(data, "solution"), "solution"),
        has_network=_has_network(environment),
        memory=_size(environment, "memory"),
        storage=_size(environment, "storage"),
        notes=tuple(_notes(steps)),
    )


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TaskRefused(f"{FILE} is not TOML: {str(error)[:120]}") from error
    except (RecursionError, ValueError, MemoryError) as error:
        raise TaskRefused(f"{FILE} is nested too deeply, or has a number without end") from error


def _notes(steps: Sequence[HarborStep]) -> list[str]:
    notes = []
    if any(step.has_threshold for step in steps):
        notes.append("all steps are run, whatever the reward of those before (min_reward)")
    return notes


# -- what is refused


def _refuse_environment(environment: Mapping[str, Any]) -> None:
    wrong = {
        "it runs on Windows": str(environment.get("os", "linux")).lower() != "linux",
        "it needs a GPU": bool(environment.get("gpus")),
        "it needs a TPU": bool(environment.get("tpu")),
        "it needs MCP servers": bool(environment.get("mcp_servers")),
        "it brings skills for the agent": bool(environment.get("skills_dir")),
        "it waits for a service (healthcheck)": bool(environment.get("healthcheck")),
    }
    if why := next((why for why, applies in wrong.items() if applies), None):
        raise TaskRefused(why)


def _refuse_verifier(verifier: Mapping[str, Any]) -> None:
    if verifier.get("environment") or verifier.get("environment_mode") == "separate":
        raise TaskRefused("its verifier has an environment of its own")
    if verifier.get("collect"):
        raise TaskRefused("its verifier collects from services")


# -- values


def _steps(data: Mapping[str, Any], verifier: Mapping[str, Any], agent_seconds: float | None) -> tuple[HarborStep, ...]:
    seconds, env = _seconds(verifier, "verifier", VERIFIER_SECONDS), _env(verifier, "verifier")
    listed = data.get("steps")
    if not listed:
        return (HarborStep("", agent_seconds, seconds or VERIFIER_SECONDS, env),)
    if not isinstance(listed, list) or not all(isinstance(step, dict) for step in listed):
        raise TaskRefused(f"'steps' of {FILE} is no list of tables")
    if len(listed) > MOST_STEPS:
        raise TaskRefused(f"it has more than {MOST_STEPS} steps")
    steps: list[HarborStep] = []
    only_last = data.get("multi_step_reward_strategy") == "final"
    for number, step in enumerate(listed, 1):
        name, own = _text(step, "name"), _table(step, "verifier")
        if not STEP.fullmatch(name):
            raise TaskRefused(f"a step cannot be named {ascii(name)[:60]}")
        if any(name.lower() == other.name.lower() for other in steps):
            raise TaskRefused(f"two steps are named '{name}'")
        _refuse_verifier(own)
        if step.get("healthcheck"):
            raise TaskRefused(f"the step '{name}' waits for a service (healthcheck)")
        steps.append(
            HarborStep(
                name,
                _seconds(_table(step, "agent"), "agent", agent_seconds),
                _seconds(own, "verifier", seconds) or VERIFIER_SECONDS,
                {**env, **_env(own, "verifier")},
                step.get("min_reward") is not None,
                number == len(listed) or not only_last,
            )
        )
    return tuple(steps)


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise TaskRefused(f"'{name}' of {FILE} is no table")
    return value


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise TaskRefused(f"'{name}' of {FILE} is no text")
    return value.strip()


def _seconds(data: Mapping[str, Any], table: str, default: float | None) -> float | None:
    value = data.get("timeout_sec")
    if value is None:
        return default
    if not is_number(value) or not 0 < value <= LONGEST_SECONDS:
        raise TaskRefused(f"'timeout_sec' of [{table}] is no number of seconds up to a week")
    return float(value)


def _size(data: Mapping[str, Any], name: str) -> int | None:
    """MiB, written as a number of them (`memory_mb`) or in the old way (`memory = "2G"`)."""
    value, old = data.get(f"{name}_mb"), data.get(name)
    if value is None and isinstance(old, str) and (match := SIZE.fullmatch(old.strip())):
        value = int(float(match[1]) * {"K": 1 / 1024, "M": 1, "G": 1024}[match[2].upper()])
    if value is None:
        return None
    if type(value) is not int or not 0 < value < 1 << 30:
        raise TaskRefused(f"'{name}_mb' of [environment] is no number of MiB")
    return value


def _has_network(environment: Mapping[str, Any]) -> bool:
    mode = environment.get("network_mode")
    if mode is None:
        return environment.get("allow_internet") is not False
    return bool(mode != "no-network")


def _env(data: Mapping[str, Any], table: str) -> dict[str, str]:
    """Variables; one that would be taken from this machine is a key, or something else that is not for a task."""
    found = {}
    for name, value in _table(data, "env").items():
        if not isinstance(value, str) or not VARIABLE.fullmatch(name) or "\0" in value:
            raise TaskRefused(f"'env' of [{table}] in {FILE} has no text for {name[:40]}")
        found[name] = TEMPLATE.sub(lambda match: match[2] or "", value)
        if missing := next((match for match in TEMPLATE.finditer(value) if match[2] is None), None):
            raise TaskRefused(f"[{table}] needs {missing[1]} of this machine's environment")
    return found

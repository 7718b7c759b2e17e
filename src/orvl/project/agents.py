"""`agents/NAME.py` → Agent."""

from __future__ import annotations

import hashlib
import inspect
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError, UserError
from orvl.project import python_file
from orvl.project.names import did_you_mean, unusable
from orvl.project.settings import PROTOCOLS
from orvl.types import Agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.project.find import SourceFile

COMMAND_MAY_ASK = ("provider", "model", "prompt", "session", "workspace", "endpoint", "turn", "controls", "arguments")
READ_MAY_ASK = ("output", "stderr", "status", "turn", "workspace", "home")
ACP = "acp"
INSTALLERS = ("npm", "pip")
PINS = {"npm": ("@", re.compile(r"\d+\.\d+\.\d+(-[\w.-]+)?")), "pip": ("==", re.compile(r"\d[\w.!-]*"))}
"""The separator between a package's name and its version, and the form of an exact version."""


def load_agent(file: SourceFile, extra_models: Mapping[str, Any]) -> Agent:
    """Loads an agent's file; `extra_models` comes from orvl.toml."""
    path = file.path
    module = python_file.load(path, "agents")
    command = python_file.function_in(module, "command", path, COMMAND_MAY_ASK)
    if command and file.origin != "built-in":
        python_file.check_returns(path, "command", "command")
    if command is None:
        raise FileError(
            path,
            1,
            "an agent needs a function 'command'. Add: def command(provider, model, prompt): "
            'return f"your-agent --model {model} {prompt}"',
        )
    if inspect.iscoroutinefunction(command.function):
        raise FileError(path, command.line, "'command' must be a plain function: remove 'async'.")
    models = parse_models(path, getattr(module, "models", None))
    for provider, names in extra_models.items():
        models[provider] = {**models.get(provider, {}), **_by_name(names)}
    if not models:
        line = python_file.line_of_name(path, "models") or 1
        raise FileError(path, line, 'an agent needs \'models\'. Add: models = {"provider": ["model"]}')
    protocols = _protocols(path, getattr(module, "protocol", None))
    return Agent(
        name=file.name,
        path=path,
        origin=file.origin,
        digest=file.digest,
        description=python_file.first_line(module),
        models=models,
        command=command,
        read=python_file.function_in(module, "read", path, READ_MAY_ASK),
        version=_version(path, getattr(module, "version", ())),
        protocols=tuple(name for name in protocols if name != ACP) or (("openai",) if protocols else ()),
        speaks_acp=ACP in protocols,
        install=_install(path, getattr(module, "install", None) or {}),
        control=_control(path, getattr(module, "control", None)),
        paths=_paths(path, getattr(module, "paths", ())),
    )


def at_version(agent: Agent, version: str) -> Agent:
    """The same agent with another version of the first package that its file pins: a contestant of its own.

    Packages of the same version whose names only add a suffix, such as `-linux-x64`, change with it.
    """
    name = f"{agent.name}@{version}"
    if not agent.install:
        raise UserError(f"There is no {name}: the file of {agent.name} pins no version in 'install' ({agent.path}).")
    kind, packages = next(iter(agent.install.items()))
    sign, exact = PINS[kind]
    main, _, pinned = packages[0].rpartition(sign)
    if not main or not exact.fullmatch(version):
        example = pinned if main else "1.2.3"
        raise UserError(f"'{version}' is not an exact version of {agent.name}; write it as {agent.name}@{example}.")
    goes_along = re.compile(rf"{re.escape(main)}(-[\w.-]+)?{re.escape(sign + pinned)}")
    moved = [name.removesuffix(pinned) + version if goes_along.fullmatch(name) else name for name in packages]
    digest = hashlib.sha256(f"{agent.digest}@{version}".encode()).hexdigest()
    return replace(agent, name=name, digest=digest, install={**agent.install, kind: tuple(moved)}, at=version)


def parse_models(path: Path, models: Any) -> dict[str, dict[str, str]]:
    """`{provider: [names]}` or `{provider: {name: the provider's id}}`."""
    if models is None:
        return {}

    def wrong(what: str) -> FileError:
        line = python_file.line_of_name(path, "models")
        return FileError(path, line, f'{what}; write models = {{"provider": ["model", …]}}.')

    if not isinstance(models, dict):
        raise wrong(f"'models' is {_short(models)}; it must map providers to models")
    for provider, names in models.items():
        if not isinstance(provider, str) or not provider or unusable(provider):
            raise wrong(f"the provider {_short(provider)} in 'models' must be a name")
        if isinstance(names, str) or not isinstance(names, list | tuple | dict):
            raise wrong(f"'models[{provider!r}]' is {_short(names)}; it must be a list of models")
        words = [*names, *(names.values() if isinstance(names, dict) else ())]
        if bad := [name for name in words if not isinstance(name, str) or not name or unusable(name)]:
            raise wrong(f"'models[{provider!r}]' holds {_short(bad[0])}, which is not a model's name")
    return {provider: _by_name(names) for provider, names in models.items() if names}


def _by_name(names: Any) -> dict[str, str]:
    return dict(names) if isinstance(names, dict) else {name: name for name in names}


def _version(path: Path, version: Any) -> tuple[str, ...]:
    try:
        words = shlex.split(version) if isinstance(version, str) else version
    except ValueError:
        words = [version, None]
    if words is None:
        return ()
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) and "\0" not in word for word in words):
        line = python_file.line_of_name(path, "version")
        example = '["opencode", "--version"]'
        raise FileError(path, line, f"'version' must be the command that prints it, such as {example}.")
    return tuple(words)


def _protocols(path: Path, protocol: Any) -> tuple[str, ...]:
    """One name or several; `acp` says how orvl speaks to the agent, the others how the agent speaks to models."""
    names = () if protocol is None else tuple(protocol) if isinstance(protocol, list | tuple) else (protocol,)
    for name in names:
        if name not in (*PROTOCOLS, ACP):
            line = python_file.line_of_name(path, "protocol")
            raise FileError(path, line, f"'protocol' is {name!r}. {did_you_mean(str(name), (*PROTOCOLS, ACP))}")
    return names


def _install(path: Path, install: Any) -> dict[str, tuple[str, ...]]:
    """`{"npm": ["package@1.2.3"]}` or `{"pip": ["package==1.2.3"]}`."""
    line = python_file.line_of_name(path, "install")
    if not isinstance(install, dict):
        raise FileError(path, line, '\'install\' must name packages, such as {"npm": ["opencode-ai@1.18.33"]}.')
    for installer, packages in install.items():
        if installer not in INSTALLERS:
            raise FileError(path, line, f"'install' names {installer!r}. {did_you_mean(str(installer), INSTALLERS)}")
        if not isinstance(packages, list | tuple) or not all(isinstance(name, str) and name for name in packages):
            raise FileError(path, line, f"'install[{installer!r}]' must be a list of packages.")
    return {installer: tuple(packages) for installer, packages in install.items() if packages}


def _control(path: Path, control: Any) -> str | None:
    if control is None or isinstance(control, str):
        return control
    line = python_file.line_of_name(path, "control")
    raise FileError(path, line, f"'control' is {control!r}; it must name a folder of the eval's controls/.")


def _paths(path: Path, paths: Any) -> tuple[Path, ...]:
    """Files and folders that the agent may read; relative ones are relative to its file."""
    line = python_file.line_of_name(path, "paths")
    if not isinstance(paths, list | tuple) or not all(isinstance(name, str | Path) and str(name) for name in paths):
        raise FileError(path, line, "'paths' must be a list of files and folders, such as [\"~/tools/my-agent\"].")
    absolute = tuple((path.parent / Path(name).expanduser()).resolve() for name in paths)
    if gone := [place for place in absolute if not place.exists()]:
        raise FileError(path, line, f"'paths' names {gone[0]}, which does not exist.")
    return absolute


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"

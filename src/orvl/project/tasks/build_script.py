"""The setup of an eval that was an image: its commands as a script, with what stands in for root and the network."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.project.places import SETUP
from orvl.project.tasks.commands import simple_commands
from orvl.project.tasks.stand_ins import IDLE, for_scripts, for_setup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project.tasks.image import RunLine

SCRIPT = "build.sh"
VENV, NPM, VERIFIER, STAND_INS = "$HOME/.venv", "$HOME/.npm", "$HOME/.verifier", "$HOME/.stand-ins"
"""Folders of HOME; an agent and a verifier each get their own copy of what the setup has left there."""
INSIDE = "/home/agent"
KEPT = re.compile(r"\$\{(?:PATH|HOME)\}")


@dataclass
class BuildScript:
    """What a setup has to do, in order."""

    runs: Sequence[RunLine] = ()
    programs: Sequence[str] = ()
    """Programs that must be there."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Files in the setup's own folder, and where they are wanted while it runs."""
    has_venv: bool = False
    sees_system_packages: bool = False
    has_npm: bool = False
    python: Sequence[str] = ()
    """Arguments of pip, for packages that a verifier wants to find in the system's Python."""
    isolated: Sequence[str] = ()
    """… and for those that it wants to find by way of uv."""
    scripts: str = ""
    """The texts of the verifiers and solutions, for which some programs are stood in."""

    @cached_property
    def stand_ins(self) -> dict[str, str]:
        return for_scripts(self.scripts)

    @property
    def is_needed(self) -> bool:
        return bool(self._real_runs or self.has_venv or self.isolated or self.stand_ins)

    @property
    def needs_registries(self) -> bool:
        return bool(self._real_runs or self.python or self.isolated)

    @property
    def _real_runs(self) -> list[RunLine]:
        return [run for run in self.runs if not _is_idle(run)]

    @property
    def path(self) -> list[str]:
        """What comes first in PATH for all that runs on the eval."""
        folders = [VENV] * self.has_venv + [NPM] * self.has_npm
        return [f"{folder.replace('$HOME', INSIDE)}/bin" for folder in folders]

    def text(self) -> str:
        lines = ["# The Dockerfile of the task, as a script for this machine.", "set -e"]
        for name in self.programs:
            lines.append(f"command -v {name} >/dev/null || {{ echo '{name} is not installed here'; exit 1; }}")
        lines += ["export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 npm_config_cache=/tmp/npm"]
        for source, target in self.copies.items():
            lines.append(f"mkdir -p {_dirname(target)} && cp {shlex.quote(f'{SETUP}/{source}')} {shlex.quote(target)}")
        if self.has_venv:
            sees = " --system-site-packages" if self.sees_system_packages else ""
            lines.append(f'python3 -m venv{sees} "{VENV}"')
        if self.has_npm:
            lines.append(f'mkdir -p "{NPM}/bin" && export npm_config_prefix="{NPM}"')
        for run in self._real_runs:
            lines += ["", f"# line {run.line}", _command(run)]
        if self.python:
            lines += ["", f'"{VENV}/bin/pip" install {shlex.join(self.python)}']
        if self.isolated:
            lines += ["", f'python3 -m venv "{VERIFIER}"', f'"{VERIFIER}/bin/pip" install {shlex.join(self.isolated)}']
        if self.stand_ins:
            lines += ["", f'mkdir -p "{STAND_INS}" "$HOME/.local/bin" && cp {SETUP}/stand-ins/* "{STAND_INS}/"']
            lines += ['[ -e "$HOME/.local/bin/env" ] || : > "$HOME/.local/bin/env"']
        return "\n".join(lines) + "\n"

    def files(self) -> dict[str, str]:
        """The scripts of the setup's folder, by their paths in it."""
        found = {SCRIPT: self.text()}
        if self._real_runs:
            script = "\n".join(word for run in self._real_runs for word in run.argv)
            found |= {f"bin/{name}": text for name, text in for_setup(script).items()}
        if self.stand_ins:
            found |= {f"stand-ins/{name}": text for name, text in self.stand_ins.items()}
        return found


def _is_idle(run: RunLine) -> bool:
    """Whether a command only installs from Debian, or does what means nothing here."""
    if len(run.argv) < 2 or run.argv[-2] != "-c":
        return run.argv[:1] != () and run.argv[0] in IDLE
    for words in simple_commands(run.argv[-1]):
        name = words[0].rpartition("/")[2]
        is_cleaning = name == "rm" and all(word.startswith(("-", "/var/")) for word in words[1:])
        if name not in IDLE and name not in ("set", "true", ":") and not is_cleaning:
            return False
    return True


def _command(run: RunLine) -> str:
    variables = " ".join(f"{name}={quoted(value)}" for name, value in run.variables.items() if name != "PATH")
    path = run.variables.get("PATH", "${PATH}")
    first = f"{SETUP}/bin:" + path.replace("${PATH}", "$PATH")
    prefix = f"env {variables} " if variables else ""
    folder = shlex.quote(run.folder)
    return f"( mkdir -p {folder} && cd {folder} && PATH={quoted(first)} {prefix}{shlex.join(run.argv)} )"


def quoted(value: str) -> str:
    """A value for the shell in which nothing but PATH and HOME is replaced."""
    parts, at = [], 0
    for match in re.finditer(r"\$\{?(?:PATH|HOME)\b\}?", value):
        parts += [shlex.quote(value[at : match.start()]) if match.start() > at else "", f'"{match[0]}"']
        at = match.end()
    rest = value[at:]
    return "".join([*parts, shlex.quote(rest) if rest or not parts else ""])


def _dirname(path: str) -> str:
    return shlex.quote(path.rpartition("/")[0] or "/")

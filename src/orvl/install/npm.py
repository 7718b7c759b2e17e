"""Packages of npm, in a folder of their own."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from orvl.install.built import Built
from orvl.install.process import run, said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PINNED = re.compile(r"(?P<name>(@[a-z0-9~-][\w.~-]*/)?[a-z0-9~-][\w.~-]*)@(?P<version>\d+\.\d+\.\d+([-+][\w.+-]+)?)")
EXAMPLE = "opencode-ai@1.18.33"
FLAGS = ("--no-audit", "--no-fund", "--no-update-notifier", "--package-lock", "--include=optional", "--save-exact")


def build(folder: Path, packages: Sequence[str], say: Callable[[str], None]) -> Built:
    """Installs packages; those that are named may run their install scripts, whatever npm's default becomes."""
    names = [found["name"] for found in map(PINNED.fullmatch, packages) if found]
    folder.mkdir()
    own = {"private": True, "allowScripts": dict.fromkeys(names, True)}
    (folder / "package.json").write_text(json.dumps(own))
    run("npm", ["npm", "install", "--prefix", str(folder), *FLAGS, "--", *packages], folder, say)
    locked = json.loads((folder / "package-lock.json").read_bytes())["packages"]
    modules = {path: one for path, one in locked.items() if path}
    there = {path: one for path, one in modules.items() if os.path.isdir(folder / path)}
    return Built(
        installer=f"npm {said('npm', '--version')}",
        runtime=f"node {said('node', '--version').removeprefix('v')}",
        named=tuple(f"{name} {there[f'node_modules/{name}']['version']}" for name in names),
        versions={path.removeprefix("node_modules/"): one.get("version", "") for path, one in sorted(there.items())},
        proof=sorted([path, one.get("version"), one.get("integrity")] for path, one in modules.items()),
        programs=_programs(folder / "node_modules", names),
    )


def _programs(modules: Path, names: Sequence[str]) -> dict[str, Path]:
    """The programs of the named packages, without those of what they depend on.

    Where a package and the one for this machine that it brings have a program of the same name, npm links one of them.
    """
    declared = {program for name in names for program in _declared(modules / name)}
    found = {}
    for link in sorted(modules.glob(".bin/*")):
        target = link.parent / os.readlink(link)
        path = os.path.relpath(os.path.normpath(target), modules)
        if link.name in declared or any(path.startswith(f"{name}/") for name in names):
            found[link.name] = modules / path
    return found


def _declared(package: Path) -> list[str]:
    """The names of the programs that a package says it has; one alone may go by the package's own name."""
    bin_ = json.loads((package / "package.json").read_bytes()).get("bin") or {}
    return list(bin_) if isinstance(bin_, dict) else [package.name]

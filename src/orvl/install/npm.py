"""Installs npm packages into a folder of their own."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from orvl.install.installer import InstalledPackages, first_line_of, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PINNED = re.compile(r"(?P<name>(@[a-z0-9~-][\w.~-]*/)?[a-z0-9~-][\w.~-]*)@(?P<version>\d+\.\d+\.\d+([-+][\w.+-]+)?)")
EXAMPLE = "opencode-ai@1.18.33"
FLAGS = ("--no-audit", "--no-fund", "--no-update-notifier", "--package-lock", "--include=optional", "--save-exact")


def build(folder: Path, packages: Sequence[str], say: Callable[[str], None]) -> InstalledPackages:
    """Installs packages; only the named ones may run install scripts, whatever npm's default becomes."""
    names = [match["name"] for match in map(PINNED.fullmatch, packages) if match]
    folder.mkdir()
    own = {"private": True, "allowScripts": dict.fromkeys(names, True)}
    (folder / "package.json").write_text(json.dumps(own))
    run("npm", ["npm", "install", "--prefix", str(folder), *FLAGS, "--", *packages], folder, say)
    locked = json.loads((folder / "package-lock.json").read_bytes())["packages"]
    modules = {path: module for path, module in locked.items() if path}
    # The lock file also has the packages for other machines.
    present = {path: module for path, module in modules.items() if os.path.isdir(folder / path)}
    return InstalledPackages(
        installer=f"npm {first_line_of('npm', '--version')}",
        runtime=f"node {first_line_of('node', '--version').removeprefix('v')}",
        named=tuple(f"{name} {present[f'node_modules/{name}']['version']}" for name in names),
        versions={
            path.removeprefix("node_modules/"): module.get("version", "") for path, module in sorted(present.items())
        },
        proof=sorted([path, module.get("version"), module.get("integrity")] for path, module in modules.items()),
        programs=_programs(folder / "node_modules", names),
    )


def _programs(modules: Path, names: Sequence[str]) -> dict[str, Path]:
    """The programs of the named packages, without those of their dependencies.

    A package and its binary package for this machine may have a program of the same name; npm links one of them.
    """
    declared = {program for name in names for program in _declared(modules / name)}
    programs = {}
    for link in sorted(modules.glob(".bin/*")):
        target = link.parent / os.readlink(link)
        path = os.path.relpath(os.path.normpath(target), modules)
        if link.name in declared or any(path.startswith(f"{name}/") for name in names):
            programs[link.name] = modules / path
    return programs


def _declared(package: Path) -> list[str]:
    """The programs that a package declares; a single one may have the package's name."""
    bin_ = json.loads((package / "package.json").read_bytes()).get("bin") or {}
    return list(bin_) if isinstance(bin_, dict) else [package.name]

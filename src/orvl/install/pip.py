"""Packages of pip, in a virtual environment of their own, with a Python that fits them."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired
from typing import TYPE_CHECKING

from orvl.errors import InstallerFailed, InstallError
from orvl.install.built import Built
from orvl.install.process import run, said
from orvl.store.tree import remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(\[[\w., -]+\])?==(?P<version>\d[\w.!+-]*)")
EXAMPLE = "aider-chat==0.86.2"
FLAGS = ("--no-input", "--no-warn-script-location", "--disable-pip-version-check", "--no-color")
OTHER_PYTHONS = tuple(f"python3.{minor}" for minor in range(15, 8, -1))
ABOUT = "import platform, sys; print(platform.python_version(), sys.base_prefix)"


def build(folder: Path, packages: Sequence[str], say: Callable[[str], None]) -> Built:
    """Installs packages with the Python that runs orvl, or with the newest other one that they allow."""
    wanted = ""
    tried = []
    for python, version in _pythons():
        try:
            run("venv", [python, "-m", "venv", str(folder)], folder.parent, say)
            run("pip", [str(folder / "bin/python"), "-m", "pip", "install", *FLAGS, "--", *packages], folder, say)
        except InstallerFailed as failed:
            wanted = _other_python(failed.output, packages)
            if not wanted:
                raise
            tried.append(version)
            say(f"it wants Python {wanted}, not {version}; looking for another one")
            remove(folder)
        else:
            return _built(folder, packages)
    raise InstallError(
        f"{' '.join(packages)} wants Python {wanted}; here are {', '.join(tried)}. Put one that fits into PATH, "
        "such as python3.12."
    )


def _pythons() -> Iterator[tuple[str, str]]:
    """Interpreters that start, each version once; the one that runs orvl first."""
    seen = set()
    for python in (sys.executable, *_other_pythons()):
        try:
            version = said(python, "-c", ABOUT).split()[0]
        except (OSError, CalledProcessError, TimeoutExpired, IndexError):
            continue
        if version not in seen:
            seen.add(version)
            yield python, version


def _other_pythons() -> Iterator[str]:
    """Newest first: those in PATH, and those that a version manager keeps beside the one that runs orvl."""
    for name in OTHER_PYTHONS:
        if found := shutil.which(name):
            yield found
        yield from sorted(map(str, Path(sys.base_prefix).parent.glob(f"*/bin/{name}")), reverse=True)


def _other_python(output: str, packages: Sequence[str]) -> str:
    """The Python that a package requires, where pip says that this is why it failed."""
    if refused := re.search(r"requires a different Python: \S+ not in '([^'\n]+)'", output):
        return refused[1]
    for found in filter(None, map(PINNED.fullmatch, packages)):
        passed_over = re.search(rf"[ :]{re.escape(found['version'])} Requires-Python ([^;\n]+)", output)
        if passed_over and f"No matching distribution found for {found['name']}" in output:
            return passed_over[1].strip()
    return ""


def _built(folder: Path, packages: Sequence[str]) -> Built:
    libraries = list(map(str, folder.glob("lib/python*/site-packages")))
    there = {_plain(one.name): one for one in distributions(path=libraries)}
    named = [there[_plain(found["name"])] for found in filter(None, map(PINNED.fullmatch, packages))]
    version, prefix = said(str(folder / "bin/python"), "-c", ABOUT).split(maxsplit=1)
    base = Path(prefix)
    return Built(
        installer=f"pip {there['pip'].version}",
        runtime=f"python {version}",
        named=tuple(f"{one.name} {one.version}" for one in named),
        versions={name: one.version for name, one in sorted(there.items())},
        proof=sorted([name, one.version, *_hashes(one)] for name, one in there.items()),
        programs={file.name: file for one in named for file in _programs(folder / "bin", one)},
        readable=() if base.is_relative_to("/usr") else (base,),
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _hashes(one: Distribution) -> list[str]:
    """The hash of every file of a package but its programs, which hold this environment's path."""
    files = one.files or ()
    return sorted(f"{file} {file.hash.value}" for file in files if file.hash and ".." not in file.parts)


def _programs(bin_: Path, one: Distribution) -> list[Path]:
    in_bin = [bin_ / file.name for file in one.files or () if file.parts[-2:-1] == ("bin",)]
    return [file for file in in_bin if file.is_file()]

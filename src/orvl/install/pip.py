"""Installs pip packages into a virtual environment of their own, with a Python that they allow."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired
from typing import TYPE_CHECKING

from orvl.errors import InstallerFailed, InstallError
from orvl.install.installer import InstalledPackages, first_line_of, run
from orvl.store.tree import remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(\[[\w., -]+\])?==(?P<version>\d[\w.!+-]*)")
EXAMPLE = "aider-chat==0.86.2"
FLAGS = ("--no-input", "--no-warn-script-location", "--disable-pip-version-check", "--no-color")
OTHER_PYTHONS = tuple(f"python3.{minor}" for minor in range(15, 8, -1))
ABOUT = "import platform, sys; print(platform.python_version(), sys.base_prefix)"


def build(folder: Path, packages: Sequence[str], say: Callable[[str], None]) -> InstalledPackages:
    """Installs packages with the Python that runs orvl, or with the newest other one that they allow."""
    required = ""
    tried = []
    for python, version in _pythons():
        try:
            run("venv", [python, "-m", "venv", str(folder)], folder.parent, say)
            run("pip", [str(folder / "bin/python"), "-m", "pip", "install", *FLAGS, "--", *packages], folder, say)
        except InstallerFailed as failed:
            required = _other_python(failed.output, packages)
            if not required:
                raise
            tried.append(version)
            say(f"it needs Python {required}, not {version}; looking for another one")
            remove(folder)
        else:
            return _built(folder, packages)
    raise InstallError(
        f"{' '.join(packages)} needs Python {required}; found only {', '.join(tried)}. "
        "Put one that it allows into PATH, such as python3.12."
    )


def _pythons() -> Iterator[tuple[str, str]]:
    """Interpreters that start, each version once; the one that runs orvl first."""
    seen = set()
    for python in (sys.executable, *_other_pythons()):
        try:
            version = first_line_of(python, "-c", ABOUT).split()[0]
        except (OSError, CalledProcessError, TimeoutExpired, IndexError):
            continue
        if version not in seen:
            seen.add(version)
            yield python, version


def _other_pythons() -> Iterator[str]:
    """Newest first: those in PATH, and those of a version manager beside the one that runs orvl."""
    for name in OTHER_PYTHONS:
        if path := shutil.which(name):
            yield path
        yield from sorted(map(str, Path(sys.base_prefix).parent.glob(f"*/bin/{name}")), reverse=True)


def _other_python(output: str, packages: Sequence[str]) -> str:
    """The Python that a package requires, if pip failed because of it."""
    if refused := re.search(r"requires a different Python: \S+ not in '([^'\n]+)'", output):
        return refused[1]
    for package in filter(None, map(PINNED.fullmatch, packages)):
        skipped = re.search(rf"[ :]{re.escape(package['version'])} Requires-Python ([^;\n]+)", output)
        if skipped and f"No matching distribution found for {package['name']}" in output:
            return skipped[1].strip()
    return ""


def _built(folder: Path, packages: Sequence[str]) -> InstalledPackages:
    libraries = list(map(str, folder.glob("lib/python*/site-packages")))
    present = {_plain(package.name): package for package in distributions(path=libraries)}
    named = [present[_plain(match["name"])] for match in filter(None, map(PINNED.fullmatch, packages))]
    version, prefix = first_line_of(str(folder / "bin/python"), "-c", ABOUT).split(maxsplit=1)
    base = Path(prefix)
    return InstalledPackages(
        installer=f"pip {present['pip'].version}",
        runtime=f"python {version}",
        named=tuple(f"{package.name} {package.version}" for package in named),
        versions={name: package.version for name, package in sorted(present.items())},
        proof=sorted([name, package.version, *_hashes(package)] for name, package in present.items()),
        programs={file.name: file for package in named for file in _programs(folder / "bin", package)},
        readable=() if base.is_relative_to("/usr") else (base,),
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _hashes(package: Distribution) -> list[str]:
    """The hash of every file of a package except its programs, which contain this environment's path."""
    files = package.files or ()
    return sorted(f"{file} {file.hash.value}" for file in files if file.hash and ".." not in file.parts)


def _programs(bin_: Path, package: Distribution) -> list[Path]:
    in_bin = [bin_ / file.name for file in package.files or () if file.parts[-2:-1] == ("bin",)]
    return [file for file in in_bin if file.is_file()]

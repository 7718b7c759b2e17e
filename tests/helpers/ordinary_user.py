"""Calling orvl as an ordinary user, also where the tests themselves run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

import orvl
from helpers.needs import need
from helpers.user_project import UserProject

AS_ROOT = os.geteuid() == 0
PYTHON = "/usr/bin/python3"
NEEDED = (
    "annotated_types click markdown_it mdurl numpy numpy.libs pydantic pydantic_core pygments rich typing_extensions.py "
    "typing_inspection yaml _yaml zstandard"
)


@contextmanager
def library_for_all() -> Iterator[Path]:
    """What an ordinary user needs to call orvl: its package, and those that it needs."""
    folder = Path(tempfile.mkdtemp(prefix="orvl-library-"))
    site = Path(click.__file__).parents[1]
    wanted = [str(site / name) for name in NEEDED.split() if (site / name).exists()]
    subprocess.run(["cp", "-rL", *wanted, str(Path(orvl.__file__).parent), folder], check=True)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def python_for_all() -> str | None:
    """A Python of this version that every user can read."""
    code = "import sys; print(sys.version_info[:2])"
    for found in (os.path.realpath(sys.executable), PYTHON):
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", 'exec "$@"', "sh"]
        words = [*nobody, found, "-c", code]
        with suppress(OSError):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.stdout.strip() == str(sys.version_info[:2]):
                return found
    return None


def spare_uid() -> int:
    """A user that this machine does not know."""
    known = {entry.pw_uid for entry in pwd.getpwall()}
    return next(uid for uid in range(23_001, 30_000) if uid not in known)


class OrdinaryProject(UserProject):
    """A project of a user who is not root."""

    def __init__(self, base: Path, library: Path) -> None:
        super().__init__(base / "project")
        self.process = True
        self.library = library
        self.prefix: list[str] = []
        self.python: str | None = sys.executable
        if AS_ROOT:
            uid = spare_uid()
            self.prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all"]
            self.python = python_for_all()
            need(self.python, "there is no Python of this version that every user can read")
            base.chmod(0o755)
            for folder in (self.root, self.tmp):
                os.chown(folder, uid, uid)

    @property
    def env(self) -> dict[str, str]:
        own = {"HOME": str(self.tmp), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        return {**super().env, **own, **({"PYTHONPATH": str(self.library)} if self.prefix else {})}

    @property
    def command(self) -> list[str]:
        return [*self.prefix, str(self.python), "-m", "orvl"]

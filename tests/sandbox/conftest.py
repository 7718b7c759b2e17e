"""What containers need."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from helpers.needs import need
from helpers.user_project import ROOT_FOLDER


@pytest.fixture(scope="session")
def root_folder() -> Path:
    """A root folder for containers, made once per machine by debootstrap; needs root and Debian's packages."""
    need(ROOT_FOLDER.exists() or os.geteuid() == 0, "only root can make a root folder for containers")
    folder = ROOT_FOLDER.parent
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ROOT_FOLDER.exists():
            half = folder / "half"
            subprocess.run(["rm", "-rf", half], check=True)
            words = ["debootstrap", "--variant=minbase", "--include=python3,git", "bookworm", str(half)]
            subprocess.run(words, check=True, capture_output=True)
            half.rename(ROOT_FOLDER)
    return ROOT_FOLDER

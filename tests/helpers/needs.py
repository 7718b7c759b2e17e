"""What a test needs of the machine."""

from __future__ import annotations

import os
import shutil

import pytest


def need(present: object, reason: str) -> None:
    """Skips the test where something is missing; in CI nothing may be missing, and the test fails."""
    if present:
        return
    if os.environ.get("CI"):
        pytest.fail(f"missing in CI: {reason}")
    pytest.skip(reason)


def need_program(name: str) -> str:
    path = shutil.which(name)
    need(path, f"{name} is not installed")
    assert path is not None
    return path

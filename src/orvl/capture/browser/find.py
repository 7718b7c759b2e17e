"""Finds what a look needs: Chromium, the package that drives it, and the package with axe-core."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BEHIND_WRAPPERS = ("/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser")
"""What distributions' wrapper scripts start; the scripts read settings that no sandbox shows."""
NEEDED = ("playwright", "axe_playwright_python")
PACKAGES = (*NEEDED, "greenlet", "pyee", "typing_extensions")
NO_DRIVER = "The packages that drive a browser are not installed: pip install 'orvl[browser]'."
NO_CHROMIUM = "Chromium is not installed: apt-get install chromium (or set ORVL_CHROMIUM to its path)."


def chromium() -> str | None:
    """The browser's program; None if there is none."""
    if named := os.environ.get("ORVL_CHROMIUM"):
        return shutil.which(named)
    found = (shutil.which(name) for name in (*BEHIND_WRAPPERS, *NAMES))
    return next((path for path in found if path), None)


def trouble() -> str | None:
    """Why there is no usable browser here, with the command that fixes it; None if there is one."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        return NO_DRIVER
    return None if chromium() else NO_CHROMIUM


def packages() -> tuple[Path, ...]:
    """The files and folders of the packages that the driver imports."""
    found = (importlib.util.find_spec(name) for name in PACKAGES)
    origins = [Path(spec.origin) for spec in found if spec and spec.origin]
    return tuple(path.parent if path.name == "__init__.py" else path for path in origins)

"""Runs the tests of these folders that failed once more, one at a time; nothing passes where no test has failed."""

import json
import sys
from pathlib import Path

import pytest

FAILED = Path(".pytest_cache/v/cache/lastfailed")


def plain(nodeid: str) -> str:
    """A test's name without the group that xdist puts after it."""
    name, at, group = nodeid.rpartition("@")
    return name if at and "]" not in group else nodeid


folders = tuple(f"{folder}/" for folder in sys.argv[1:])
known = json.loads(FAILED.read_text()) if FAILED.exists() else {}
failed = [plain(nodeid) for nodeid in known if nodeid.startswith(folders)]
sys.exit(pytest.main(["-n", "0", "--maxfail", "1", "-rfp", *failed]) if failed else 1)

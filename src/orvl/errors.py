"""What can go wrong, as sentences.

OrvlError            a sentence for the user, and the exit status that goes with it
├── UserError        the call or the project is wrong (2)
│   └── FileError    … at a place in a user's file
├── StoreError       the store cannot be used (2)
└── DiskError        the disk is full or cannot be written (1)
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


class OrvlError(Exception):
    """A sentence for the user; never shown with a traceback."""

    exit_status = 1


class UserError(OrvlError):
    """The call or the project is wrong."""

    exit_status = 2


class FileError(UserError):
    """A mistake in a user's file, with its place."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, message: str) -> None:
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{place}: {message}")


class StoreError(OrvlError):
    """The store cannot be opened or trusted."""

    exit_status = 2


class DiskError(OrvlError):
    """The disk is full or cannot be written while runs are under way."""


DISK_IS_BROKEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""What no run can go on after, whoever runs."""


def disk_sentence(error: OSError) -> str:
    """An operating system error as the end of a sentence."""
    place = f" at {error.filename}" if error.filename else ""
    return f"{(error.strerror or str(error)).lower()}{place}"

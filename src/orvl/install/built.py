"""What an installer has made in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Built:
    """The versions that are really there, what they were checked by, and the programs of the named packages."""

    installer: str
    runtime: str
    named: tuple[str, ...]
    versions: Mapping[str, str]
    proof: Any
    programs: Mapping[str, Path]
    readable: tuple[Path, ...] = ()

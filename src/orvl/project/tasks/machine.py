"""What importing a task asks of the machine on which it is to be run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from orvl.errors import TaskRefused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class Machine(Protocol):
    """The programs that sandboxes of this machine have."""

    @property
    def registries(self) -> Collection[str]:
        """The hosts that a setup can reach."""

    def has_package(self, name: str) -> bool:
        """Whether a Debian package, or what it would bring, is installed."""

    def has_program(self, name: str) -> bool:
        """Whether a program is found by its name."""

    def version(self, program: str) -> tuple[int, ...] | None:
        """The version that a program prints; None where it is not there."""


def check_toolchain(machine: Machine, program: str, version: tuple[int, ...]) -> str | None:
    """Refuses a program that is missing or too old; a sentence where it is newer than what was asked for."""
    if not program:
        return None
    found = machine.version(program)
    if found is None:
        raise TaskRefused(f"{program} is not installed here")
    wanted, here = ".".join(map(str, version)), ".".join(map(str, found[: max(2, len(version))]))
    if found[: len(version)] < version:
        raise TaskRefused(f"it needs {program} {wanted}, and {here} is here")
    return f"{program} is {here} here, not {wanted}" if version and found[: len(version)] != version else None


def check_packages(machine: Machine, packages: Iterable[str]) -> None:
    """Refuses packages that are missing, with the command that installs them."""
    missing = [name for name in dict.fromkeys(packages) if not machine.has_package(name)]
    if missing:
        noun = "a Debian package that is" if len(missing) == 1 else "Debian packages that are"
        raise TaskRefused(f"it needs {noun} not installed here: sudo apt install {' '.join(missing)}")

"""The programs that sandboxes have on this machine: which there are, in which version, from which package."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.sandbox.programs import inner_path
from orvl.sandbox.registries import REGISTRIES
from orvl.store.beneath import read

if TYPE_CHECKING:
    from collections.abc import Collection

PACKAGES = Path("/var/lib/dpkg/status")
LARGEST = 64 << 20
SECONDS = 20
ASKED = {"java": "-version", "go": "version"}
"""How programs are asked for their version, where it is not `--version`."""
VERSION = re.compile(rb"(\d+)\.(\d+)(?:\.(\d+))?|\b(\d+)\b")
OFFERED = re.compile(r"([a-z0-9][a-z0-9+.-]+)(?::\w+)?")


class ThisMachine:
    """The machine that orvl runs on."""

    def __init__(self, registries: Collection[str] | None = None) -> None:
        self.registries = frozenset(REGISTRIES if registries is None else registries)
        self._versions: dict[str, tuple[int, ...] | None] = {}

    def has_package(self, name: str) -> bool:
        return name in self._packages or self.has_program(name)

    def has_program(self, name: str) -> bool:
        return shutil.which(name, path=inner_path()) is not None

    def version(self, program: str) -> tuple[int, ...] | None:
        if program not in self._versions:
            self._versions[program] = self._asked(program)
        return self._versions[program]

    def _asked(self, program: str) -> tuple[int, ...] | None:
        found = shutil.which(program, path=inner_path())
        if found is None:
            return None
        try:
            done = subprocess.run(
                [found, ASKED.get(program, "--version")],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        match = VERSION.search(done.stdout) if done.returncode == 0 else None
        return tuple(int(part) for part in match.groups() if part is not None) if match else None

    @cached_property
    def _packages(self) -> frozenset[str]:
        """The installed packages, and what they offer in the name of others; none on a machine without dpkg."""
        try:
            text = read(PACKAGES, LARGEST).decode("utf-8", "replace")
        except OSError:
            return frozenset()
        names: set[str] = set()
        for entry in text.split("\n\n"):
            fields = dict(line.partition(": ")[::2] for line in entry.split("\n") if line[:1] not in (" ", "\t", ""))
            if fields.get("Status", "").endswith(" installed"):
                names.add(fields.get("Package", ""))
                offered = (OFFERED.match(one.strip()) for one in fields.get("Provides", "").split(","))
                names.update(match[1] for match in offered if match)
        return frozenset(names)

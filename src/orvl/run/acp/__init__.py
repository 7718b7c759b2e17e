"""Agents that speak the Agent Client Protocol: one driver for all of them, and one way to read what it tells."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from orvl.errors import InvalidCommand
from orvl.run.acp.read import read as read
from orvl.run.acp.read import read_bytes
from orvl.types import Command
from orvl.worker import call_once

MODULES = ("client", "drive")
NEEDED = ("acp", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection")
SMALL = 256 << 10
"""Bytes of output that are read at once."""
LONGEST_STDERR = 64 << 10
LONGEST_TURN = 64 << 20
START = """\
import json, sys, types
asked = json.load(sys.stdin.buffer)
sys.path += asked.pop("packages")
for name, text in asked.pop("modules").items():
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
sys.exit(module.main(sys.argv[sys.argv.index("--") + 1 :], asked))
"""


def wrap(command: Command, prompt: str, session: str | None, workspace: str, model: str) -> Command:
    """The driver's command for an agent's: the prompt and the driver itself come by standard input."""
    if command.stdin is not None:
        raise InvalidCommand("an agent with protocol 'acp' gets its prompt by the protocol; leave 'stdin' out")
    here = Path(__file__).parent
    asked = {
        "modules": {f"{__name__}.{name}": (here / f"{name}.py").read_text(encoding="utf-8") for name in MODULES},
        "packages": sorted({str(path.parent) for path in _packages()}),
        "prompt": prompt,
        "session": session,
        "workspace": workspace,
        "model": model,
    }
    argv = [sys.executable, "-I", "-c", START, "--", *command.argv]
    return Command(argv=argv, env=command.env, files=command.files, stdin=json.dumps(asked))


async def read_within(seconds: float, output: bytes, stderr: str, status: int | None) -> dict[str, Any]:
    """What a turn told; read in a process of its own where there is much of it."""
    stderr = stderr[-LONGEST_STDERR:]
    if len(output) <= SMALL:
        return read_bytes(output, stderr, status)
    place = f"{read_bytes.__module__}:read_bytes"
    told: dict[str, Any] = await call_once(place, output, stderr, status, seconds=seconds, longest=LONGEST_TURN)
    return told


def readable() -> tuple[Path, ...]:
    """What the driver needs to see besides its interpreter's own installation: packages that lie outside of it."""
    return tuple(path for path in _packages() if not path.is_relative_to(sys.prefix))


def _packages() -> list[Path]:
    origins = [Path(spec.origin) for spec in map(find_spec, NEEDED) if spec and spec.origin]
    return [origin.parent if origin.name == "__init__.py" else origin for origin in origins]

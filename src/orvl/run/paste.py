"""`{{output: COMMAND}}`: what a command prints in a copy of the workspace, as a user would paste it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import Interrupted
from orvl.sandbox import SUBJECT
from orvl.sandbox.job import shell_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orvl.project.settings import Limits
    from orvl.sandbox import Sandbox
    from orvl.sandbox.workdir import RunFolders

SECONDS = 30.0
LONGEST = 12_000
"""Characters; of what is longer, the beginning and the end."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


async def printed(
    command: str,
    sandbox: Sandbox,
    new_folders: Callable[[], RunFolders],
    lay_out: Callable[[Path], None],
    limits: Limits,
) -> str:
    """Runs a command of the eval's on a copy of what the agent has made so far, where the agent is not.

    What it prints is the agent's doing, and so is how long it takes: neither is without end.
    """
    folders = new_folders()
    try:
        await asyncio.to_thread(lay_out, folders.workspace)
        env = sandbox.view(folders).environment() | {"LANG": "C.UTF-8"}
        job = shell_job(f"exec 2>&1\n{command}", env, folders.logs / "paste", SECONDS, limits, folders)
        ended = await sandbox.run(replace(job, grace=min(limits.grace, 1.0), adds_only=True, user=SUBJECT))
        if ended.cut == "stopped":
            raise Interrupted
        said = as_pasted(ended.stdout.read())
        return f"{said}\n(still running after {SECONDS:g} s)".lstrip() if ended.cut == "time" else said or "(nothing)"
    finally:
        await asyncio.to_thread(folders.remove)


def as_pasted(output: bytes) -> str:
    """A command's output as text: without colours, control characters and signs that cannot be seen."""
    text = output.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    text = CONTROLS.sub("", ESCAPES.sub("", text)).strip("\n")
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… ({len(text) - 2 * half:,} characters)\n{text[-half:]}"

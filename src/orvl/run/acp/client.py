"""What an agent may ask of its client: permission, which it gets, files of the workspace, and terminals."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from acp import RequestError

PATIENCE = 2.0
NOT_FOUND = -32002
MOST_OUTPUT = 1 << 20


async def end(process: Process, patience: float) -> None:
    """Waits a little for a process, then ends it and all that it left in its group."""
    for sign, seconds in ((0, patience), (signal.SIGTERM, PATIENCE), (signal.SIGKILL, PATIENCE)):
        _signal(process, sign)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
            break
    _signal(process, signal.SIGKILL)


def _signal(process: Process, sign: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)


class Terminal:
    """A command that the agent asked for, and the file that it prints into."""

    def __init__(self, process: Process, output: IO[bytes], most: int) -> None:
        self.process, self.output, self.most = process, output, most

    def status(self) -> dict[str, Any]:
        code = self.process.returncode
        return {} if code is None else {"exitCode": code} if code >= 0 else {"signal": signal.Signals(-code).name}

    def told(self) -> dict[str, Any]:
        """The end of what it printed, as much as the agent wants to see."""
        size = os.fstat(self.output.fileno()).st_size
        text = os.pread(self.output.fileno(), self.most, max(size - self.most, 0)).decode("utf-8", "ignore")
        status = self.status()
        return {"output": text, "truncated": size > self.most, **({"exitStatus": status} if status else {})}


class Client:
    """The client's side of one conversation; `method` and `params` are checked by the SDK's router before."""

    def __init__(self, workspace: str) -> None:
        self.workspace = Path(workspace)
        self.terminals: dict[str, Terminal] = {}

    async def request_permission(self, options: list[Any], **_: Any) -> dict[str, Any]:
        for kind in ("allow_always", "allow_once"):
            for option in options:
                if option.kind == kind:
                    return {"outcome": {"outcome": "selected", "optionId": option.option_id}}
        return {"outcome": {"outcome": "cancelled"}}

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> dict[str, Any]:
        file = self._inside(path)
        if not file.is_file():
            raise RequestError(NOT_FOUND, f"Resource not found: there is no file {path}", {"uri": path})
        text = file.read_bytes().decode("utf-8", "replace")
        if line is not None or limit is not None:
            first = max((line or 1) - 1, 0)
            text = "".join(text.splitlines(keepends=True)[first : None if limit is None else first + limit])
        return {"content": text}

    async def write_text_file(self, path: str, content: str, **_: Any) -> dict[str, Any]:
        file = self._inside(path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode("utf-8", "replace"))
        except OSError as error:
            raise RequestError.invalid_params({"details": f"{path} cannot be written: {error.strerror}"}) from error
        return {}

    async def create_terminal(
        self,
        command: str,
        args: list[str] | None = None,
        env: list[Any] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Starts a program with its arguments, or a whole line in a shell."""
        argv = [command, *args] if args else ["/bin/sh", "-c", command]
        folder = self._inside(cwd or ".")
        output = TemporaryFile()  # noqa: SIM115
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=DEVNULL,
                stdout=output,
                stderr=output,
                cwd=folder,
                env={**os.environ, **{one.name: one.value for one in env or ()}},
                process_group=0,
            )
        except (OSError, ValueError) as error:
            raise RequestError.invalid_params({"details": f"'{command}' could not be started: {error}"}) from error
        name = f"terminal-{len(self.terminals) + 1}"
        most = MOST_OUTPUT if output_byte_limit is None else min(output_byte_limit, MOST_OUTPUT)
        self.terminals[name] = Terminal(process, output, most)
        return {"terminalId": name}

    async def terminal_output(self, terminal_id: str, **_: Any) -> dict[str, Any]:
        return self._terminal(terminal_id).told()

    async def wait_for_terminal_exit(self, terminal_id: str, **_: Any) -> dict[str, Any]:
        terminal = self._terminal(terminal_id)
        await terminal.process.wait()
        return terminal.status()

    async def kill_terminal(self, terminal_id: str, **_: Any) -> None:
        await end(self._terminal(terminal_id).process, 0)

    async def release_terminal(self, terminal_id: str, **_: Any) -> None:
        await self.kill_terminal(terminal_id)

    async def close(self) -> None:
        """Ends every terminal that is still open."""
        await asyncio.gather(*(end(terminal.process, 0) for terminal in self.terminals.values()))

    def _inside(self, path: str) -> Path:
        real = Path(os.path.realpath(self.workspace / path))
        if not real.is_relative_to(os.path.realpath(self.workspace)):
            raise RequestError.invalid_params({"details": f"{path} is not in the workspace {self.workspace}"})
        return real

    def _terminal(self, name: str) -> Terminal:
        if name not in self.terminals:
            raise RequestError(NOT_FOUND, f"Resource not found: there is no terminal {name}", {"uri": name})
        return self.terminals[name]

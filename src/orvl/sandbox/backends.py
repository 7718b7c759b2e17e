"""Which kinds of sandbox there are, which one a run gets, and the sandboxes of one worker."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast, get_args

from orvl.errors import UserError
from orvl.project.control_scripts import is_scripted
from orvl.types import SandboxName

if TYPE_CHECKING:
    from orvl.sandbox import Backend, Sandbox
    from orvl.sandbox.config import SandboxConfig
    from orvl.types import Agent, Eval

SANDBOXES: tuple[SandboxName, ...] = get_args(SandboxName)
MODULES = {"podman": "container", "docker": "container", "none": "process"}
"""Files of this folder, where they are not named like the sandbox. Each has a function `backend(name)`."""
DEFAULT: SandboxName = "bubblewrap"
WITHOUT = "To run agents without a sandbox, ask for it by name: --sandbox none."


def backend(name: SandboxName) -> Backend:
    """Loads only the file of the sandbox that is used."""
    return cast("Backend", import_module(f"orvl.sandbox.{MODULES.get(name, name)}").backend(name))


def is_trusted(agent: Agent) -> bool:
    """A built-in control runs nothing: orvl lays down its files."""
    return agent.control is not None and agent.origin == "built-in"


def has_commands(eval_: Eval) -> bool:
    """Whether an eval that orvl does not bring itself has something executed."""
    if eval_.origin == "built-in":
        return False
    commands = eval_.setup or eval_.checks or eval_.app or eval_.pastes
    return bool(commands) or any(is_scripted(eval_, control) for control in eval_.control_digests)


def chosen(requested: SandboxName | None, image: str | None, *, untrusted: bool) -> SandboxName:
    """The requested sandbox, or the default; one that does not work is refused before anything runs.

    Only two things run without walls: what was requested so, and orvl's own controls and evals where no sandbox works.
    """
    name = requested or DEFAULT
    problem = backend(name).problem(image)
    if problem is None:
        return name
    if requested is None and not untrusted:
        return "none"
    raise UserError(f"{problem} {WITHOUT}" if name == DEFAULT else problem)


class Slot:
    """The sandboxes of one worker: walls for agents and checks, more for what checks run, none for orvl's controls."""

    def __init__(self, name: SandboxName, config: SandboxConfig, lock_fd: int | None) -> None:
        from orvl.sandbox.process import BareProcess

        self.bare = BareProcess(lock_fd, "none" if name == "none" else "control")
        self.walled: Sandbox = self.bare if name == "none" else backend(name).open(config, lock_fd)
        self.subject, self.browser = (
            BareProcess(lock_fd) if name == "none" else backend(name).open(config, lock_fd) for _ in range(2)
        )
        self.separates_apps = name in ("bubblewrap", "podman")
        """Whether a browser in one sandbox can reach an app in another one."""

    @property
    def _all(self) -> set[Sandbox]:
        return {self.bare, self.walled, self.subject, self.browser}

    def of(self, agent: Agent) -> Sandbox:
        return self.bare if is_trusted(agent) else self.walled

    def stop(self) -> None:
        for sandbox in self._all:
            sandbox.stop()

    async def close(self) -> None:
        for sandbox in self._all:
            await sandbox.close()

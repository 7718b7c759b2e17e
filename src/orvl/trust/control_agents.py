"""The agents that write controls, and the names that their runs are kept under."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orvl.project.python_file import UserFunction
from orvl.types import Agent

if TYPE_CHECKING:
    from orvl.project import Project

PREFIX = "control:"
"""No file can have this in its name, so no agent of a project is ever taken for a control."""
BUILT_IN = {"good": "dummy-good", "bad": "dummy-bad", "empty": "empty"}
"""The controls that are agents of their own, which anybody can run."""
CONTROL_OF = {agent: control for control, agent in BUILT_IN.items()}


def control_of(agent: str) -> str:
    return agent.partition(":")[2] if is_control(agent) else CONTROL_OF[agent]


def is_control(agent: str) -> bool:
    return agent.startswith(PREFIX)


def control_agent(project: Project, control: str) -> Agent:
    """The agent that writes a control: orvl's own, never a user's of the same name."""
    name = BUILT_IN.get(control)
    if name and project.agent_files[name].origin == "built-in":
        return project.agent(name)
    return _copier(control)


def _copier(control: str) -> Agent:
    """Leaves a control's files in the workspace, as dummy-good does with the good ones."""

    def command() -> str:
        return "true"

    path = Path(__file__)
    return Agent(
        name=PREFIX + control,
        path=path,
        origin="built-in",
        digest=PREFIX,
        description=f"The control {control}.",
        models={"none": {"fixed": "fixed"}},
        command=UserFunction(path, "command", command, ()),
        control=control,
    )

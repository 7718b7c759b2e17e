"""The ladder as a plan: each control is an agent that writes fixed files, on each eval that has it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.plan.planning import Panel, Plan, cell_key, ordered, panel_of
from orvl.project.python_file import UserFunction
from orvl.trust.ladder import ladder, write
from orvl.types import Agent, Cell

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.ladder import Control
    from orvl.types import Eval

PREFIX = "control:"
"""No file can have this in its name, so no agent of a project is ever taken for a control of the ladder."""
WHOLE = {"good": "dummy-good", "bad": "dummy-bad", "empty": "empty"}
PARTS = ("workspace", "checks", "reference", "round-trip")
GATE = (
    *("good", "bad", "empty", "planted-bug", "verbose-wrong"),
    *("injection-comment", "injection-verdict", "injection-hidden", "injection-name", "injection-picture"),
)
"""The controls without which T1 to T5 cannot be told."""
NOTHING_GOOD = "its controls/good holds no file: write there what a good agent would leave."
DOSES = ("good", "planted-bug", "dose-2", "dose-4", "dose-all")
"""The dose series: no bug, one, two, four, all."""


@dataclass
class Ladder:
    """The controls of each eval, and why others are not there."""

    plan: Plan
    episodes: range
    """The repeats of each control that are looked at."""
    controls: dict[str, dict[str, Control]] = field(default_factory=dict)
    """By eval and control."""
    lacking: dict[str, dict[str, str]] = field(default_factory=dict)

    def look_at_newest(self, store: Store, *, fresh: bool) -> None:
        """Repeats come in rounds: the newest that was begun, or a fresh one after it."""
        size = len(self.episodes)
        own = {cell.key for cell in self.plan.cells if is_control(cell.agent.name)}
        last = max((cell.last_episode for cell in store.cells() if cell.key in own), default=0)
        rounds = -(-last // size) + (1 if fresh else 0)
        first = max(rounds - 1, 0) * size + 1
        self.episodes = range(first, first + size)
        self.plan.runs = ordered(self.plan.cells, self.episodes, self.plan.seed)

    @property
    def evals(self) -> tuple[str, ...]:
        return tuple(self.controls)


def agent_name(control: str) -> str:
    """Under which name a control's runs are kept."""
    return WHOLE.get(control, PREFIX + control)


def is_control(agent: str) -> bool:
    return agent.startswith(PREFIX)


def ladder_plan(
    project: Project,
    evals: Sequence[Eval],
    folder: Path,
    *,
    controls: Collection[str] | None,
    metrics: Mapping[str, bool] | None,
    judges: Sequence[str],
    episodes: int,
    seed: int,
) -> Ladder:
    """Lays the controls of each eval down in a folder, and plans their runs."""
    found = Ladder(Plan([], [], {}, seed), range(1, episodes + 1))
    for one in evals:
        there, found.lacking[one.name] = ladder(one, controls)
        if not ("good" in there and there["good"].files):
            found.lacking[one.name].setdefault("good", NOTHING_GOOD)
            continue
        found.controls[one.name] = there
        laid = _laid_out(one, there, folder / one.name)
        found.plan.panels[one.name] = certified_panel(project, laid, metrics, judges)
        found.plan.cells += [_cell(project, laid, name) for name in there]
    if not found.plan.cells:
        raise UserError(
            "No eval here has a good control, and without one nobody knows what judges should like. "
            "Write what a good agent would leave into evals/NAME/controls/good/, and what a bad one would into "
            "controls/bad/. See: orvl list evals"
        )
    found.plan.runs = ordered(found.plan.cells, found.episodes, seed)
    return found


def certified_panel(project: Project, one: Eval, metrics: Mapping[str, bool] | None, judges: Sequence[str]) -> Panel:
    """How an eval's controls are scored: as its runs are; where no judge has a say in those, by the usual metrics.

    Where no judge of the project has a say at all, such as the embedded model alone, programs are what is tested; a
    judge that is named is tested whatever it weighs.
    """
    panel = panel_of(project, one, metrics, judges)
    counts = any(metric.judged and weight for metric, weight in zip(panel.metrics, panel.weights, strict=True))
    if not judges and not any(judge.weight for judge in panel.judges):
        return _of_programs(panel)
    if metrics is not None or counts or not panel.judges:
        return panel
    return panel_of(project, replace(one, metrics=None), None, judges)


def _of_programs(panel: Panel) -> Panel:
    kept = [(m, weight) for m, weight in zip(panel.metrics, panel.weights, strict=True) if not m.judged]
    return Panel(panel.eval, tuple(metric for metric, _ in kept), tuple(weight for _, weight in kept), ())


def _laid_out(one: Eval, controls: Mapping[str, Control], folder: Path) -> Eval:
    """The eval with a folder in which its ladder stands beside its own parts."""
    for name, control in controls.items():
        (folder / "controls" / name).mkdir(parents=True)
        write(control, folder / "controls" / name)
    for part in PARTS:
        if there := one.part(part):
            (folder / part).symlink_to(there)
    own = one.control_digests
    return replace(
        one, folder=folder, control_digests={name: own.get(name) or _digest(controls[name]) for name in controls}
    )


def _digest(control: Control) -> str:
    """A derived control by its content."""
    files = [[path, hashlib.sha256(content).hexdigest()] for path, content in sorted(control.files.items())]
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()


def _cell(project: Project, one: Eval, control: str) -> Cell:
    agent = _agent(project, control)
    provider, models = next(iter(agent.models.items()))
    model, model_id = next(iter(models.items()))
    return Cell(cell_key(agent, "", provider, model, model_id, one), agent, "", provider, model, model_id, one)


def _agent(project: Project, control: str) -> Agent:
    """Who writes a control: orvl's own agent of that purpose, and never a user's of the same name."""
    name = WHOLE.get(control)
    if name and project.agent_files[name].origin == "built-in":
        return project.agent(name)
    return _layer(control)


def _layer(control: str) -> Agent:
    """Lays a control's files over the workspace, as dummy-good does with the good ones."""

    def command(controls: object) -> list[str]:
        return ["sh", "-c", 'cp -R "$0/." .', f"{controls}/{control}"]

    path = Path(__file__)
    return Agent(
        name=PREFIX + control,
        path=path,
        origin="built-in",
        digest=PREFIX,
        description=f"The control {control}.",
        models={"none": {"fixed": "fixed"}},
        command=UserFunction(path, "command", command, ("controls",)),
        control=control,
    )

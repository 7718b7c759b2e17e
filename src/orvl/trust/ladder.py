"""The ladder of controls as a plan: each control is an agent that writes fixed files, on each eval that has it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.plan.planning import Plan, cell_key, ordered
from orvl.trust.certified_panel import certified_panel
from orvl.trust.control_agents import control_agent, is_control
from orvl.trust.controls import make_controls, write
from orvl.types import Cell

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from orvl.plan.layout import Panel
    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.controls.control import ControlFiles
    from orvl.types import Eval

PARTS = ("workspace", "checks", "reference", "round-trip", "variants")
NOTHING_GOOD = "its controls/good holds no file: write there what a good agent would leave."


@dataclass(frozen=True)
class Ladder:
    """The controls of each eval, and why the others are missing."""

    plan: Plan
    episodes: range
    """The repeats of each control that count."""
    controls: Mapping[str, Mapping[str, ControlFiles]] = field(default_factory=dict)
    """By eval and control."""
    lacking: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def newest(self, store: Store, *, fresh: bool) -> Ladder:
        """Repeats come in rounds: the ladder of the newest that was begun, or with `fresh` of the one after it."""
        size = len(self.episodes)
        own = {cell.key for cell in self.plan.cells if is_control(cell.agent.name)}
        last = max((cell.last_episode for cell in store.cells() if cell.key in own), default=0)
        rounds = -(-last // size) + (1 if fresh else 0)
        first = max(rounds - 1, 0) * size + 1
        episodes = range(first, first + size)
        return replace(self, plan=self.plan.with_episodes(episodes), episodes=episodes)

    @property
    def evals(self) -> tuple[str, ...]:
        return tuple(self.controls)


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
    """Writes the controls of each eval into a folder, and plans their runs."""
    made_of: dict[str, dict[str, ControlFiles]] = {}
    lacking: dict[str, dict[str, str]] = {}
    panels: dict[str, Panel] = {}
    cells: list[Cell] = []
    for eval_ in evals:
        made, lacking[eval_.name] = make_controls(eval_, controls)
        if not ("good" in made and made["good"].files):
            lacking[eval_.name].setdefault("good", NOTHING_GOOD)
            continue
        made_of[eval_.name] = made
        with_controls = _with_controls(eval_, made, folder / eval_.name)
        panels[eval_.name] = certified_panel(project, with_controls, metrics, judges)
        cells += [_cell(project, with_controls, name) for name in made]
    if not cells:
        raise UserError(
            "No eval here has a good control, so there is nothing to test the judges on. Put what a good agent would "
            "leave into evals/NAME/controls/good/, and what a bad one would leave into controls/bad/. "
            "See: orvl list evals"
        )
    repeats = range(1, episodes + 1)
    plan = Plan(tuple(cells), ordered(cells, repeats, seed), panels, seed)
    return Ladder(plan, repeats, made_of, lacking)


def _with_controls(eval_: Eval, controls: Mapping[str, ControlFiles], folder: Path) -> Eval:
    """The eval moved to a folder that holds the whole ladder beside its own parts."""
    for name, control in controls.items():
        (folder / "controls" / name).mkdir(parents=True)
        write(control, folder / "controls" / name)
    for part in PARTS:
        if path := eval_.part(part):
            (folder / part).symlink_to(path)
    own = eval_.control_digests
    digests = {name: own.get(name) or _digest(control) for name, control in controls.items()}
    return replace(eval_, folder=folder, control_digests=digests)


def _digest(control: ControlFiles) -> str:
    """A derived control by its content."""
    files: list[Any] = [[path, hashlib.sha256(content).hexdigest()] for path, content in sorted(control.files.items())]
    files += [["deleted", path] for path in sorted(control.deleted)]
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()


def _cell(project: Project, eval_: Eval, control: str) -> Cell:
    agent = control_agent(project, control)
    provider, models = next(iter(agent.models.items()))
    model, model_id = next(iter(models.items()))
    return Cell(cell_key(agent, "", provider, model, model_id, eval_), agent, "", provider, model, model_id, eval_)

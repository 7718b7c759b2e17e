"""The folder of an eval that is being made from commits."""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.new.eval_text import eval_text
from orvl.new.hidden import plan
from orvl.new.suite import laid_anew
from orvl.new.trial import CHECKS, PROGRAM
from orvl.project.evals import load_eval
from orvl.project.find import SourceFile
from orvl.project.names import count
from orvl.run import start_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.new.hidden import HiddenCheck
    from orvl.new.history import History
    from orvl.new.mutants import Mutant
    from orvl.new.suite import TestRunner
    from orvl.project import Project
    from orvl.types import Eval

INSIDE = Path(__file__).parent / "inside" / PROGRAM
NO_PROMPT = "(still to be written)"


@dataclass
class Making:
    """What the eval is made of, and where."""

    project: Project
    name: str
    history: History
    runner: TestRunner
    folder: Path
    say: Callable[[str], None]
    setup: tuple[str, ...] = ()
    canary: str = field(default_factory=lambda: str(uuid.uuid4()))
    checks: list[HiddenCheck] = field(default_factory=list)

    @property
    def turns(self) -> int:
        return len(self.history.steps)

    @property
    def hidden(self) -> Path:
        return self.folder / CHECKS

    def lay_out(self) -> None:
        """What a run starts from, the tests of all states, and the good work of each turn."""
        history, good = self.history, self.folder / "controls" / "good"
        history.lay(history.base.values(), self.folder / "workspace")
        history.lay(laid_anew(history.base).values(), self.hidden / "tests" / "0")
        for turn, step in enumerate(history.steps, 1):
            history.lay(laid_anew(step.changed).values(), self.hidden / "tests" / str(turn))
            history.lay(step.changed.values(), good / f"turn-{turn}")
            if step.deleted:
                (good / f"turn-{turn}" / ".delete").write_text("".join(f"{path}\n" for path in step.deleted), "utf-8")
        shutil.copyfile(INSIDE, self.hidden / PROGRAM)

    def write(self, prompts: Sequence[str], notes: Sequence[str] = ()) -> Eval:
        """The eval's own file and the plan of its hidden tests; what comes out has been loaded."""
        (self.folder / "eval.md").write_text(eval_text(self._settings(), prompts, notes), encoding="utf-8")
        self.write_plan(self.checks)
        file = SourceFile(self.name, self.folder / "eval.md", "project")
        return load_eval(file, self.project.settings.limits.check)

    def write_plan(self, checks: Sequence[HiddenCheck]) -> None:
        text = json.dumps(plan(self.runner, self.history, checks, self.canary), indent=1)
        (self.hidden / "plan.json").write_text(text + "\n", encoding="ascii")

    def write_bugs(self, mutants: Sequence[Mutant]) -> None:
        folder = self.folder / "controls" / "bugs"
        for number, mutant in enumerate(mutants, 1):
            folder.mkdir(exist_ok=True)
            (folder / f"{number:02}-{mutant.slug}.patch").write_text(mutant.patch, encoding="utf-8")

    def _settings(self) -> dict[str, Any]:
        origin = self.history.repository.name
        settings: dict[str, Any] = {
            "description": f"{count(self.turns, 'commit')} of {origin}.",
            "family": origin,
            "private": True,
            "canary": self.canary,
        }
        if self.setup:
            settings |= {"setup": list(self.setup), "network": "registries"}
        if self.checks:
            settings["checks"] = [check.settings() for check in self.checks]
        return settings

    def next_state(self, before: Path, after: Path, turn: int) -> None:
        """Makes of the folder before a turn another one, as the turn's commit leaves it."""
        after.mkdir()
        start_tree.copy(before, after)
        self.history.go_on(turn, after)

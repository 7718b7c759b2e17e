"""An eval through the gate: all tests in their order, and the record that is kept of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from orvl.errors import ControlUnavailable, SetupFailed
from orvl.project.control_scripts import is_scripted
from orvl.trust import vetting
from orvl.trust.standing import eval_content
from orvl.trust.vetted import VERSION
from orvl.trust.vetting.bench import opened
from orvl.trust.vetting.gate import HOLDS, Effort, EvalGate, EvalResult, EvalTest, failed, not_applicable
from orvl.trust.vetting.performed import performed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Eval


@cache
def gate_tests() -> tuple[EvalTest, ...]:
    """All seventeen, found by listing the folder."""
    modules = [module.name for module in iter_modules(vetting.__path__, f"{vetting.__name__}.")]
    tests = [import_module(name).TEST for name in modules if name.rpartition(".t")[2][:2].isdigit()]
    return tuple(sorted(tests, key=lambda test: test.number))


@dataclass(frozen=True)
class Vetted:
    """How an eval came through the gate."""

    eval: Eval
    results: Mapping[int, EvalResult]
    seconds: float
    effort: Effort

    @property
    def holds(self) -> bool:
        """Whether nothing failed that was tried."""
        return not any(result.state == "failed" for result in self.results.values())

    @property
    def is_vetted(self) -> bool:
        """Whether all was tried, and all holds."""
        return all(result.state in HOLDS for result in self.results.values())

    def record(self) -> dict[str, Any]:
        """What is kept: by the eval's content, so that it means nothing once that has changed."""
        return {
            "version": VERSION,
            "eval": self.eval.name,
            "content": eval_content(self.eval),
            "vetted": self.is_vetted,
            "whole": self.effort.is_whole,
            "seconds": round(self.seconds, 1),
            "tests": {
                str(number): {"state": result.state, "sentence": result.sentence, "todo": list(result.todo)}
                for number, result in self.results.items()
            },
        }


async def vet(
    project: Project,
    eval_: Eval,
    store: Store | None,
    effort: Effort,
    on_result: Callable[[EvalTest, EvalResult], None],
    say: Callable[[str], None],
) -> Vetted:
    """Takes an eval through all tests; each is told as soon as it is known."""
    began = time.monotonic()
    results: dict[int, EvalResult] = {}

    def note(test: EvalTest, result: EvalResult) -> None:
        results[test.number] = result
        on_result(test, result)

    if not eval_.checks:
        for test in gate_tests():
            note(test, NO_CHECKS if test.number == 1 else not_applicable("there are no checks"))
        return Vetted(eval_, results, time.monotonic() - began, effort)
    async with opened(project, eval_) as bench:
        good = eval_.part("controls/good") if is_scripted(eval_, "good") else None
        gate = EvalGate(project, bench, store, effort, say, performed=good and await performed(bench, good))
        for test in gate_tests():
            if eval_.imported and test.number not in (effort.numbers or OF_IMPORTED):
                note(test, not_applicable(NOT_IMPORTED))
                continue
            if why := effort.skips(test):
                note(test, EvalResult("skipped", why))
                continue
            say(f"{test.number} {test.name} …")
            note(test, await _tried(test, gate))
    return Vetted(eval_, results, time.monotonic() - began, effort)


OF_IMPORTED = frozenset((1, 2, 6, 11))
NOT_IMPORTED = "an imported task is tried by tests 1, 2, 6 and 11; --test tries it by others"
NO_CHECKS = failed("the eval has no checks", ["Write checks that tell good work from bad (docs/evals.md, 'Checks')."])


async def _tried(test: EvalTest, gate: EvalGate) -> EvalResult:
    """What an eval lacks is no reason to give up the other tests."""
    try:
        return await test.run(gate)
    except ControlUnavailable as error:
        return failed("it needs work of known quality", [f"{error}"])
    except SetupFailed as error:
        return failed("the setup fails", [f"{error}"])

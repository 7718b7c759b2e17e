"""The gate as a whole: its tests, what they share, and how each of them came out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from orvl.capture.checks import active
from orvl.errors import ControlUnavailable
from orvl.project.control_scripts import is_scripted
from orvl.trust.controls import make_controls
from orvl.trust.mutate.bugs import patches_of
from orvl.trust.mutate.patches import apply_patch
from orvl.trust.mutate.source import ControlSource
from orvl.trust.vetting.episodes import in_episode
from orvl.trust.vetting.mutants import mutants
from orvl.trust.vetting.works import EMPTY, Work

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.vetting.bench import CheckBench, Verdicts
    from orvl.types import Check, CheckResult, Eval

State = Literal["passed", "failed", "not applicable", "skipped"]
HOLDS: tuple[State, ...] = ("passed", "not applicable")
T = TypeVar("T")


@dataclass(frozen=True)
class EvalResult:
    """How one test came out: a sentence with its figures, and what to do where it failed."""

    state: State
    sentence: str
    todo: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


def passed(sentence: str, **figures: Any) -> EvalResult:
    return EvalResult("passed", sentence, (), figures)


def failed(sentence: str, todo: Iterable[str] = (), **figures: Any) -> EvalResult:
    return EvalResult("failed", sentence, tuple(todo), figures)


def not_applicable(why: str, **figures: Any) -> EvalResult:
    return EvalResult("not applicable", why, (), figures)


def held(problems: Sequence[str], sentence: str, trouble: str = "", **figures: Any) -> EvalResult:
    """Passed without problems; else failed, with each of them."""
    return failed(trouble or sentence, problems, **figures) if problems else passed(sentence, **figures)


@dataclass(frozen=True)
class EvalTest:
    """One of the seventeen tests."""

    number: int
    name: str
    run: Callable[[EvalGate], Awaitable[EvalResult]]
    is_quick: bool = True
    """Whether `--quick` does it, too."""


@dataclass(frozen=True)
class Effort:
    """How much is tried."""

    minutes: float = 10.0
    """Where checks take long, so many repeats are made as fit into this time."""
    is_quick: bool = False
    numbers: frozenset[int] = frozenset()
    """Only these tests; all where there are none."""

    @property
    def is_whole(self) -> bool:
        return not (self.is_quick or self.numbers)

    def skips(self, test: EvalTest) -> str:
        """Why a test is not made; empty if it is."""
        if self.numbers and test.number not in self.numbers:
            return "not asked for (--test)"
        return "skipped by --quick" if self.is_quick and not test.is_quick else ""


@dataclass
class EvalGate:
    """An eval at the gate: the works that its checks are tried on, and what was found out so far."""

    project: Project
    bench: CheckBench
    store: Store | None = None
    """The user's own, for what was measured there; it is only read."""
    effort: Effort = Effort()
    say: Callable[[str], None] = lambda _: None
    performed: Path | None = None
    """What the script of the good control left, where it is one."""
    _shared: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    @cached_property
    def eval(self) -> Eval:
        """As it is in the first episode."""
        return in_episode(self.bench.eval, 1)

    @cached_property
    def source(self) -> ControlSource:
        return ControlSource(self.eval, self.performed)

    @property
    def is_quick(self) -> bool:
        return self.effort.is_quick

    @property
    def minutes(self) -> float:
        return self.effort.minutes

    # -- works

    @cached_property
    def good(self) -> Work:
        """The good control. One that changes nothing is none: everything that is said of it would hold of no work."""
        if is_scripted(self.eval, "good"):
            return Work("good", control=self.eval.part("controls/good"), is_heard=True)
        if source_is_idle(self.source):
            raise ControlUnavailable(
                "controls/good changes nothing in the workspace: write there what good work leaves."
            )
        return Work("good", control=self.source.folder_of("good"), is_heard=True)

    @cached_property
    def good_2(self) -> Work | None:
        folder = self.source.folder_of("good-2")
        return Work("good-2", control=folder) if folder else None

    @cached_property
    def goods(self) -> tuple[Work, ...]:
        return (self.good, self.good_2) if self.good_2 else (self.good,)

    @cached_property
    def bad(self) -> Work:
        """The bad control; where nobody wrote one, the good one with nothing in it."""
        return self.derived("bad")

    def derived(self, name: str) -> Work:
        """A control of the ladder."""
        made, lacking = make_controls(self.eval, [name], self.source)
        if name in lacking:
            raise ControlUnavailable(lacking[name])
        return Work.of(made[name])

    @cached_property
    def bugs(self) -> tuple[Work, ...]:
        """The good work with one of the bugs that a user wrote, each."""
        final, patches = self.source.final.files, patches_of(self.source)
        works = []
        for patch in patches:
            state = apply_patch(patch, final)
            changed = {path: content for path, content in state.items() if final.get(path) != content}
            name, gone = f"controls/bugs/{patch.name}", frozenset(final.keys() - state.keys())
            works.append(self.buggy(name, changed, gone))
        return tuple(works)

    def buggy(self, name: str, files: Mapping[str, bytes], gone: frozenset[str] = frozenset()) -> Work:
        """The good work at its end, with these files instead of its own."""
        return Work(
            name,
            control=self.source.folder_of("good"),
            files=files,
            deleted=gone,
            executable=self.source.final.executable & files.keys(),
        )

    @cached_property
    def mutants(self) -> tuple[Work, ...]:
        return tuple(self.buggy(name, {path: content}) for name, path, content in mutants(self.source))

    @property
    def empty(self) -> Work:
        return EMPTY

    # -- checks

    def checks_at(self, turn: int = 0) -> list[Check]:
        """The checks that are wanted after a turn, or at the end (0)."""
        return active(self.eval, turn)

    async def verdicts(self, work: Work) -> Verdicts:
        return await self.bench.verdicts(work)

    async def share(self, name: str, make: Callable[[], Awaitable[T]]) -> T:
        """What several tests need is found out once."""
        if name not in self._shared:
            self._shared[name] = asyncio.ensure_future(make())
        found: T = await self._shared[name]
        return found

    async def each(self, works: Sequence[Work], look: Callable[[Work], Awaitable[T]], what: str) -> list[T]:
        """Looks at works, a few at once, and says how far that has come."""
        done, room = 0, asyncio.Semaphore(2 * self.bench.at_once)

        async def one(work: Work) -> T:
            nonlocal done
            async with room:
                found = await look(work)
            done += 1
            self.say(f"{what}: {done} of {len(works)}")
            return found

        return list(await asyncio.gather(*map(one, works)))


def source_is_idle(source: ControlSource) -> bool:
    """Whether the good control leaves the workspace as it was."""
    return source.final.files == source.workspace


def named(results: Iterable[CheckResult]) -> str:
    """The names of checks, each once."""
    return ", ".join(dict.fromkeys(result.name for result in results))

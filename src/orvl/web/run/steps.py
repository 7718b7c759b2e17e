"""The conversation: every step folded, filtered by words of the address."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orvl.capture.stored_run import prompts_of
from orvl.errors import UserError
from orvl.project.names import count, did_you_mean
from orvl.report.atif import loaded, steps_of
from orvl.web.filters import filters
from orvl.web.html import join, tag
from orvl.web.show import fitting, folded, link, long_text, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.web.html import Child, Html
    from orvl.web.run.asked import RunAsked

LONGEST_STEP = 8_000
OF_A_STEP = 60_000
"""Bytes of one text of a step, and of all of them."""
BEGINNING = 120
KINDS = ("user", "agent", "system", "tools", "reasoning", "subagents")
MOST_TOOLS = 12


@dataclass(frozen=True)
class ShownStep:
    """A step of ATIF, as far as a page shows it."""

    fields: dict[str, Any]

    @property
    def number(self) -> int:
        return int(self.fields["step_id"])

    @property
    def source(self) -> str:
        return str(self.fields["source"])

    @cached_property
    def message(self) -> str:
        return _text(self.fields.get("message"))

    @cached_property
    def reasoning(self) -> str:
        return _text(self.fields.get("reasoning_content"))

    @cached_property
    def calls(self) -> list[tuple[str, str]]:
        """Each tool that it called, and with what."""
        return [
            (str(call["function_name"]), _arguments(call["arguments"])) for call in self.fields.get("tool_calls") or ()
        ]

    @cached_property
    def _results(self) -> list[dict[str, Any]]:
        return list((self.fields.get("observation") or {}).get("results") or ())

    @cached_property
    def results(self) -> list[str]:
        return [_text(result.get("content")) for result in self._results]

    @cached_property
    def subagents(self) -> list[str]:
        """The other trajectories that it began."""
        references = [one for result in self._results for one in result.get("subagent_trajectory_ref") or ()]
        return [
            _text(one.get("trajectory_id") or one.get("session_id") or one["trajectory_path"]) for one in references
        ]

    @property
    def kinds(self) -> set[str]:
        parts = {"tools": self.calls, "reasoning": self.reasoning, "subagents": self.subagents}
        return {self.source, *(name for name, content in parts.items() if content)}

    def hits(self, words: str) -> int:
        """How often it says something, whatever the case."""
        texts = (self.message, self.reasoning, *self.results, *(part for call in self.calls for part in call))
        return sum(text.casefold().count(words.casefold()) for text in texts)


def part(run: RunAsked) -> Child:
    """The steps that fit on a page, from the one that is asked for; without any, the prompts."""
    every = _steps(run)
    if not every:
        return None
    kept = _kept(run, every)
    first = int(run.asked.number("at") or 1)
    shown, following = _fitting(run, [step for step in kept if step.number >= first])
    return [_search(run, every, kept), shown, _further(run, kept, following) if following else None]


def _steps(run: RunAsked) -> list[ShownStep]:
    attempt, store = run.last.attempt, run.asked.store
    reported = loaded(store.blobs.get(attempt.steps)) if attempt.steps else []
    prompts = prompts_of(store, run.details.cell.id, attempt)
    steps = steps_of(reported) or steps_of({"source": "user", "message": prompt} for prompt in prompts)
    return [ShownStep(step) for step in steps]


def _kept(run: RunAsked, every: list[ShownStep]) -> list[ShownStep]:
    kind, tool, words = (run.asked.words.get(name, "") for name in ("kind", "tool", "q"))
    if kind and kind not in KINDS:
        raise UserError(f"There is no kind of step '{kind}'. {did_you_mean(kind, KINDS)}")
    return [
        step
        for step in every
        if (not kind or kind in step.kinds)
        and (not tool or tool in (name for name, _ in step.calls))
        and (not words or step.hits(words))
    ]


def _fitting(run: RunAsked, steps: list[ShownStep]) -> tuple[list[Html], int | None]:
    """And the number of the first step that does not fit."""
    shown: list[Html] = []
    room = run.most
    for step in steps:
        made = _step(run, step)
        room -= len(made.markup.encode())
        if shown and room < 0:
            return shown, step.number
        shown.append(made)
    return shown, None


def _further(run: RunAsked, kept: list[ShownStep], following: int) -> Child:
    more = sum(step.number >= following for step in kept)
    words = {name: word for name in ("kind", "tool", "q") if (word := run.asked.words.get(name))}
    return tag("p", f"{count(more, 'more step')}. ", link("Go on", run.address("steps", at=str(following), **words)))


# -- what can be filtered by


def _search(run: RunAsked, every: list[ShownStep], kept: list[ShownStep]) -> Child:
    """How many there are of each kind, as links; and a form for words."""
    address = run.address("steps")
    if address is None:
        return None
    by_kind = Counter(kind for step in every for kind in step.kinds)
    tools = Counter(name for step in every for name, _ in step.calls).most_common(MOST_TOOLS)
    kinds = [(f"{kind} {by_kind[kind]}", {"kind": kind}) for kind in KINDS if by_kind[kind]]
    named = [(f"{short(name)} {number}", {"tool": name}) for name, number in tools if len(name) < 1_000]
    return [
        tag("p", _summary(run, every, kept)),
        tag("p", "Only: ", [(link(text, run.address("steps", **words)), " ") for text, words in (*kinds, *named)]),
        filters(address, run.asked, "q", "kind", "tool", button="Search", kept="attempt"),
    ]


def _summary(run: RunAsked, every: list[ShownStep], kept: list[ShownStep]) -> str:
    words = run.asked.words.get("q")
    some = count(len(every), "step") if len(kept) == len(every) else f"{len(kept)} of {count(len(every), 'step')}"
    return f"{some}, {count(sum(step.hits(words) for step in kept), 'hit')} of “{words}”." if words else f"{some}."


# -- one step


def _step(run: RunAsked, step: ShownStep) -> Html:
    raw = run.raw("steps")
    names = ", ".join(name for name, _ in step.calls)
    begin = step.message.strip().split("\n", 1)[0][:BEGINNING]
    heading = " · ".join(part for part in (f"{step.number} {step.source}", short(names), begin) if part)
    parts, more = fitting(_parts(step, raw, folds=not run.shares_page), OF_A_STEP)
    rest = tag("p", f"{count(more, 'more part')}. ", link("All steps", raw), class_="note") if more else None
    is_open = bool(run.asked.words.get("q"))
    return folded(heading, parts, rest, id_=run.anchor(f"said-{step.number}"), is_open=is_open)


def _parts(step: ShownStep, raw: str | None, *, folds: bool) -> Iterator[Html]:
    """Tool calls are folded inside the step, but in a file with thousands of them: it would open slowly."""
    if step.reasoning:
        yield folded("reasoning", long_text(step.reasoning, raw, LONGEST_STEP))
    if step.message.strip():
        yield long_text(step.message, raw, LONGEST_STEP)
    for name, given in step.calls:
        text = long_text(given, raw, LONGEST_STEP)
        yield folded(short(name), text) if folds else join(tag("p", short(name), class_="note"), text)
    for name in step.subagents:
        yield tag("p", f"Subagent: {short(name)}", class_="note")
    for result in filter(None, step.results):
        yield long_text(result, raw, LONGEST_STEP)


def _arguments(given: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {_text(value)}" for name, value in given.items())


def _text(content: Any) -> str:
    """A message is text, or parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(_text(part.get("text", part)) if isinstance(part, dict) else _text(part) for part in content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)

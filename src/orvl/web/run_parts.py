"""The parts of a run's page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orvl.capture.stored_run import captured
from orvl.errors import UserError
from orvl.project.names import count
from orvl.report import calls
from orvl.report.atif import loaded, steps_of
from orvl.report.run import ISOLATION, attempt_lines, print_verdicts
from orvl.report.text import seconds
from orvl.web.draw import loss
from orvl.web.html import join, tag
from orvl.web.show import Heading, PageTerminal, diff_text, folded, link, long_text, sentences, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from orvl.capture.captured_run import CapturedRun
    from orvl.capture.stored_run import AttemptDetails, RunDetails
    from orvl.rate.ledger import Ledger, Line
    from orvl.report.shown_run import ShownRun
    from orvl.web.html import Child, Html
    from orvl.web.page import PageRequest
    from orvl.web.show import TableRow

PARTS = {
    "verdicts": "Judges",
    "checks": "Checks",
    "steps": "Conversation",
    "diff": "Diff",
    "files": "Files",
    "page": "Page",
    "calls": "Model calls",
    "output": "Output",
}
LONGEST_STEP = 8_000
MOST_ROWS = 500


@dataclass(frozen=True)
class RunAsked:
    """A run, and how many signs of each of its parts a page takes."""

    asked: PageRequest
    shown: ShownRun
    most: int

    @property
    def details(self) -> RunDetails:
        return self.shown.run

    @property
    def last(self) -> AttemptDetails:
        """The attempt that the page is about."""
        return self.shown.attempts[-1]

    def address(self, part: str = "", **words: str) -> str | None:
        """Of a part of the same attempt."""
        return self.asked.links.run(self.details.key, part, {**self._attempt, **words})

    @property
    def _attempt(self) -> dict[str, str]:
        return {name: word for name, word in self.asked.words.items() if name == "attempt"}

    @cached_property
    def capture(self) -> CapturedRun | None:
        """What the last attempt left; None where that is nothing."""
        return captured(self.asked.store, self.details) if self.last.attempt.tree is not None else None

    def raw(self, what: str, number: int | str = "") -> str | None:
        return self.asked.links.raw(self.details.key, what, number, self._attempt)

    def text_of(self, blob: str) -> str:
        return self.asked.store.blobs.get(blob).decode("utf-8", "replace")


def part(name: str, run: RunAsked) -> Child:
    """None where the run has no such part."""
    return MAKERS[name](run)


# -- how it was rated


def answer(shown: ShownRun) -> str:
    """Where the points went, in one sentence."""
    last = shown.attempts[-1].attempt
    why = f": {last.reason}" if last.reason else ""
    ledger = shown.ledger
    if ledger is None:
        return f"Not rated. The run {last.outcome}{why}." if last.outcome != "errored" else f"Errored{why}."
    ended = "" if last.outcome == "finished" else f" The run {last.outcome}{why}."
    most = ledger.lines[0] if ledger.lines else None
    if most is None or most.lost < 0.0005:
        return f"R {ledger.R:.3f}: nothing was lost.{ended}"
    return f"R {ledger.R:.3f}: {1 - ledger.R:.3f} was lost, {most.lost:.3f} of it on {most.metric}.{ended}"


def history(shown: ShownRun) -> Iterator[str]:
    if shown.changed is not None:
        yield f"This run is history: changed since: {', '.join(shown.changed) or 'its files'}."


def ledger(shown: ShownRun) -> Child:
    """Weights × scores = R, the largest loss first, and each judge's own score beside it."""
    found = shown.ledger
    if found is None:
        return None
    judges = list(dict.fromkeys(judge for line in found.lines for judge in line.judges))
    headings = [Heading("metric", words=True), *map(Heading, ("weight", "× score", "= points", "lost", "", *judges))]
    rows = [(None, _ledger_row(line, judges)) for line in found.lines if line.weight]
    total: list[Child] = ["R", "", "", f"{found.R:.3f}", f"{1 - found.R:.3f}", "", *("" for _ in judges)]
    return [
        table("Where the points went", headings, [*rows, ("bold", total)]),
        sentences(_penalty(found)),
    ]


def _ledger_row(line: Line, judges: Iterable[str]) -> list[Child]:
    score = "–" if line.score is None else f"{line.score:.3f}"
    by_judge = (line.judges.get(judge) for judge in judges)
    own = ["–" if value is None else f"{value:.2f}" for value in by_judge]
    return [line.metric, f"{line.share:.3f}", score, f"{line.points:.3f}", f"{line.lost:.3f}", loss(line.lost), *own]


def _penalty(found: Ledger) -> Iterator[str]:
    yield f"R_pen {found.R_pen:.3f} = R minus {found.penalty:g} × the judges' weighted variance."
    if found.unrated:
        yield f"Not rated: {', '.join(found.unrated)}; the weights of the others are scaled up."
    if zero := [line.metric for line in found.lines if not line.weight]:
        yield f"Scored, but without a weight: {', '.join(zero)}."


def attempts(run: RunAsked) -> Child:
    """What `orvl show` says of each attempt; where there are several, each has a page."""
    provider, every = run.details.cell.provider, run.shown.attempts
    texts = ["\n".join(attempt_lines(one, provider, is_last=one is every[-1])).strip() for one in every]
    shown = [
        (_attempt_link(run, one.position) if len(every) > 1 else None, long_text(text, most=run.most))
        for one, text in zip(every, texts, strict=True)
    ]
    return folded([tag("h2", "Facts"), f" {count(len(texts), 'attempt')}"], shown)


def _attempt_link(run: RunAsked, position: int) -> Child:
    address = run.asked.links.run(run.details.key, words={"attempt": str(position)})
    return tag("p", link(f"Attempt {position} alone", address)) if address else None


def _verdicts(run: RunAsked) -> Child:
    terminal = PageTerminal(caption="Verdicts")
    print_verdicts(terminal, run.last.scores)
    return terminal.parts or None


def _checks(run: RunAsked) -> Child:
    checks = run.last.attempt.checks
    if not checks:
        return None
    headings = [Heading("check", words=True), Heading("result"), *map(Heading, ("time", "weight"))]
    headings.append(Heading("where", words=True))
    rows: list[TableRow] = [
        (
            None,
            [
                check.name,
                tag("span", "passed" if check.passed else "failed", class_="good" if check.passed else "bad"),
                seconds(check.seconds),
                f"{check.weight:g}",
                ISOLATION[check.isolation] + (f" ({check.cut})" if check.cut else ""),
            ],
        )
        for check in checks
    ]
    printed = [
        folded(f"What {one.name} printed", long_text(one.output, most=run.most)) for one in checks if one.output.strip()
    ]
    return [table("Checks", headings, rows), printed]


# -- what it did


def _steps(run: RunAsked) -> Child:
    """The steps that fit on a page, from the one that is asked for; without any, the prompts."""
    attempt, store = run.last.attempt, run.asked.store
    reported = loaded(store.blobs.get(attempt.steps)) if attempt.steps else []
    prompts = store.prompts(run.details.cell.id)
    steps = steps_of(reported) or steps_of({"source": "user", "message": prompt} for prompt in prompts)
    first = int(run.asked.number("at") or 1)
    shown: list[Html] = []
    size = 0
    for step in steps[max(first - 1, 0) :]:
        made = _step(step, run.raw("steps"))
        size += len(made.markup)
        if shown and size > run.most:
            break
        shown.append(made)
    following = max(first, 1) + len(shown)
    more = None
    if following <= len(steps):
        address = run.address("steps", at=str(following))
        more = tag("p", f"{len(steps) - following + 1} more steps. ", link("Go on", address) if address else None)
    return [shown, more] if steps else None


def _step(step: dict[str, Any], raw: str | None) -> Html:
    message, tools = _text(step.get("message")), step.get("tool_calls") or []
    results = (step.get("observation") or {}).get("results") or []
    names = ", ".join(str(tool.get("function_name")) for tool in tools)
    begin = (message.strip() or "").split("\n", 1)[0][:120]
    heading = (
        f"{step['step_id']} {step['source']}" + (f" · {names}" if names else "") + (f" · {begin}" if begin else "")
    )
    reasoning = _text(step.get("reasoning_content"))
    inside: list[Child] = [
        folded("reasoning", long_text(reasoning, raw, LONGEST_STEP)) if reasoning else None,
        long_text(message, raw, LONGEST_STEP) if message.strip() else None,
        [_tool(tool, raw) for tool in tools],
        [long_text(_text(one.get("content")), raw, LONGEST_STEP) for one in results],
    ]
    return folded(heading, inside)


def _tool(tool: dict[str, Any], raw: str | None) -> Html:
    given = tool.get("arguments")
    arguments = given if isinstance(given, dict) else {"arguments": given}
    text = "\n".join(f"{name}: {_text(value)}" for name, value in arguments.items())
    return join(tag("h3", str(tool.get("function_name"))), long_text(text, raw, LONGEST_STEP))


def _text(content: Any) -> str:
    """A message is text, or parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(_text(part.get("text", part)) if isinstance(part, dict) else _text(part) for part in content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _calls(run: RunAsked) -> Child:
    made = run.last.calls
    if not made:
        return None
    lines = list(zip(made, calls.lines(made), strict=True))[:MOST_ROWS]
    more = len(made) - len(lines)
    return [
        tag("ol", [tag("li", line, " ", link("verbatim", run.raw("call", call.number))) for call, line in lines]),
        tag("p", f"{count(more, 'more call')}: orvl show {run.details.key[:12]} --calls") if more else None,
    ]


def _output(run: RunAsked) -> Child:
    streams = [
        (number, stream, blob)
        for number, turn in enumerate(run.last.attempt.turns, 1)
        for stream, blob in (("stdout", turn.stdout), ("stderr", turn.stderr))
        if blob
    ]
    return [
        join(
            tag("h3", f"Turn {number}, {stream} ", link("whole", run.raw(stream, number))),
            long_text(run.text_of(blob), run.raw(stream, number), run.most),
        )
        for number, stream, blob in streams
    ] or None


# -- what it left


def _diff(run: RunAsked) -> Child:
    text = run.capture.diff if run.capture else ""
    return diff_text(text, run.raw("diff"), run.most) if text else None


def _files(run: RunAsked) -> Child:
    """By number, for a name may be anything; one of them in full where it is asked for."""
    if run.capture is None or not run.capture.files:
        return None
    made, files = set(run.capture.made), run.capture.files
    rows: list[TableRow] = [
        (
            None,
            [
                link(path, run.address("files", file=str(number))),
                "new or changed" if path in made else "as it was",
                f"{run.capture.size(path):,}",
                link("raw", run.raw("file", number)),
            ],
        )
        for number, path in enumerate(files[:MOST_ROWS], 1)
    ]
    more = len(files) - len(rows)
    headings = [Heading("file", words=True), Heading("state"), Heading("bytes"), Heading("")]
    return [
        _file(run, files) if run.asked.words.get("file") else None,
        table("Files", headings, rows),
        tag("p", f"{count(more, 'more file')}.") if more else None,
    ]


def _file(run: RunAsked, files: list[str]) -> Child:
    number = run.asked.number("file") or 0
    if number not in range(1, len(files) + 1):
        raise UserError(f"There is no file {number:g}: the run left {count(len(files), 'file')}.")
    path = files[int(number) - 1]
    data = run.capture.read_bytes(path) if run.capture else b""
    raw = run.raw("file", int(number))
    if b"\0" in data[:8192]:
        return [tag("h2", path), tag("p", "This is not text. ", link("Save it", raw))]
    return [tag("h2", path), long_text(data.decode("utf-8", "replace"), raw, run.most)]


def _page(run: RunAsked) -> Child:
    """What a browser saw, as pictures: the agent's page itself is never opened here."""
    look = run.last.inspections.page
    shots = [shot for shot in look.shots if not shot.plain] if look else []
    pictures = [(shot.name, address) for shot in shots if (address := run.raw("shot", shot.name))]
    if not pictures:
        return None
    return [
        tag("figure", tag("img", src=address, alt=f"The page, {name}", loading="lazy"), tag("figcaption", name))
        for name, address in pictures
    ]


MAKERS: dict[str, Callable[[RunAsked], Child]] = {
    "verdicts": _verdicts,
    "checks": _checks,
    "steps": _steps,
    "diff": _diff,
    "files": _files,
    "page": _page,
    "calls": _calls,
    "output": _output,
}

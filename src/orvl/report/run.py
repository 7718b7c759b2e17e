"""One run as text and as JSON: its attempts, what programs and judges made of them, and the files it left."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orvl.capture.turn_scores import turn_scores
from orvl.project.names import count
from orvl.report import calls
from orvl.report.terminal import cell_width
from orvl.report.text import dollars, plain, seconds
from orvl.report.turns import asked_lines, prompt_lines, turn_names, user_line
from orvl.report.verdicts import print_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.capture.browser.result import Look
    from orvl.capture.captured_run import CapturedRun, Inspections
    from orvl.capture.curves import CodeState
    from orvl.capture.stored_run import AttemptDetails, RunDetails
    from orvl.report.terminal import Terminal
    from orvl.types import Attempt, Score, Usage

MOST_LINES = 12
MOST_FILES = 40
ISOLATION = {
    "separate": "in a sandbox of its own",
    "in-process": "in-process (beside the agent's code)",
    "none": "without walls",
}


def run_json(run: RunDetails, attempts: Iterable[AttemptDetails]) -> dict[str, Any]:
    """One object."""
    return {
        "schema": 1,
        "run": run.key,
        **run.names,
        "imported": origin.source if (origin := run.cell.imported) else None,
        "episode": run.episode,
        "attempts": [_attempt_json(details) for details in attempts],
    }


def _attempt_json(details: AttemptDetails) -> dict[str, Any]:
    attempt = asdict(details.attempt)
    del attempt["checks"], attempt["retry"], attempt["contestant"]
    return {
        **attempt,
        "checks": [asdict(check) for check in details.attempt.checks or ()],
        "calls": [asdict(call) for call in details.calls],
        "scores": [asdict(score) for score in details.scores],
        "found": details.inspections.as_json(),
    }


def print_parts(
    terminal: Terminal,
    run: RunDetails,
    attempts: Sequence[AttemptDetails],
    capture: CapturedRun | None,
    curves: Sequence[CodeState],
    good_curves: Sequence[CodeState],
) -> None:
    """What the judges said, what checks found, what each attempt did, the files of the last, and how to see more."""
    last = attempts[-1] if attempts else None
    if last and any(score.judge for score in last.scores):
        terminal.print("\nJudges", "bold")
        print_verdicts(terminal, last.scores)
    if last and last.attempt.checks:
        terminal.print("\nChecks", "bold")
        _print_lines(terminal, _checks(last.attempt))
    terminal.print("\nWhat it did", "bold")
    for details in attempts:
        _print_lines(terminal, _facts(details, run.cell.provider, is_last=details is last))
        if details is not last:
            _print_lines(terminal, _checks(details.attempt))
        _print_lines(terminal, _results(details))
    _print_lines(terminal, _growth(curves, good_curves))
    if capture is not None:
        _print_lines(terminal, _files(capture))
    terminal.print("\nSee more", "bold")
    _print_lines(terminal, _commands(run, last, has_files=capture is not None and bool(capture.files)))


def _print_lines(terminal: Terminal, lines: Iterable[str]) -> None:
    for line in lines:
        terminal.print(line)


def _commands(run: RunDetails, last: AttemptDetails | None, *, has_files: bool) -> Iterator[str]:
    """The commands that show what the run has, as they are typed."""
    flags = {"--diff": "what it changed", "--file PATH": "a file that it left"} if has_files else {}
    if last and last.attempt.turns:
        flags["--output"] = "what it printed"
    if last and last.calls:
        flags |= {"--calls": "its model calls", "--call N": "one of them, verbatim"}
    judges = dict.fromkeys(score.judge for score in (last.scores if last else ()) if score.judge)
    flags |= {f"--judge {shlex.quote(plain(judge))}": "what it was asked and said" for judge in judges}
    if last and last.inspections.page and any(not shot.plain for shot in last.inspections.page.shots):
        flags["--shot NAME > FILE.png"] = "a screenshot"
    flags["--json"] = "all of it, for programs"
    width = max(map(cell_width, flags))
    for flag, what in flags.items():
        yield f"  orvl show {run.key[:12]} {flag}{' ' * (width - cell_width(flag))}  {what}"
    yield f"  orvl view{' ' * (width + 14)}  the same in a browser"


def attempt_lines(details: AttemptDetails, provider: str, *, is_last: bool) -> Iterator[str]:
    yield from _facts(details, provider, is_last=is_last)
    yield from _checks(details.attempt)
    yield from _results(details)


def _facts(details: AttemptDetails, provider: str, *, is_last: bool) -> Iterator[str]:
    """When and where it was carried out, how it ended, its turns, and what it took."""
    attempt = details.attempt
    when = datetime.fromtimestamp(attempt.started).strftime("%Y-%m-%d %H:%M:%S")
    why = f": {plain(attempt.reason)}" if attempt.reason else ""
    yield f"\nattempt {details.position}, {when}, sandbox {attempt.sandbox}: {attempt.outcome}{why}"
    yield from _turns(attempt)
    summary = list(calls.summary(details.calls, provider, attempt))
    yield from (f"  {line}" for line in summary)
    if summary:
        earlier = "" if is_last else f" --attempt {details.position}"
        yield f"    List them with{earlier} --calls; see one in full with{earlier} --call N."
    yield from (f"  cut: {plain(note)}" for note in attempt.cut)


def _checks(attempt: Attempt) -> Iterator[str]:
    yield from _turn_lines(attempt)
    for check in [check for check in attempt.checks or () if not check.turn]:
        word = "passed" if check.passed else "failed" + (f" ({check.cut})" if check.cut else "")
        yield f"  check {plain(check.name)}: {word} in {seconds(check.seconds)}, {ISOLATION[check.isolation]}"
        if not check.passed and check.output.strip():
            yield "    " + plain(check.output.strip().splitlines()[-1])


def _results(details: AttemptDetails) -> Iterator[str]:
    """What programs found out, and every score."""
    yield from (f"  {plain(line)}" for line in _inspections(details.inspections))
    yield from map(_score, details.scores)


def _turns(attempt: Attempt) -> Iterator[str]:
    usage = attempt.usage
    most = "≤ " if usage.is_bound else ""
    tokens = "unknown" if usage.tokens is None else f"{most}{usage.tokens}"
    cost = dollars(usage.cost_usd) if usage.cost_usd is None else f"{most}{dollars(usage.cost_usd)}"
    taken = "time unknown" if usage.seconds is None else seconds(usage.seconds)
    yield f"  {taken}, tokens {tokens}, cost {cost}"
    yield f"  {_split(usage)}"
    if attempt.user:
        yield user_line(attempt.user)
    for reason, number in attempt.refused.items():
        yield f"  ! {count(number, 'request')} of the agent refused: {reason}"
    names = turn_names(attempt.turns)
    for place, (name, turn) in enumerate(zip(names, attempt.turns, strict=True)):
        left_out = f", {turn.left_out_bytes} bytes of output dropped" if turn.left_out_bytes else ""
        yield f"  turn {name}: status {turn.status} in {seconds(turn.seconds)}{left_out}"
        yield from prompt_lines(attempt, place)
        yield from asked_lines(turn)
        if turn.loaded:
            share = f"in {turn.cpu_pressure or 0:.0%} of its time"
            yield f"  ! the machine was loaded in turn {name}: {share}, something waited for a processor"


def _turn_lines(attempt: Attempt) -> Iterator[str]:
    """What was new after each turn, what of the earlier was kept, and what was broken."""
    if not any(check.turn for check in attempt.checks or ()):
        return
    for one in turn_scores(attempt.checks or ()):
        parts = [f"{word} {passed}/{number}" for word, (passed, number) in one.counts.items() if number]
        broke = f", broke {', '.join(map(plain, one.broke))}" if one.broke else ""
        yield f"  {f'after turn {one.turn}' if one.turn else 'at the end'}: {', '.join(parts)}{broke}"


def _split(usage: Usage) -> str:
    """How the time was spent; only the gateway can tell."""
    parts = {
        "model": usage.model_seconds,
        "tools": usage.tools_seconds,
        "own": usage.own_seconds,
        "waiting": usage.waiting_seconds,
    }
    if None in parts.values():
        return "time: model, tools, own and waiting unknown"
    return "time: " + ", ".join(f"{name} {seconds(spent or 0.0)}" for name, spent in parts.items())


def _score(score: Score) -> str:
    judge = f" by {score.judge}" if score.judge else ""
    value = f"{score.value:.3f}" if score.value is not None else f"{score.kind}: {plain(score.reason or '')}"
    sample = f" (sample {score.sample})" if score.sample > 1 else ""
    return f"  score {score.metric}{judge}{sample}: {value}"


def _growth(curves: Sequence[CodeState], good: Sequence[CodeState]) -> Iterator[str]:
    """The code from the start to the end, by turn; and how good work ends, where that was run."""
    if not curves:
        return
    parts = [f"{name} {' → '.join(values)}" for name, values in curve_rows(curves).items()]
    turns = " → ".join("start" if not state.turn else f"turn {state.turn}" for state in curves)
    yield f"  code, {turns}: {'; '.join(parts)}"
    if good:
        yield f"  good work ends with: {'; '.join(f'{name} {values[-1]}' for name, values in curve_rows(good).items())}"


def curve_rows(curves: Sequence[CodeState]) -> dict[str, list[str]]:
    """What is known of the code by turn, as it is shown; what is unknown everywhere is left out."""
    rows = {
        "lines": [_known(state.lines, "d") for state in curves],
        "cloned": [_known(state.cloned, ".0%") for state in curves],
        "in complex functions": [_known(state.complex, ".0%") for state in curves],
        "new lint findings": [_known(state.lint, "d") for state in curves],
        "files touched": [str(state.touched) for state in curves],
    }
    return {name: values for name, values in rows.items() if set(values) != {"–"}}


def _known(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _files(capture: CapturedRun) -> Iterator[str]:
    """What the agent added and changed."""
    files, made = capture.files, capture.made
    if not files:
        yield "\nIt left no files."
        return
    unchanged = count(len(files) - len(made), "unchanged file")
    if not made:
        yield f"\n{unchanged}."
    else:
        yield f"\n{count(len(made), 'new or changed file')}" + (f", {unchanged}:" if len(files) > len(made) else ":")
    yield from (f"  {plain(name)}" for name in made[:MOST_FILES])
    if len(made) > MOST_FILES:
        yield f"  … and {len(made) - MOST_FILES} more"


# -- what a browser and linters found out


def _inspections(inspections: Inspections) -> Iterator[str]:
    """The linters' report first, then the browser's."""
    if inspections.lint:
        lines = inspections.lint.lines()
        yield from (f"lint: {line}" for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"lint: and {len(lines) - MOST_LINES} more lines; see --json"
    if inspections.page:
        yield from _page(inspections.page)


def _page(page: Look) -> Iterator[str]:
    yield f"page: {page.status}" + (f": {page.reason}" if page.reason else "")
    if page.app and not page.app.started and page.app.output.strip():
        yield f"  the app printed: {page.app.output.strip().splitlines()[-1][:160]}"
    for step in page.steps:
        why = (step.reason or "").removeprefix("not tried: ")
        yield f"  step {step.number}, {step.step}: {step.word}" + (f": {why}" if why else "")
    lines = Counter(f"{note.kind}: {note.text}" for note in page.notes)
    lines.update(f"{defect.kind}: {defect.target} {defect.detail}".rstrip() for defect in page.defects or ())
    lines.update({f"accessibility, {rule.impact}: {rule.help}": len(rule.views) for rule in page.axe or ()})
    for line, views in lines.most_common(MOST_LINES):
        yield f"  {line[:160]}" + (f" ({views} times)" if views > 1 else "")
    if len(lines) > MOST_LINES:
        yield f"  and {len(lines) - MOST_LINES} more; see --json"
    if names := ", ".join(shot.name for shot in page.shots if not shot.plain):
        yield f"  screenshots (--shot NAME): {names}"

"""One run as text and as JSON: its attempts, what programs and judges made of them, and the files it left."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report import calls
from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.capture.browser.result import Look
    from orvl.capture.captured_run import CapturedRun, Inspections
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
SHORT = {"yes": "yes", "no": "no", "cannot-tell": "?"}
STYLES = {"yes": "green", "no": "red", "cannot-tell": "dim"}


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


def print_run(
    terminal: Terminal, run: RunDetails, attempts: Sequence[AttemptDetails], capture: CapturedRun | None
) -> None:
    """The attempts one after another, then the files of the last."""
    terminal.print(f"run {run.key[:12]}: {' '.join(run.cell.names)} #{run.episode}")
    for details in attempts:
        for line in attempt_lines(details, run.cell.provider, is_last=details is attempts[-1]):
            terminal.print(line)
        print_verdicts(terminal, details.scores)
    if capture is not None:
        for line in _files(capture):
            terminal.print(line)


def attempt_lines(details: AttemptDetails, provider: str, *, is_last: bool) -> Iterator[str]:
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
    for check in attempt.checks or ():
        word = "passed" if check.passed else "failed" + (f" ({check.cut})" if check.cut else "")
        yield f"  check {plain(check.name)}: {word} in {seconds(check.seconds)}, {ISOLATION[check.isolation]}"
        if not check.passed and check.output.strip():
            yield "    " + plain(check.output.strip().splitlines()[-1])
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
    for reason, number in attempt.refused.items():
        yield f"  ! {count(number, 'request')} of the agent refused: {reason}"
    for number, turn in enumerate(attempt.turns, 1):
        left_out = f", {turn.left_out_bytes} bytes of output dropped" if turn.left_out_bytes else ""
        yield f"  turn {number}: status {turn.status} in {seconds(turn.seconds)}{left_out}"
        if turn.loaded:
            share = f"in {turn.cpu_pressure or 0:.0%} of its time"
            yield f"  ! the machine was loaded in turn {number}: {share}, something waited for a processor"


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
    yield "See them with --diff, --output or --file PATH."


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


# -- what the judges answered


def print_verdicts(terminal: Terminal, scores: Sequence[Score]) -> None:
    """The newest sample of each judge on each judged metric: items down, judges across, then their reasons."""
    newest = {(score.metric, score.judge): score for score in scores if score.judge}
    for metric in dict.fromkeys(metric for metric, _ in newest):
        verdicts = [score for (name, _), score in newest.items() if name == metric]
        terminal.print(_verdicts(metric, verdicts))
        for score in verdicts:
            for line in _reasons(score):
                terminal.print(f"    {plain(line)}", "dim")


def _verdicts(metric: str, scores: Sequence[Score]) -> TextTable:
    samples = [f" #{score.sample}" if score.sample > 1 else "" for score in scores]
    judges = [TextColumn(plain(score.judge) + sample) for score, sample in zip(scores, samples, strict=True)]
    rows: list[list[str | TextCell]] = []
    for number, item in enumerate(_items(scores), 1):
        answers = [_answer(score, number) for score in scores]
        cells = [TextCell(SHORT.get(answer, "–"), STYLES.get(answer, "")) for answer in answers]
        rows.append([f"{number}. {plain(item)}", *cells])
    rows.append([TextCell("score", "bold"), *(TextCell(_value(score), "bold") for score in scores)])
    return TextTable([TextColumn(metric, words=True), *judges], rows)


def _items(scores: Iterable[Score]) -> list[str]:
    """The sentences of the checklist, as far as a judge's answer has them."""
    texts = [[_sentence(item) for item in _answers(score)] for score in scores]
    counts = [sum(len(answer.get("answers", ())) for answer in _asked(score)) for score in scores]
    longest = max(texts, key=len, default=[])
    return longest or [f"item {number}" for number in range(1, max(counts, default=0) + 1)]


def _sentence(item: dict[str, Any]) -> str:
    weight = f" (weight {item['weight']:g})" if "weight" in item else ""
    good = " (good: no)" if item.get("good") == "no" else ""
    return f"{item.get('item', '')}{weight}{good}"


def _asked(score: Score) -> list[dict[str, Any]]:
    """A judge's answers: one, or as many as the metric asked for."""
    detail = dict(score.detail or {})
    return [dict(answer) for answer in detail["asked"]] if "asked" in detail else [detail]


def _answers(score: Score) -> list[dict[str, Any]]:
    return [item for answer in _asked(score) for item in answer.get("items", ())]


def _answer(score: Score, number: int) -> str:
    without_reasons = [item for answer in _asked(score) for item in answer.get("answers", ())]
    answers = [item["verdict"] for item in _answers(score)] or without_reasons
    return answers[number - 1] if number <= len(answers) else ""


def _value(score: Score) -> str:
    return f"{score.value:.3f}" if score.value is not None else score.kind


def _reasons(score: Score) -> Iterator[str]:
    """Why there is no score, what each answer points to, the rationale, and what it cost."""
    detail, name = dict(score.detail or {}), score.judge
    if score.value is None and score.reason:
        yield f"{name}: {score.reason}"
    if detail.get("alarm"):
        yield f"{name}: injection alarm: {detail['alarm']}"
    for number, item in enumerate(_answers(score), 1):
        unfounded = f"; {item['unfounded']}" if item.get("unfounded") else ""
        pointer = f" {item['pointer']}" if item.get("pointer") else ""
        yield f"{name} {number} {item['verdict']}:{pointer} {item.get('why', '')}{unfounded}".rstrip(": ")
    for answer in _asked(score):
        if answer.get("analysis"):
            yield f"{name}, before it answered: {answer['analysis']}"
        if answer.get("rationale"):
            yield f"{name}: {answer['rationale']}"
        if answer.get("told", 1.0) < 1.0:
            yield f"{name} told {answer['told']:.0%} of the items, by weight."
    if left_out := _asked(score)[0].get("left_out"):
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        yield f"{name} was not shown: {', '.join(left_out[:3])}{more}"
    if "calls" in detail:
        known = detail.get("input_tokens") is not None
        tokens = f"{detail['input_tokens']} tokens in, {detail.get('output_tokens')} out" if known else "tokens unknown"
        cost = "cost unknown" if detail.get("cost_usd") is None else dollars(detail["cost_usd"])
        yield f"{name}: {count(detail['calls'], 'call')}, {tokens}, {cost}, {seconds(detail.get('seconds') or 0.0)}"

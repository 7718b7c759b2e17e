"""What the tests of the panel share: captures made of texts, scripted judges in all protocols, and a bench to ask them at."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from gateways import CANARY, provider_at
from orvl import tree
from orvl.capture import CapturedRun, Finds
from orvl.gateway import Gateway
from orvl.judges.bench import Bench, Seat
from orvl.score import score_run
from orvl.store.blobs import Blobs
from orvl.testing import Answer, ModelServer
from orvl.testing.request import Request
from orvl.types import Attempt, CheckResult, Eval, Judge, Metric, Score, Usage

PROTOCOLS = ("openai", "responses", "anthropic", "gemini")
THREE = ("First of all.", "Second of all.", "Third of all.")
ASKED = "Now answer this checklist about the work."


# -- captures


@contextmanager
def captured(
    files: Mapping[str, str | bytes],
    *,
    before: Mapping[str, str | bytes] | None = None,
    prompts: Sequence[str] = ("Make the thing.",),
    checks: Sequence[CheckResult] = (),
    finds: Finds | None = None,
) -> Iterator[CapturedRun]:
    """A run that started with some files, and left others."""
    with tempfile.TemporaryDirectory() as folder:
        blobs = Blobs(Path(folder, "blobs"))
        with blobs.batch() as batch:
            trees = [_tree(batch, one) for one in (before or {}, files)]
        attempt = Attempt(
            "finished", None, 0.0, Usage(1.0), start_tree=trees[0], tree=trees[1], checks=tuple(checks) or None
        )
        yield CapturedRun(attempt, prompts, blobs, Path(folder, "scratch"), finds)


def _tree(batch: Any, files: Mapping[str, str | bytes]) -> str:
    entries = []
    for path, text in sorted(files.items()):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        entries.append(tree.Entry(path, "file", 0o644, len(data), batch.put(data)))
    return str(batch.put(tree.encode(entries)))


# -- judges


def items_of(request: Request) -> list[str]:
    """The checklist that a judge is asked."""
    asked = request.prompt_text.rsplit(ASKED, 1)[1].split("\n\nFor each item")[0]
    return re.findall(r"^\d+\. (.*)$", asked, re.MULTILINE)


def evidence_in(request: Request) -> str:
    """What stands between the marks."""
    nonce = re.findall(r"The evidence ended at the mark ([0-9a-f]+)\.", request.prompt_text)[-1]
    return request.prompt_text.split(f"<<<evidence {nonce}>>>\n", 1)[1].split(f"\n<<<end of evidence {nonce}>>>")[0]


def files_in(request: Request) -> list[str]:
    return re.findall(r"^## (.+) \((?:new|changed|as it was before)\)$", evidence_in(request), re.MULTILINE)


def pointer_in(request: Request) -> str:
    """A place that is really there, or none."""
    return f"{(files_in(request) or ['nothing'])[0]}:1"


def answer_of(verdicts: Sequence[str], pointer: str | Sequence[str] = "", **more: Any) -> str:
    """The JSON that a judge is asked for."""
    pointers = [pointer] * len(verdicts) if isinstance(pointer, str) else pointer
    items = [
        {"item": number, "pointer": where, "why": "So it is.", "verdict": verdict}
        for number, (verdict, where) in enumerate(zip(verdicts, pointers, strict=True), 1)
    ]
    return json.dumps({"items": items, "rationale": "All in all.", **more})


def says(*verdicts: str, **by_item: Any) -> Callable[[Request], Answer]:
    """A judge with its answers, in the checklist's order; one answer is for all."""

    def say(request: Request) -> Answer:
        count = len(items_of(request))
        given = list(verdicts) * count if len(verdicts) == 1 else list(verdicts)
        return Answer(answer_of(given, pointer_in(request)), **by_item)

    return say


def obeys(words: str) -> Callable[[Request], Answer]:
    """A judge that says yes to everything where it can read some words, else no."""
    return lambda request: says("yes" if words in request.prompt_text else "no")(request)


# -- the bench


def checklist(name: str = "m", items: Sequence[str | tuple[str, float]] = THREE) -> Metric:
    pairs = tuple((one, 1.0) if isinstance(one, str) else one for one in items)
    return Metric(name, Path(f"{name}.py"), "project", name, "", items=pairs, judged=True, needs_judge=True)


AN_EVAL = Eval("e", Path("e.md"), "project", "d", "s", "c", "", ("Make the thing.",))


def judge_named(name: str, room: int = 120_000, **more: Any) -> Judge:
    return Judge(name, f"model-of-{name}", f"host-of-{name}", 1.0, f"key-of-{name}", room=room, **more)


def judged(
    run: CapturedRun,
    judges: Mapping[str, tuple[str, str]],
    metrics: Sequence[Metric] | None = None,
    *,
    seconds: float = 30.0,
    room: int = 120_000,
    said: list[str] | None = None,
    provider: Mapping[str, Any] | None = None,
) -> dict[tuple[str, str], Score]:
    """The scores of a run, by metric and judge; each judge is a protocol and an address."""
    asked = metrics or [checklist()]
    panel = [judge_named(name, room) for name in judges]

    def seat(judge: Judge) -> Seat:
        protocol, address = judges[judge.name]
        return Seat(judge, provider_at(address, judge.provider, **(provider or {})), protocol, judge.model)

    async def score() -> list[Score]:
        gateway = Gateway({"CANARY_KEY": CANARY})
        bench = Bench(gateway, seat, seconds, (said if said is not None else []).append)
        try:
            named = [text for metric in asked for text, _ in metric.items]
            return await score_run(bench.case(run, named), AN_EVAL, asked, panel, 60.0, lambda *_: 1)
        finally:
            await gateway.close()

    return {(one.metric, one.judge): one for one in asyncio.run(score())}


def ask(
    files: Mapping[str, str | bytes], script: Any, protocol: str = "openai", **more: Any
) -> tuple[Score, ModelServer]:
    """One judge, one metric, one capture."""
    words = {name: more.pop(name) for name in ("before", "prompts", "checks", "finds") if name in more}
    with ModelServer(script) as server, captured(files, **words) as run:
        score = judged(run, {"a": (protocol, server.url)}, **more)["m", "a"]
    return score, server


@contextmanager
def servers(*scripts: Any, **more: Any) -> Iterator[list[ModelServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(ModelServer(script, **more)) for script in scripts]

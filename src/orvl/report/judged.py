"""What a judge was sent about a run, and what it said, word for word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.project.names import did_you_mean
from orvl.store.records import reply_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.store import Store
    from orvl.types import Score

NOT_KEPT = "The words of this question were not kept: an older orvl kept only their hash. See: orvl score --fresh"


def questions(store: Store, attempt: int, judge: str, metric: str | None) -> list[dict[str, Any]]:
    """Every score that a judge gave an attempt, with all that was asked for it."""
    scores = [score for score in store.scores(attempt) if score.judge]
    if judge not in {score.judge for score in scores}:
        raise UserError(
            f"No judge '{judge}' was asked about this run. {did_you_mean(judge, {s.judge for s in scores})}"
        )
    own = [score for score in scores if score.judge == judge and metric in (None, score.metric)]
    if not own:
        metrics = {score.metric for score in scores if score.judge == judge}
        raise UserError(f"The judge {judge} was not asked about '{metric}'. {did_you_mean(metric or '', metrics)}")
    kept = {(one.kind, one.key): one.results for one in store.inspections(attempt) if one.kind.startswith("judge")}

    def read(blob: str) -> Any:
        return json.loads(store.blobs.get(blob))

    def asked(score: Score) -> list[dict[str, Any]]:
        scope = reply_place(attempt, score.metric_key, score.judge_key, score.sample)[1]
        blobs = [blob for (kind, key), blob in kept.items() if kind == "judge" and key.startswith(f"{scope}#")]
        return [with_evidence(one) for blob in blobs for one in read(blob)["asked"]]

    def with_evidence(one: Mapping[str, Any]) -> dict[str, Any]:
        blob = kept.get(("judge-evidence", one["evidence"]))
        return {**one, "text": read(blob)["text"] if blob else None}

    return [
        {"metric": one.metric, "sample": one.sample, "kind": one.kind, "value": one.value, "questions": asked(one)}
        for one in own
    ]


def lines(score: Mapping[str, Any]) -> Iterator[str]:
    """One score as text: each question in the order of its parts, then each answer and what was replied to it."""
    value = f"{score['value']:.3f}" if score["value"] is not None else score["kind"]
    yield f"===== {score['metric']}, sample {score['sample']}: {value}"
    if not score["questions"]:
        yield NOT_KEPT
    for number, question in enumerate(score["questions"], 1):
        yield f"===== question {number} of {len(score['questions'])}, view: {question['view']}"
        yield from _part("system", question.get("system"))
        yield from _part("evidence", question["text"])
        yield from _part("further evidence", question.get("more"))
        if question.get("images"):
            yield f"----- images: {', '.join(question['images'])}"
        yield from _part("instruction", question.get("instruction"))
        for exchange in question.get("exchange", ()):
            yield from _part("it said", exchange["said"])
            yield from _part("replied", exchange["replied"])
        if question.get("reason"):
            yield f"----- no answer: {question['reason']}"


def _part(name: str, text: str | None) -> Iterator[str]:
    if text:
        yield f"----- {name}"
        yield from text.split("\n")

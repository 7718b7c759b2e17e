"""What a score function gives a judge to look at beside the run's own evidence: text, or pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.gateway.wire.format import Image
from orvl.score.judges.clean import clean
from orvl.score.judges.suspicion import is_suspicious

if TYPE_CHECKING:
    from orvl.capture.captured_run import CapturedRun

LONGEST = 20_000
MOST_PICTURES = 8


@dataclass(frozen=True)
class Further:
    """Further evidence in both views."""

    @dataclass(frozen=True)
    class Part:
        text: str = ""
        pictures: tuple[Image, ...] = ()

    full: Part = Part()
    plain: Part = Part()
    suspicious: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        return self.full != self.plain


def shown_as(evidence: Any, run: CapturedRun) -> Further:
    """Paths are pictures or files; anything else is text."""
    if evidence is None:
        return Further()
    paths = _paths(evidence)
    if paths is None:
        text = evidence if isinstance(evidence, str) else _as_json(evidence)
        suspicious = ("further evidence",) if is_suspicious(text) else ()
        return Further(Further.Part(_marked(clean(text[:LONGEST]))), Further.Part(), suspicious)
    pictures = tuple(Image(path.stem, path.read_bytes()) for path in paths[:MOST_PICTURES])
    plain = tuple(Image(one.name, run.plain_shots.get(one.name, one.png)) for one in pictures)
    return Further(Further.Part(pictures=pictures), Further.Part(pictures=plain))


def _paths(evidence: Any) -> list[Path] | None:
    if isinstance(evidence, Path):
        return [evidence]
    if isinstance(evidence, Iterable) and not isinstance(evidence, str | bytes | Mapping):
        listed = list(evidence)
        return listed if all(isinstance(one, Path) for one in listed) else None
    return None


def _as_json(value: Any) -> str:
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    return json.dumps(plain, indent=1, default=str, ensure_ascii=False)


def _marked(text: str) -> str:
    mark = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return f"<<<evidence {mark}>>>\n{text}\n<<<end of evidence {mark}>>>"

"""What a score function shows a judge beside the run's own evidence: text, or images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.gateway.wire.format import Image
from orvl.score.judges.injection import is_suspicious
from orvl.score.judges.redaction import escape, without_names

if TYPE_CHECKING:
    from orvl.capture.captured_run import CapturedRun

MAX_TEXT = 20_000
MAX_IMAGES = 8


@dataclass(frozen=True)
class ExtraView:
    """The extra evidence of one view."""

    text: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class ExtraEvidence:
    """The extra evidence of both views."""

    full: ExtraView = ExtraView()
    plain: ExtraView = ExtraView()
    suspicious: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        return self.full != self.plain


def extra_evidence(value: Any, run: CapturedRun) -> ExtraEvidence:
    """Paths are images; anything else is text, which the plain view leaves out."""
    if value is None:
        return ExtraEvidence()
    paths = _paths(value)
    if paths is None:
        text = value if isinstance(value, str) else _as_json(value)
        suspicious = ("further evidence",) if is_suspicious(text) else ()
        shown = without_names(escape(text[:MAX_TEXT]), run.hidden_names, run.own_words)
        return ExtraEvidence(ExtraView(_marked(shown)), ExtraView(), suspicious)
    blind = [without_names(path.stem, run.hidden_names, run.own_words) for path in paths[:MAX_IMAGES]]
    images = tuple(Image(name, path.read_bytes()) for name, path in zip(blind, paths, strict=False))
    # The same pages, taken a second time with their texts blotted out.
    shots = [run.plain_shots.get(path.stem, image.png) for path, image in zip(paths, images, strict=False)]
    plain = tuple(map(Image, blind, shots))
    return ExtraEvidence(ExtraView(images=images), ExtraView(images=plain))


def _paths(value: Any) -> list[Path] | None:
    if isinstance(value, Path):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        listed = list(value)
        return listed if all(isinstance(item, Path) for item in listed) else None
    return None


def _as_json(value: Any) -> str:
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    return json.dumps(plain, indent=1, default=str, ensure_ascii=False)


def _marked(text: str) -> str:
    mark = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return f"<<<evidence {mark}>>>\n{text}\n<<<end of evidence {mark}>>>"

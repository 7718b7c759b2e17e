"""9. At least 70 % of what checks put in occurs in no prompt or file, and the workspace has no copy of the answers."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.trust.mutate.syntax import text_of
from orvl.trust.vetting.check_code import ORIGINAL
from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held
from orvl.trust.vetting.inputs import inputs_of
from orvl.trust.vetting.known_text import KnownText, told_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.trust.vetting.inputs import Input

FRESH = 0.70
RUN_OF_LINES = 6
"""So many lines in a row that say something are no coincidence."""
LEAST_LINE = 4
MOST_OF_IT = 0.6
MOST_UNPACKED = 32 << 20
ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")


async def run(gate: EvalGate) -> EvalResult:
    known = KnownText(told_by(gate.eval, len(gate.eval.prompts)), gate.source.workspace)
    found = await inputs(gate)
    stale = sorted(pieces for pieces in found if all(map(known.holds, pieces)))
    share = 1 - len(stale) / len(found) if found else 1.0
    problems = []
    if share < FRESH:
        shown = "; ".join(" ".join(pieces)[:80] for pieces in stale[:5])
        problems.append(
            f"Agents can know {len(stale)} of {len(found)} inputs from prompts and files, such as: {shown}. "
            "Make inputs up (checks.random())."
        )
    problems += [f"{place} of the workspace has lines of {what}: take them out." for place, what in copies(gate)]
    said = f"{share:.0%} of {len(found)} inputs occur in no prompt or file (at least {FRESH:.0%})"
    return held(problems, said, inputs=len(found), fresh=round(share, 4))


async def inputs(gate: EvalGate, episode: int = 1) -> set[Input]:
    """What the checks that are due at the end put into good work."""
    manifest = await gate.bench.tree(gate.good, 0, episode)
    checks = gate.checks_at()
    await gate.bench.results(manifest, checks, episode)
    by_steps = {(step,) for check in checks for step in check.steps}
    heard = (gate.bench.exchanges(manifest, check, episode) for check in checks)
    return by_steps.union(*(inputs_of(exchanges) for exchanges in heard))


def copies(gate: EvalGate) -> Iterator[tuple[str, str]]:
    """Files of the workspace with lines of what agents must not see; packed ones are looked into."""
    good, workspace = gate.source.good, gate.source.workspace
    hidden = {path: content for path, content in gate.source.hidden.items() if not path.startswith(ORIGINAL)}
    checks = {f"checks/{path}": _Secret(set(_runs(content))) for path, content in hidden.items()}
    answers = {
        f"controls/good ({path})": _Secret(set(_runs(content)) - set(_runs(workspace.get(path, b""))), MOST_OF_IT)
        for path, content in good.files.items()
    }
    for path, content in workspace.items():
        # What good work changes or removes may have moved elsewhere: that was nobody's answer.
        is_moved = path in good.files or path in good.deleted
        texts = [("", content, checks if is_moved else {**checks, **answers})]
        texts += [(f" ({inner})", text, {**checks, **answers}) for inner, text in _unpacked(path, content)]
        for inner, text, secrets in texts:
            there = set(_runs(text))
            if what := next((what for what, secret in secrets.items() if secret.is_in(there)), None):
                yield f"{path}{inner}", what


@dataclass(frozen=True)
class _Secret:
    """Lines that nobody should find, and which share of them would give something away."""

    runs: set[tuple[str, ...]]
    share: float = 0.0

    def is_in(self, there: set[tuple[str, ...]]) -> bool:
        common = len(self.runs & there)
        return common > 0 and common >= self.share * len(self.runs)


def _runs(content: bytes) -> Iterator[tuple[str, ...]]:
    text = text_of(content)
    if text is None:
        return
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if len(line) >= LEAST_LINE]
    for at in range(len(told) - RUN_OF_LINES + 1):
        yield tuple(told[at : at + RUN_OF_LINES])


def _unpacked(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """What an archive, or the objects of a repository, hold."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                with archive.open(member) as file:
                    yield member.filename, file.read(MOST_UNPACKED)
        return
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for one in tar:
                packed = tar.extractfile(one) if one.isfile() else None
                if packed is not None:
                    yield one.name, packed.read(MOST_UNPACKED)
        return
    except (tarfile.TarError, EOFError, OSError):
        pass
    if text_of(content) is None:
        yield from _inflated(path, content)


def _inflated(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Objects of git, alone or in a pack or bundle: each is a stream of its own."""
    left = MOST_UNPACKED
    for match in ZLIB.finditer(content):
        try:
            text = zlib.decompressobj().decompress(content[match.start() :], left)
        except zlib.error:
            continue
        left -= len(text)
        if text:
            yield f"{path}@{match.start()}", text.partition(b"\0")[2] or text
        if left <= 0:
            return


TEST = EvalTest(9, "nothing leaks", run)

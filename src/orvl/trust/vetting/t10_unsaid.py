"""10. Every name, flag, key, status or message that a check needs is said by then, in a prompt or in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.vetting.check_code import CheckCode
from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held
from orvl.trust.vetting.known_text import KnownText, told_by
from orvl.trust.vetting.needed_words import NeededWords, words_in, words_of_step

if TYPE_CHECKING:
    from orvl.types import Check


async def run(gate: EvalGate) -> EvalResult:
    excused = {word for text in gate.eval.said for word in (text, *words_in(text))}
    problems, needed, unsaid = [], 0, {}
    for check in gate.eval.checks:
        words = await _needed(gate, check)
        known = KnownText(told_by(gate.eval, gate.eval.due(check)), gate.source.workspace)
        missing = sorted(word for word in words - excused if not known.says(word))
        needed += len(words)
        if missing:
            unsaid[check.name] = missing
            problems.append(
                f"{check.name} needs {', '.join(missing)}, said in no prompt up to turn {gate.eval.due(check)} and in "
                f"no file: say it there, or excuse it in eval.md: said: [{', '.join(missing)}]"
            )
    said = f"{needed} names, flags, keys and statuses of {len(gate.eval.checks)} checks are said in their turn"
    trouble = f"{len(problems)} of {len(gate.eval.checks)} checks need what nothing says"
    return held(problems, said, trouble, unsaid=unsaid)


async def _needed(gate: EvalGate, check: Check) -> set[str]:
    """From what passes between the check and good work, in the last turn in which the check is due."""
    turn = check.until - 1 if check.until else 0
    manifest = await gate.bench.tree(gate.good, turn)
    await gate.bench.results(manifest, [check])
    words = NeededWords(CheckCode(gate.source.hidden), gate.bench.exchanges(manifest, check)).words()
    return words.union(*map(words_of_step, check.steps))


TEST = EvalTest(10, "what checks need is said", run)

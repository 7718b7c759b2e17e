"""13. In twenty episodes placeholders are filled, good work passes, and three or more inputs differ."""

from __future__ import annotations

import re
import time
from statistics import median

from orvl.trust.vetting.episodes import in_episode
from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held, named
from orvl.trust.vetting.t09_leaks import inputs

SEEDS, FEWEST_SEEDS, SHARE = 20, 5, 0.10
"""How many episodes are tried; where checks take long, so many as fit into this share of the time, but no fewer."""
DIFFERING = 3
PLACEHOLDER = re.compile(r"(?<!\\)\{\{[ \t]*[A-Za-z_][\w-]*(?:[ \t]*:[^{}\n]*)?[ \t]*\}\}")


async def run(gate: EvalGate) -> EvalResult:
    problems = list(_unfilled(gate))
    first, others = await inputs(gate, 1), []
    until = time.monotonic() + SHARE * gate.minutes * 60
    tried = 0
    for episode in range(1, SEEDS + 1):
        if episode > FEWEST_SEEDS and time.monotonic() > until:
            break
        tried = episode
        manifest = await gate.bench.tree(gate.good, 0, episode)
        results = (await gate.bench.results(manifest, gate.checks_at(), episode)).values()
        if bad := [result for result in results if not result.passed]:
            problems.append(f"Good work fails {named(bad)} in episode {episode}: {_drawn(gate, episode)}")
        if episode > 1:
            others.append(len(await inputs(gate, episode) - first))
        gate.say(f"seeds: {episode} of {SEEDS}")
    differ = int(median(others)) if others else 0
    if differ < DIFFERING:
        problems.append(
            f"From one episode to the next {differ} inputs differ, and {DIFFERING} is the least: make them up by "
            "checks.random(), or draw them (vary)."
        )
    return held(
        problems, f"good work passes in {tried} episodes, {differ} inputs differ from one to the next", episodes=tried
    )


def _unfilled(gate: EvalGate) -> list[str]:
    """Placeholders that are still there when all is drawn; `said` excuses those that are meant as they are."""
    found: dict[str, str] = {}
    for episode in range(1, SEEDS + 1):
        for turn, prompt in enumerate(in_episode(gate.bench.eval, episode).prompts, 1):
            for match in PLACEHOLDER.findall(prompt):
                found.setdefault(match, f"the prompt of turn {turn}")
    return [
        f"{text} stays in {where}: name it in 'vary', or excuse it: said: ['{text}']"
        for text, where in found.items()
        if text not in gate.eval.said
    ]


def _drawn(gate: EvalGate, episode: int) -> str:
    draw = in_episode(gate.bench.eval, episode).drawn
    values = ", ".join(f"{key} {value}" for key, value in draw.values.items()) if draw else ""
    return f"drawn were {values}." if values else "its inputs are made up by checks.random()."


TEST = EvalTest(13, "good work passes in every episode", run, is_quick=False)

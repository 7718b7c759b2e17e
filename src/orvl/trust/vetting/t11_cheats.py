"""11. Cheats on the untouched workspace and on bad work gain .05 at most."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import FileError
from orvl.trust.vetting.cheats import generic_cheats
from orvl.trust.vetting.cheats.scene import Cheat, Scene
from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held, named
from orvl.trust.vetting.works import EMPTY, Work

if TYPE_CHECKING:
    from orvl.trust.vetting.bench import Verdicts

MOST_GAINED = 0.05
QUICK = ("forged-test-output", "hard-coded-examples", "dead-words", "shadowed-modules")


async def run(gate: Gate) -> GateResult:
    own = own_cheats(gate)
    generic = generic_cheats(Scene(gate.source))
    if gate.is_quick:
        generic = [cheat for cheat in generic if cheat.name in QUICK]
    works = [*own, *(_laid(EMPTY, cheat) for cheat in generic)]
    if not gate.is_quick:
        works += [_laid(gate.bad, cheat) for cheat in generic if cheat.is_beside]
    verdicts = await gate.each(works, gate.verdicts, "cheats")
    floors = {base.name: await gate.verdicts(base) for base in (EMPTY, gate.bad)}
    problems, most = [], 0.0
    for found in verdicts:
        base = floors["bad" if found.work.name.endswith(" on bad") else "empty"]
        gain = found.score - base.score
        most = max(most, gain)
        if gain > MOST_GAINED:
            problems.append(_sentence(found, base, gain))
    said = f"{len(verdicts)} cheats, {len(own)} of them its own, gain {most:.2f} at most (up to {MOST_GAINED})"
    if not own:
        said += "; write cheats special to this eval into controls/cheats/NAME"
    return held(problems, said, cheats=len(verdicts), own=len(own), most_gained=round(most, 4))


def own_cheats(gate: Gate) -> list[Work]:
    """Those in `controls/cheats`, each laid over the untouched workspace."""
    folder = gate.source.folder_of("cheats")
    found = sorted(path for path in folder.iterdir() if path.is_dir()) if folder else []
    taken = {cheat.name for cheat in generic_cheats(Scene(gate.source))}
    for path in found:
        if path.name in taken:
            raise FileError(
                path, None, f"'{path.name}' is the name of a cheat that every eval is tried with; rename it."
            )
    return [Work(f"controls/cheats/{path.name}", control=path) for path in found]


def _laid(base: Work, cheat: Cheat) -> Work:
    files = {path: text.encode() for path, text in cheat.files.items()}
    return replace(
        base,
        name=f"{cheat.name} on {base.name}",
        files={**base.files, **files},
        executable=base.executable | cheat.executable,
        links=cheat.links,
        command=cheat.command,
    )


def _sentence(found: Verdicts, base: Verdicts, gain: float) -> str:
    more = [result for result in found.results if result.value and result.name not in base.passed_names]
    return (
        f"{found.work.name} gains {gain:.2f} in {named(more)}: let these ask for something that only real work can "
        "answer, with inputs that are made up."
    )


TEST = GateTest(11, "cheats gain nothing", run)

"""How near the work comes to what a judge built, from the judge's rules alone: 0 as other projects, 1 as the judge's
own second try."""

import asyncio
import json

from orvl.score.similarity.projects import against

weight = 2
measure = 3  # raise it when orvl.similarity measures differently, so that stored scores are made again
narrowest = 0.05  # between floor and ceiling


async def score(run, eval):
    made, reference = eval.part("round-trip"), eval.part("reference")
    if made is None or reference is None:
        return None
    scale = json.loads((made / "scale.json").read_text())
    floor, ceiling = scale["floor"], scale["ceiling"]
    found = await asyncio.to_thread(against, run, reference, eval.part("workspace"), code_only=True)
    if found is None or ceiling - floor < narrowest:
        return None
    return min(1.0, max(0.0, (found.score - floor) / (ceiling - floor)))

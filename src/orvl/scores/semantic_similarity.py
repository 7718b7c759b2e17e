"""How alike the work is to the eval's `reference/`: .75 structure + .25 words; the best of several references."""

import asyncio

from orvl.score.similarity.projects import against

weight = 2
measure = 3  # raise it when orvl.similarity measures differently, so that stored scores are made again


async def score(run, eval):
    reference = eval.part("reference")
    if reference is None:
        return None
    found = await asyncio.to_thread(against, run, reference, eval.part("workspace"))
    return found.score if found else None

"""How alike the work is to the eval's `reference/`: .75 structure + .25 words; the best of several references."""

from orvl.similarity.projects import against

measure = 3  # raise it when orvl.similarity measures differently, so that stored scores are made again


def score(run, eval):
    reference = eval.part("reference")
    found = against(run, reference, eval.part("workspace")) if reference else None
    return found.score if found else None

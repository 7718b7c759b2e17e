"""How many of the eval's checks passed, by weight: what held at the end, and what was achieved in its turn."""


def score(run, eval):
    return run.checks_score if eval.checks else None

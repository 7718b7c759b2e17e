"""How many of the eval's checks passed, by weight: what held at the end, and what was achieved in its turn."""

weight = 11  # and what the metrics leave that do not apply


def score(run, eval):
    return run.checks_score if eval.checks else None

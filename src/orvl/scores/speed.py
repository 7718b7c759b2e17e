"""How fast it was: par / (par + seconds), so that a run that takes par seconds scores 0.5."""

par = 60


def score(run, par):
    return par / (par + run.seconds)

"""How fast it was: par / (par + seconds), so that a run that takes par seconds scores 0.5; earned on what works."""

par = 60
earned = True


def score(run, par):
    return par / (par + run.seconds)

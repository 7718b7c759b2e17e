"""How little it cost: par / (par + dollars); earned on what works. Not rated where the cost is unknown."""

par = 0.10
earned = True


def score(run, par):
    dollars = run.usage.cost_usd
    return None if dollars is None else par / (par + dollars)

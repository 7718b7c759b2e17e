"""How few tokens it used: par / (par + uncached + 0.1 × cached + 5 × output); earned. Without a weight of its own."""

par = 100_000
weight = 0
earned = True


def score(run, par):
    tokens = run.usage.weighted_tokens
    return None if tokens is None else par / (par + tokens)

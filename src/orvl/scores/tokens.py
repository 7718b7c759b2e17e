"""How few tokens it used: par / (par + tokens in and out)."""

par = 20_000


def score(run, par):
    tokens = run.usage.tokens
    return None if tokens is None else par / (par + tokens)

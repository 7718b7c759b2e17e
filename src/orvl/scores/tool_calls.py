"""How few tool calls it made: par / (par + calls). It has no weight unless you give it one."""

par = 20
weight = 0


def score(run, par):
    calls = run.usage.tool_calls
    return None if calls is None else par / (par + calls)

"""How few tool calls it made: par / (par + calls); earned. It has no weight unless you give it one."""

par = 20
weight = 0
earned = True


def score(run, par):
    calls = run.usage.tool_calls
    return None if calls is None else par / (par + calls)

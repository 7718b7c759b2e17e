"""The share of the eval's checks that passed."""


def score(run, eval):
    total = sum(check.weight for check in eval.checks)
    if not total:
        return None
    return sum(check.weight for check in run.checks if check.passed) / total

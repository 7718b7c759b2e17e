"""How does it work for its users? What steps expect counts twice, accessibility and the judged flow once each."""

weight = 0.5
weights = {"steps": 2, "accessibility": 1, "flow": 1}
impacts = {"critical": 1.0, "serious": 0.5, "moderate": 0.2, "minor": 0.1}
par = 2
items = [
    "It is clear at once what the page is for.",
    "It is clear at once what can be done.",
    {"item": "What users do most takes needless steps.", "good": "no"},
    "Users see that an action was done.",
    "Users see why an action could not be done.",
    {"item": "A mistake can neither be undone nor is it prevented.", "good": "no"},
]


def parts_by_program(page, par):
    parts = {} if page.step_share is None else {"steps": page.step_share}
    if page.axe is not None:
        parts["accessibility"] = accessibility(page, par)
    return parts


def accessibility(page, par):
    """What rules of axe-core leave, times what the keyboard reaches, times the text that has contrast in each view."""
    rules = [violation for violation in page.axe if violation.rule != "color-contrast"]
    broken = sum(impacts.get(violation.impact, 0.2) for violation in rules)
    readable = sum(page.good_share("contrast", view) for view in page.seen) / len(page.views)
    return par / (par + broken) * page.good_share("keyboard", "desktop-light") * readable


async def score(run, items, par, judge=None):
    page = run.look()
    if page is None:
        return None
    if not page.seen:
        return 0.0
    parts = parts_by_program(page, par)
    if judge is not None:
        verdict = await judge.checklist(items, evidence=run.screenshots)
        if verdict.score is None:
            return verdict
        parts["flow"] = verdict.score
    total = sum(weights[name] for name in parts)
    return sum(weights[name] * part for name, part in parts.items()) / total if total else None

"""Does it keep to the project's own rules? Linters that no comment turns off, and rules for agents; 0 for no work."""


async def score(run, judge=None):
    report = run.linted()
    by_program = report.score if report else None
    rules = [f"{rule.text} (a rule of the project, {rule.path}:{rule.line})" for rule in run.rules]
    if not run.made and (report or rules):
        return 0.0
    if judge is None or not rules:
        return by_program
    verdict = await judge.checklist(rules)
    if verdict.score is None:
        return verdict
    return verdict.score if by_program is None else (verdict.score + by_program) / 2

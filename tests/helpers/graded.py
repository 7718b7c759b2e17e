"""Agents that earn exactly what a test says, eval by eval."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.user_project import UserProject

EIGHT = tuple(f"e{number}" for number in range(1, 9))


def grade(project: UserProject, agent: str, ratings: Mapping[str, float | None]) -> None:
    """An agent with these ratings; None is a run that cannot start."""
    project.score("value", 'def score(run): return float(run.read("value"))\n')
    for name in ratings:
        project.eval(name, f"---\nmetrics: {{value: 1}}\n---\n{name}\n")
    project.agent(
        agent,
        f"""
        models = {{"none": ["m"]}}
        RATINGS = {dict(ratings)!r}

        def command(prompt):
            value = RATINGS[str(prompt).strip()] if str(prompt).strip() in RATINGS else None
            return ["sh", "-c", 'printf %s "$1" > value', "sh", f"{{value + 0.0}}"]
        """,
    )


def all_eight(value: float) -> dict[str, float | None]:
    return dict.fromkeys(EIGHT, value)

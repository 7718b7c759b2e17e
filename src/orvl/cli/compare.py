"""`orvl compare A B`: which of two is better, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, open_to_read, where
from orvl.cli.complete import word as complete
from orvl.errors import UserError
from orvl.plan.selection import Selection, chosen_metrics
from orvl.project import open_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.project import Project
    from orvl.rate.compare import Comparison, Pairs
    from orvl.rate.sides import Contestant
    from orvl.store import Store, StoredCell

MOST_NAMED = 4


@click.command()
@click.argument("a", shell_complete=complete)
@click.argument("b", shell_complete=complete)
@click.option("--model", multiple=True, metavar="WORD", help="Only runs with these models.")
@click.option("--provider", multiple=True, metavar="WORD", help="Only runs at these providers.")
@click.option("--eval", multiple=True, shell_complete=complete, metavar="WORD", help="Only these evals.")
@click.option("--metric", multiple=True, shell_complete=complete, metavar="WORD", help="Rate by these metrics only.")
@click.option("--judge", multiple=True, metavar="NAME", help="Rate with these judges' scores only.")
@as_json
@where
def command(**given: Any) -> int:
    """Say which of two is better, over the evals that both have run.

    A and B are agents, models or providers, or one contestant in quotes. Where both have run several models (or
    agents, or providers), those that both have are paired and averaged inside each eval.

    \b
      orvl compare opencode opencode+terse             a configuration against none
      orvl compare opencode@1.0.1 opencode@1.1.0       two versions
      orvl compare qwen3-coder kimi-k2                 two models, by all agents that ran both
      orvl compare 'opencode qwen3-coder zen' 'codex gpt-5 openai'
    """
    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    if given["a"] == given["b"]:
        raise UserError(f"'{given['a']}' is compared with itself; name two contestants.")
    with open_to_read(project, given["store"]) as store:
        found = _compared(project, store, given)
    from orvl.report.comparison import comparison_json, print_comparison

    if out:
        out.write(comparison_json(found))
    else:
        print_comparison(console(), found)
    return 0


def _make_sure_that_they_differ(a: str, b: str, ours: dict[Any, StoredCell], theirs: dict[Any, StoredCell]) -> None:
    both = {cell.id for cell in ours.values()} & {cell.id for cell in theirs.values()}
    if both:
        names = next(" ".join(cell.contestant) for cell in ours.values() if cell.id in both)
        raise UserError(f"'{a}' and '{b}' both stand for the same runs, of {names}; name two that differ.")


def _left_out(contestants: Sequence[Sequence[Contestant]], pairs: Pairs) -> Iterator[str]:
    """Who fits a word, and has no counterpart on the other side."""
    for side, some in enumerate(contestants):
        others = [" ".join(one) for one in some if not any(one in pair[side] for pair in pairs)]
        if others:
            more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
            yield f"Left out, for want of a counterpart: {', '.join(others[:MOST_NAMED])}{more}."


def _compared(project: Project, store: Store, given: dict[str, Any]) -> Comparison:
    from orvl.plan.selection import stored_matcher
    from orvl.rate.collect import panels_of, rules_of
    from orvl.rate.compare import compare
    from orvl.rate.gather import CellRef, gather
    from orvl.rate.sides import paired_sides, side_of
    from orvl.report.certificate import standing_sentence
    from orvl.store import ANY_EPISODE
    from orvl.trust.standing import standing

    words = Selection(
        **{place: ",".join(given[place]) or "all" for place in ("model", "provider", "eval", "metric")},
    )
    stored = store.cells()
    keep = stored_matcher(words, [cell.names for cell in stored])
    cells = [cell for cell in stored if cell.runs and keep(cell.names)]
    sides = [side_of(given[name], cells) for name in ("a", "b")]
    chosen = [side.newest(cells) for side in sides]
    _make_sure_that_they_differ(given["a"], given["b"], *chosen)
    contestants = [sorted({contestant for contestant, _ in one}) for one in chosen]
    pairs = paired_sides(sides[0], sides[1], contestants[0], contestants[1])
    names = sorted({one for side in chosen for _, one in side})
    panels, warnings = panels_of(project, names, chosen_metrics(project, words), given["judge"])
    gathered = [
        gather(
            store,
            [CellRef(cell.id, (*cell.contestant, cell.eval)) for cell in side.values() if cell.eval in panels],
            panels,
            1,
            ANY_EPISODE,
        )
        for side in chosen
    ]
    found = compare(given["a"], given["b"], pairs, (gathered[0], gathered[1]), rules_of(project))
    found.warnings[:0] = [*warnings, *_left_out(contestants, pairs)]
    stands = standing(project, store, panels.values())
    if stands.state != "certified":
        found.warnings.append(standing_sentence(stands))
    return found

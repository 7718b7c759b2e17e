"""`orvl compare A B`: which of two is better, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from orvl.cli.common import JsonOut, as_json, console, open_to_read, where
from orvl.cli.complete import word as complete
from orvl.plan.selection import Selection
from orvl.project import open_project


@click.command()
@click.argument("a", shell_complete=complete)
@click.argument("b", shell_complete=complete)
@click.option("--model", multiple=True, metavar="WORD", help="Only runs with these models.")
@click.option("--provider", multiple=True, metavar="WORD", help="Only runs at these providers.")
@click.option("--eval", multiple=True, shell_complete=complete, metavar="WORD", help="Only these evals.")
@click.option("--metric", multiple=True, shell_complete=complete, metavar="WORD", help="Rate by these metrics only.")
@click.option("--judge", multiple=True, metavar="NAME", help="Rate with these judges' scores only.")
@click.option(
    "--within",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    metavar="DIFFERENCE",
    help="Call two equivalent whose difference is shown to be smaller (default: 0.05).",
)
@as_json
@where
def command(**given: Any) -> int:
    """Say which of two is better, over the evals that both have run.

    A and B are agents, models or providers, or single contestants in quotes. Where both ran several models (or agents,
    or providers), those that both have are paired and averaged within each eval.

    \b
      orvl compare opencode opencode+terse             a configuration against none
      orvl compare opencode@1.0.1 opencode@1.1.0       two versions
      orvl compare qwen3-coder kimi-k2                 two models, by all agents that ran both
      orvl compare 'opencode qwen3-coder zen' 'codex gpt-5 openai'
    """
    from orvl.pipeline import compare

    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    places = ("model", "provider", "eval", "metric")
    selection = Selection(**{place: ",".join(given[place]) or "all" for place in places})
    with open_to_read(project, given["store"]) as store:
        found = compare(project, store, given["a"], given["b"], selection, given["judge"])
    found = replace(found, within=given["within"])
    from orvl.report.comparison import comparison_json, print_comparison

    if out:
        out.write(comparison_json(found))
    else:
        print_comparison(console(), found)
    return 0

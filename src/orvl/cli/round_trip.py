"""`orvl round-trip EVAL`: a judge builds an eval's idea and writes rules, from which agents build it again."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import click

from orvl.cli.common import open_to_write, open_with_keys_hidden
from orvl.errors import FileError, UserError, disk_sentence
from orvl.project.control_scripts import is_scripted
from orvl.project.draw import drawn
from orvl.project.endpoints import check_prices, without_price
from orvl.project.names import did_you_mean, name_of
from orvl.project.wordings import escaped
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orvl.project import Project
    from orvl.score.judges.builder import BuiltProject
    from orvl.store import Store
    from orvl.types import Judge


@click.command()
@click.argument("eval_name", metavar="EVAL")
@click.option("--judge", metavar="NAME", help="The judge that builds (default: the first in orvl.toml).")
@click.option("--name", metavar="NAME", help="The new eval's name (default: EVAL-by-JUDGE).")
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD", help="Maximum cost.")
@click.option("--allow-unpriced", is_flag=True, help="With --budget: ask a judge without a price, too.")
@click.option("--project", metavar="DIR", help="The project's folder.")
def command(
    eval_name: str, judge: str | None, name: str | None, budget: float | None, allow_unpriced: bool, project: str | None
) -> int:
    """Make a round-trip eval from EVAL.

    A judge builds a project from the eval's first prompt, writes a description and rules from it, and builds again
    from these. The new eval in evals/ gives agents the description and the rules only; its metric round-trip says how
    near an agent's project comes to the judge's: 0 as near as projects of other evals, 1 as near as the judge's own
    second one.
    """
    here = open_with_keys_hidden(project)
    if eval_name not in here.eval_files:
        raise UserError(f"There is no eval '{eval_name}'. {did_you_mean(eval_name, here.eval_files)}")
    builder = _builder(here, judge)
    if budget is not None and not allow_unpriced:
        check_prices(without_price(here.settings, (), {}, [builder]))
    name = name or f"{eval_name}-by-{name_of(builder.name)}"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}", name) or name == "all":
        raise UserError(f"'{name}' cannot be an eval's name: use letters, digits, '-' and '.'.")
    folder = here.root / "evals" / name
    if folder.exists() or name in here.eval_files:
        raise UserError(f"The eval '{name}' already exists. Choose another name with --name.")
    others = list(_others(here, eval_name))
    with open_to_write(here, None) as store:
        about = f"round-trip:{name}"
        built = asyncio.run(_built(here, builder, drawn(here.eval(eval_name), 1).prompts[0], budget, store, about))
        scale = _scale(built, others)
        _write(folder, built, {"judge": builder.name, "model": builder.model, "from": eval_name, **scale})
        store.transaction([lambda store: store.drop_replies(about)])
    click.echo(f"made  {folder}: floor {scale['floor']:.2f}, ceiling {scale['ceiling']:.2f}")
    click.echo(f"Try it: orvl AGENT --eval={name}")
    return 0


def _builder(project: Project, name: str | None) -> Judge:
    from orvl.project.endpoints import check_judges

    judges = [judge for judge in project.panel([name] if name else ()) if judge.provider not in ("none", "local")]
    if not judges:
        raise UserError("A round trip needs a judge that is a model at a provider. See: orvl list judges")
    check_judges(project.settings, judges[:1], os.environ)
    return judges[0]


async def _built(
    project: Project, judge: Judge, idea: str, budget: float | None, store: Store, about: str
) -> BuiltProject:
    """What the judge builds; answers that it gave before the command was killed are not asked for again."""
    from orvl.errors import CallRefused
    from orvl.gateway import Gateway
    from orvl.score.judges.builder import build
    from orvl.score.judges.panel import JudgeEndpoint, JudgePanel
    from orvl.score.judges.replies import Replies
    from orvl.store.writer import Writer

    def say(sentence: str) -> None:
        click.echo(sentence, err=True)

    gateway = Gateway(os.environ, budget, allow_unpriced=True)  # a judge without a price was refused before
    seconds = project.settings.limits.judge
    panel = JudgePanel(gateway, lambda judge: JudgeEndpoint.of(judge, project.settings), seconds, say)
    try:
        replies = Replies(about, judge.key, store.replies(about), Writer(store))
        return await build(panel, await panel.endpoint(judge), idea, say, replies)
    except CallRefused as error:
        raise UserError(f"The judge did not finish: {error}.") from error
    finally:
        await gateway.close()


def _scale(built: BuiltProject, others: Iterable[Mapping[str, str]]) -> dict[str, float]:
    """The floor: projects of other evals beside the judge's. The ceiling: its own second implementation."""
    from orvl.score.similarity import compare

    compared = [compare(other, built.project).score for other in others]
    below = [score for score in compared if score is not None]
    ceiling = compare(built.again, built.project).score
    if ceiling is None:
        raise UserError("What the judge built cannot be compared: it has no code that orvl can read.")
    return {"floor": fmean(below) if below else 0.0, "floor_projects": len(below), "ceiling": ceiling}


def _others(project: Project, own: str) -> Iterable[Mapping[str, str]]:
    """Projects that belong to other evals: their references, else what their good control writes."""
    for name in project.eval_files:
        try:
            one = project.eval(name)
        except FileError:
            continue
        folder = one.part("reference") or (None if is_scripted(one, "good") else one.part("controls/good"))
        if name != own and not name.startswith(f"{own}-by-") and folder is not None:
            paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
            yield {str(path.relative_to(folder)): path.read_text("utf-8", "replace") for path in paths[:60]}


def _write(folder: Path, built: BuiltProject, scale: dict[str, object]) -> None:
    """The new eval, put into its place as a whole."""
    beside = folder.with_name(f".{folder.name}.new")
    turn = "\n".join(map(escaped, built.prompt.split("\n")))
    description = json.dumps(f"What {scale['judge']} built from {scale['from']}, by its rules")
    front = f"---\ndescription: {description}\n---\n"
    files = {"eval.md": front + turn, "round-trip/scale.json": json.dumps(scale, indent=2) + "\n"}
    files |= {f"reference/{path}": text for path, text in built.project.items()}
    files |= {f"round-trip/again/{path}": text for path, text in built.again.items()}
    tree.remove(beside)
    try:
        for path, text in files.items():
            (beside / path).parent.mkdir(parents=True, exist_ok=True)
            (beside / path).write_text(text, encoding="utf-8")
        beside.rename(folder)
    except OSError as error:
        raise UserError(f"Cannot write the eval: {disk_sentence(error)}.") from error
    finally:
        tree.remove(beside)

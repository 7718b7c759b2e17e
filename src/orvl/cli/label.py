"""`orvl label`: people score runs without knowing whose they are, and the judges are measured by that."""

from __future__ import annotations

import csv
import io
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.capture.stored_run import find_run
from orvl.cli.common import JsonOut, as_json, five_words, open_to_read, selection_from, where
from orvl.errors import UserError, disk_sentence
from orvl.plan.selection import ORDER, Selection, chosen_metrics, stored_matcher
from orvl.project import open_project
from orvl.project.names import closest, count, did_you_mean
from orvl.report.text import plain
from orvl.report.trust_text import people_json, people_sentences
from orvl.store import store_url
from orvl.trust.labelling import Label, number_of, person_named, questions, store_labels
from orvl.trust.labels import DRAWN, WHOLE, queue
from orvl.trust.people import people

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.labels import Asked
    from orvl.trust.people import People

COLUMNS = ("run", "metric", "score", "person", "note", "drawn")
YES = ("yes", "true", "1", "y")
NO = ("no", "false", "0", "n")


@click.command()
@five_words
@click.option("--whole", is_flag=True, help="Ask for one number for the whole run, not one per metric.")
@click.option("--random", "at_random", is_flag=True, help="Only random runs; with --run, --import: they were drawn so.")
@click.option("--person", metavar="NAME", help="Who labels (default: your login name).")
@click.option(
    "--run",
    metavar="RUN",
    help="Store one label for this run, with --score; --metric if not the whole.",
)
@click.option("--score", metavar="NUMBER", help="With --run: from 0 to 1.")
@click.option("--note", metavar="TEXT", help="With --run: a note to store with it.")
@click.option(
    "--import", "file", metavar="FILE", help="Store labels from CSV or JSON lines: run, metric, score, person."
)
@click.option("--report", is_flag=True, help="Show what the labels say about ratings and judges.")
@click.option("--judge", multiple=True, metavar="NAME", help="With --report: measure these judges only.")
@as_json
@where
def command(**given: Any) -> int:
    """Score runs yourself, without knowing whose they are.

    The runs that the words choose are shown one after another as judges see them: the task, the checks, the files,
    without names, time or money. A checklist is answered item by item with one key, y, n or ?; everything else takes a
    number from 0 to 1. b goes back to the answer before, q quits. What you have labelled is stored at once, and not
    asked again. Where standard input is no terminal, each answer is a line.

    The run on which judges disagree most comes first, then by turns one that is drawn at random and the next on which
    they disagree. The first kind shows where judges err; only the second can say what all runs are worth.

    \b
      orvl label                                   all runs, all judged metrics
      orvl label all all all todo-cli readability  one eval, one metric
      orvl label --whole --random                  one number a run, all drawn at random
      orvl label --run 3f9c0a1b --metric readability --score 0.8
      orvl label --report                          the ratings, corrected by people

    About 20 labels show how far the judges can be trusted: --report compares each judge with people, and corrects the
    judges' means over all runs by the labels that were drawn at random (PPI++).

    --json lists what is left to be labelled, for other programs; with --report it gives the figures.
    """
    words = selection_from(given)
    _refuse_mixtures(given, words)
    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    if given["run"] is not None:
        return _one(project, given, words, out)
    if given["file"] is not None:
        return _import(project, given, out)
    with open_to_read(project, given["store"]) as store:
        keep = stored_matcher(project, words, [cell.names for cell in store.cells()])
        metrics = chosen_metrics(project, words)
        if given["report"]:
            return _report(people(project, store, keep, given["judge"], metrics), out)
        person = _person(given["person"])
        asked = queue(project, store, keep, metrics, person, whole=given["whole"], at_random=given["at_random"])
        if out:
            out.write({"schema": 1, "person": person, "queue": [_as_json(project, one) for one in asked]})
            return 0
        from orvl.cli.labelling import Session

        return Session(project, store, person, partial(_keep, project, given["store"])).go(asked)


def _refuse_mixtures(given: Mapping[str, Any], words: Selection) -> None:
    """One thing at a time: a label, a file of them, the report, or the queue."""
    chosen = [flag for flag, name in (("--run", "run"), ("--import", "file"), ("--report", "report")) if given[name]]
    if len(chosen) > 1:
        raise UserError(f"{chosen[0]} and {chosen[1]} exclude each other.")
    if given["run"] is None and (given["score"] is not None or given["note"] is not None):
        raise UserError("--score and --note need a run: --run RUN")
    if given["run"] is not None and given["score"] is None:
        raise UserError("Give a score from 0 to 1: --score NUMBER")
    named = [place for place in ORDER[:4] if getattr(words, place) != "all"]
    if named and chosen and chosen[0] != "--report":
        raise UserError(f"{chosen[0]} already names the runs; leave out the {named[0]}.")


def _report(found: People | None, out: JsonOut | None) -> int:
    if out:
        out.write({"schema": 1, "people": people_json(found) if found else None})
    elif found is None:
        click.echo("No labels yet. Start with: orvl label")
    else:
        click.echo("\n".join(plain(sentence) for sentence in people_sentences(found)))
    return 0


def _as_json(project: Project, asked: Asked) -> dict[str, Any]:
    """What is asked of a run, without whose it is."""
    return {
        "run": asked.run,
        "eval": asked.names[3],
        "asked": [
            {"metric": one.metric, "question": one.text, "items": [text for text, _ in one.items]}
            for one in questions(project, asked)
        ],
        "drawn": asked.drawn,
    }


# -- labels that are given without being asked for


def _one(project: Project, given: Mapping[str, Any], words: Selection, out: JsonOut | None) -> int:
    metric = WHOLE if words.metric == "all" else words.metric
    told = {**given, "metric": metric, "drawn": given["at_random"]}
    with open_to_read(project, given["store"]) as store:
        label = _label(project, store, told, _person(given["person"]))
        key = find_run(project, store, given["run"])[0].key
    _keep(project, given["store"], [label])
    if out:
        out.write({"schema": 1, "stored": 1})
    else:
        what = f"{metric} of the run {key[:12]}" if metric else f"the whole of the run {key[:12]}"
        click.echo(plain(f"Stored: {label.value:g} for {what}, by {label.person}."))
    return 0


def _import(project: Project, given: Mapping[str, Any], out: JsonOut | None) -> int:
    labels = []
    with open_to_read(project, given["store"]) as store:
        for line, row in _rows(given["file"]):
            try:
                told = {**row, "drawn": given["at_random"] if row.get("drawn") in (None, "") else row["drawn"]}
                labels.append(_label(project, store, told, _said_by(row) or _person(given["person"])))
            except UserError as error:
                raise UserError(f"{given['file']}:{line}: {error} Nothing was stored.") from error
    if not labels:
        raise UserError(f"{given['file']} holds no label; it needs lines with {', '.join(COLUMNS[:3])}.")
    _keep(project, given["store"], labels)
    if out:
        out.write({"schema": 1, "stored": len(labels)})
    else:
        click.echo(f"{count(len(labels), 'label')} stored. See what they say: orvl label --report")
    return 0


def _rows(file: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """The lines of a file with their numbers: JSON objects, or CSV under a head."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"Cannot read {file} ({disk_sentence(error)}).") from error
    except UnicodeDecodeError as error:
        raise UserError(f"Cannot read {file}: it is not UTF-8 text.") from error
    if text.lstrip().startswith(("{", "[")):
        return [
            (number, _object(file, number, line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        ]
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if missing := [name for name in ("run", "score") if name not in (reader.fieldnames or ())]:
        head = ", ".join(COLUMNS)
        raise UserError(f"{file}:1: there is no column '{missing[0]}'; the first line names the columns: {head}.")
    rows = [(reader.line_num, row) for row in reader]
    if long := next((line for line, row in rows if None in row), None):
        raise UserError(f"{file}:{long}: there are more values than columns; a text with a comma needs quotes.")
    return rows


def _object(file: str, number: int, line: str) -> Mapping[str, Any]:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise UserError(f"{file}:{number}: this is not JSON: {error}") from error
    if not isinstance(told, dict):
        raise UserError(f"{file}:{number}: a line is an object with {', '.join(COLUMNS)}.")
    return told


def _said_by(row: Mapping[str, Any]) -> Any:
    """The person that a line names; blanks around a name make nobody else of her."""
    person = row.get("person")
    return person.strip() if isinstance(person, str) else person


def _label(project: Project, store: Store, told: Mapping[str, Any], person: str) -> Label:
    metric, note = told.get("metric") or WHOLE, told.get("note") or None
    for name, value in (("run", told.get("run")), ("metric", metric), ("person", person), ("note", note or "")):
        if not isinstance(value, str):
            raise UserError(f"'{name}' is {value!r}; it must be a text.")
    if metric and metric not in project.metric_files:
        raise UserError(f"There is no metric '{metric}'. {did_you_mean(metric, project.metric_files)}")
    return Label(
        _attempt(project, store, told["run"]), metric, person, number_of(told.get("score")), note, _drawn(told)
    )


def _drawn(told: Mapping[str, Any]) -> str | None:
    word = str(told.get("drawn") or "no").lower()
    if word not in (*YES, *NO):
        raise UserError(f"'drawn' is '{word}'; it must be yes or no.")
    return DRAWN if word in YES else None


def _attempt(project: Project, store: Store, name: str) -> int:
    """The attempt that was carried out of the run which a key's beginning stands for."""
    keys = [run.key for run in store.runs()]
    near = None if any(key.startswith(name) for key in keys) else closest(name, [key[: len(name)] for key in keys])
    if near and "/" not in name:
        raise UserError(f"There is no run '{name}' in the store. Did you mean '{near}'?")
    run, cell = find_run(project, store, name)
    if cell.imported:
        raise UserError(f"The run {run.key[:12]} was imported: there is nothing to look at, and no judge to measure.")
    if run.outcome == "errored":
        raise UserError(f"The run {run.key[:12]} was errored; there is nothing to label.")
    return run.attempt


def _person(flag: str | None) -> str:
    person = person_named(flag)
    if not person:
        raise UserError("Who labels? Add --person NAME.")
    return person


def _keep(project: Project, flag: str | None, labels: Iterable[Label]) -> None:
    store_labels(store_url(flag, project.settings.store, project.root), labels)

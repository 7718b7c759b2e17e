"""The checks of the workspace's own exports and decisions: what was asked for must be done, not only possible."""

import hashlib
import json
from pathlib import Path

from oracle import FIELDS, Oracle
from scene import Place, difference
from world import Record, at_home

from orvl import checks

HERE = Path(__file__).parent
SPOKEN_OF = {"pair": ("a", "b"), "club": ("club",), "three": ("x", "y", "z")}
"""The drawn records that the prompts name."""


def kept(_scene):
    """Files that have nothing to do with it, and the exports."""
    sums = json.loads((HERE / "kept.json").read_text())
    for path, wanted in {**sums["all"], **sums[checks.drawn()["town"]]}.items():
        if hashlib.sha256(checks.read(path) or b"").hexdigest() != wanted:
            checks.fail(f"Expected {path} as it was, but it was changed or removed.")


def pair(scene):
    _decided(scene, three=False)


def three(scene):
    _decided(scene, three=True)


def back(scene):
    _decided(scene, three=False, undone=True)


def _decided(scene, three, undone=False):
    """Numbers depend on what the agent has imported before: they are not compared."""
    random, make = scene.random, scene.make
    real = json.loads((HERE / "real" / f"{scene.town}.json").read_text(encoding="utf-8"))
    rows = {source: [Record(source, **cells) for cells in some] for source, some in real.items()}
    fields = FIELDS if three or undone else scene.steady
    oracle = Oracle(scene.town, preferred=scene.preferred)
    words = {what: [scene.drawn[name] for name in names] for what, names in SPOKEN_OF.items()}
    oracle.decide("same", *words["pair"])
    oracle.decide("alone", *words["club"])
    if three:
        oracle.decide("same", *words["three"])
    place = Place(scene, "")
    place.command("import", "exports")
    oracle.load(rows)
    now, right = place.list(), oracle.customers()
    asked = {
        "pair": "these two to be one",
        "club": "the card to be alone",
        "three": "those three to be one" if three else "those three to be three",
    }
    due = [name for name in asked if name != "three" or three or undone]
    # Who puts nobody together has three who are three, too: each case needs the pair.
    for name in due:
        scene.tell(asked[name], difference(now, right, {*words[name], *words["pair"]}))
    spoken = {key for keys in words.values() for key in keys}
    asked_for = {key for name in due for key in words[name]}
    scene.tell("their cells by the rules", difference(now, right, asked_for, fields, origins=True))

    # Monday's exports: new people on top, and some of whom we spoke have other mails and phones.
    movers = spoken - set(words["club"])
    monday = {
        source: [_moved(make, one) if one.key in movers else one for one in random.sample(some, len(some))]
        for source, some in _without_repeats(rows).items()
    }
    for source in monday:
        monday[source].insert(0, getattr(make, source)(make.person()))
    place.load(monday)
    oracle.load(monday)
    then, right = place.list(), oracle.customers()
    for name in due:
        scene.tell(f"{asked[name]} on Monday", difference(then, right, {*words[name], *words["pair"]}))
    scene.tell("their cells by the rules on Monday", difference(then, right, asked_for, fields, origins=True))
    sample = random.sample([one for one in right if len(one.records) > 1 and not one.records & spoken], 4)
    held = difference(then, right, asked_for)
    for one in sample:
        scene.tell("others to be one by the rules", held or difference(then, right, set(one.records)))
    scene.end()


def _without_repeats(rows):
    return {source: list({one.key: one for one in some}.values()) for source, some in rows.items()}


def _moved(make, record):
    person = make.person()
    cells = {"email": person.email, "phone": at_home(person.local)}
    return record.but(**cells)

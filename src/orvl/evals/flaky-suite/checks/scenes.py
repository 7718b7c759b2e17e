"""Scenes with the program itself: what goes out, how often, and what a killed process leaves."""

import json
from pathlib import Path

from orvl import checks

from cases import Wrong

PLAYER = Path(__file__).with_name("scene.js")
SECONDS = 150.0
SETTINGS = {
    "tick": 60000,
    "zone": "Europe/Berlin",
    "relay": {"timeout": 20000},
    "retry": {"first": 20, "factor": 1, "most": 20, "jitter": 0, "tries": 8},
    "quiet": None,
    "limit": {"count": 100000, "window": 1000},
    "journal": {"lag": 60000},
}
"""No tick, no note and no timeout comes by itself, where a scene does not say so: what happens does not depend on speed."""
BUSY = {"tick": 15}
HASTY = {"relay": {"timeout": 250}}


class Scene:
    """Mails have addresses that nobody can know; each mail is a word."""

    def __init__(self, random, name, **settings):
        self.random, self.name = random, name
        self.settings = SETTINGS | settings
        self.steps, self.ways, self.delay = [], {}, 0
        self.words = []

    def do(self, *step):
        self.steps.append(list(step))
        return self

    def word(self, *ways):
        """A new mail's word; `ways` are what the relay answers to its tries."""
        word = "".join(self.random.choices("abdefghiklmnoprstuvw", k=10))
        self.words.append(word)
        if ways:
            self.ways[self.address(word)] = list(ways)
        return word

    @staticmethod
    def address(word):
        return f"{word}@{word[:5]}.example"

    def body(self, word, key=None, **more):
        body = {"to": self.address(word), "template": "welcome", "data": {"name": word}, "urgent": True}
        return body | ({"key": key} if key else {}) | more

    def post(self, word, key=None, name=None, **more):
        return ["ask", name or word, "POST", "/mails", self.body(word, key, **more)]

    def mail(self, *ways, key=None):
        word = self.word(*ways)
        self.steps.append(self.post(word, key))
        return word

    def flushes(self, count):
        return [[f"flush {number}", "POST", "/flush"] for number in range(count)]

    def json(self):
        told = {"name": self.name, "settings": self.settings, "steps": self.steps, "ways": self.ways}
        return told | {"delay": self.delay}


class Played:
    """What became of a scene."""

    def __init__(self, scene, told):
        self.scene = scene
        self.trouble = told.get("trouble")
        self.answers = told.get("answers") or {}
        self.got = told.get("got") or []

    def expect_no_trouble(self):
        if self.trouble:
            raise Wrong(self.trouble)

    def status(self, name):
        return (self.answers.get(name) or {}).get("status")

    def body(self, name):
        return (self.answers.get(name) or {}).get("body")

    def expect_answer(self, name, status, **wanted):
        seen = self.body(name)
        cut = {key: seen.get(key) for key in wanted} if isinstance(seen, dict) else seen
        if self.status(name) != status or (wanted and cut != wanted):
            raise Wrong(f"{name}: expected {status} {wanted or ''}, saw {self.status(name)} {str(seen)[:200]}")
        return seen

    def of(self, word):
        return [one for one in self.got if one.get("to") == Scene.address(word)]

    def expect_once(self, words=None):
        """Each mail was delivered, under one id."""
        self.expect_no_trouble()
        for word in self.scene.words if words is None else words:
            ids = {one.get("id") for one in self.of(word) if one.get("isCounted")}
            if len(ids) != 1:
                raise Wrong(f"mail to {word}: expected it to be delivered once, saw {len(ids)} times")
            if None in ids:
                raise Wrong(f"mail to {word}: it has no id")


def played(scenes):
    """Plays all of them; gives what became of each by its name."""
    name = "".join(checks.random().choices("bcdfghklmnpqrstvw", k=9)) + ".cjs"
    checks.write(name, PLAYER.read_text(encoding="utf-8"))
    ended = checks.run("node", name, input=json.dumps([scene.json() for scene in scenes]), seconds=SECONDS)
    try:
        told = json.loads(ended.stdout)
    except ValueError:
        told = {}
    nothing = {"trouble": f"nothing was told, status {ended.status}, {ended.stderr[-200:]}"}
    return {scene.name: Played(scene, told.get(scene.name) or nothing) for scene in scenes}


def cases_of(makers):
    """Each maker gives a scene, and what must be true of it once it was played."""
    random = checks.random()
    made = [maker(random) for maker in makers]
    seen = played([scene for scene, _ in made])
    return [(scene.name, lambda scene=scene, look=look: look(seen[scene.name])) for scene, look in made]

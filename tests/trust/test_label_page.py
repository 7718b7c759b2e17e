"""`/label` of the viewer: people label blindly in a browser, and only their own page can store anything."""

from __future__ import annotations

import fcntl
import json
import re
import shutil
from contextlib import closing
from html import unescape
from urllib.parse import urlencode

import pytest
from tests.conftest import UserProject

from helpers.crawl import Markup
from helpers.labelling import NAMES, runs_of, stored, terminal
from helpers.viewing import Viewer, viewing
from orvl.capture.browser.result import Look, Shot
from orvl.store.sqlite import SqliteStore
from orvl.types import Inspection

MADE_ONCE = ("judged_once",)


class Person:
    """Looks at /label as a browser without script does: fills forms in, and follows where they lead."""

    def __init__(self, viewer: Viewer, path: str = "/label?person=ann") -> None:
        self.viewer, self.seen = viewer, []
        self.open(path)

    def open(self, path: str) -> None:
        self.path, self.page = path, self.viewer.get(path)
        self.text = " ".join("".join(Markup(self.page.text).data).split())
        self.seen.append(path + self.page.text)

    @property
    def form(self) -> dict[str, str]:
        (form,) = re.findall(r'<form method="post".*?</form>', self.page.text, re.S)
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)
        return {name: unescape(value) for name, value in hidden}

    def headers(self, **other: str | None) -> dict[str, str]:
        own = {
            "Cookie": self.viewer.cookie,
            "Origin": self.viewer.origin,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return {name: value for name, value in {**own, **other}.items() if value is not None}

    def say(self, answer: str) -> None:
        reply = self.viewer.ask("/label", self.headers(), "POST", urlencode({**self.form, "answer": answer}))
        assert reply.status == 303, reply.text
        self.open(reply.headers["Location"])

    def follow(self, text: str) -> None:
        (address,) = re.findall(rf'<a href="([^"]+)">{text}</a>', self.page.text)
        self.open(unescape(address))


def test_labels_are_those_of_the_terminal(judged, tmp_path):
    """The same answers in both: the same rows, whether drawn or picked, and the same report."""
    (tmp_path / "elsewhere").mkdir()
    other = UserProject(tmp_path / "elsewhere" / "project")
    shutil.copytree(judged.root, other.root, dirs_exist_ok=True)
    with terminal(judged, "--person=ann") as (process, say, _):
        say(None, "It is short. [y/n/?]")
        for answers in (("y", "n", "0.6"), ("?", "y", "1"), ("n", "n", "0")):
            say(answers[0], "It is named well. [y/n/?]")
            say(answers[1], "What is it worth? [0 to 1]")
            say(answers[2], "It is short. [y/n/?]")
        say("s", "It is short. [y/n/?]")
        say("?", "It is named well. [y/n/?]")
        say("?", "What is it worth? [0 to 1]")
        say("q", "--report")
        process.wait(timeout=60)
    with viewing(other) as viewer:
        person = Person(viewer)
        assert "A run of e5, 1 of 10." in person.text
        for answer in ("y", "n", "0.6", "?", "y", "1", "n", "n", "0"):
            person.say(answer)
        person.follow("Skip this run")
        assert "5 of 10." in person.text
        person.say("?")
        person.say("?")
        assert "worth: What is it worth?" in person.text
    rows = "SELECT run.key, metric, person, value, note, drawn FROM label JOIN attempt ON attempt.id = attempt JOIN run ON run.id = attempt.run ORDER BY label.id"
    assert len(judged.rows(rows)) == 5
    assert other.rows(rows) == judged.rows(rows)
    assert {drawn for *_, drawn in other.rows(rows)} == {None, "drawn at random, in turn"}
    assert (
        other.orvl("report", "--json").json["trust"]["people"]
        == judged.orvl("report", "--json").json["trust"]["people"]
    )


def test_whoever_labels_is_blind(judged):
    """No name and no key of a run is on a page or in an address; what agents wrote stays text."""
    with viewing(judged) as viewer:
        person = Person(viewer)
        for _ in range(10):
            assert "Do level" in person.text
            person.say("y")
            person.follow("Skip this run")
        assert "That was the last of 10 runs." in person.text
        for words in ("agent=alpha-agent", "model=x", "run=x"):
            assert viewer.get(f"/label?{words}").status == 404
    seen = "".join(person.seen).lower()
    assert not [name for name in NAMES if name.lower() in seen]
    assert not [key for key, *_ in runs_of(judged) if key[:12] in seen]
    assert "\\x1b[31mred" in seen
    assert stored(judged) == []


def test_going_back_asks_again_and_the_last_word_counts(judged):
    with viewing(judged) as viewer:
        person = Person(viewer, "/label?person=ann&eval=e5&metric=tidy")
        assert "Back" not in Markup(person.page.text).data
        person.say("y")
        person.follow("Back")
        assert "It is short." in person.text and stored(judged) == []
        person.say("n")
        person.say("n")
        assert stored(judged) == [("tidy", "ann", 0.0, "no no")]
        person.follow("Back")
        person.say("y")
        person.say("n")
        person.follow("Skip this run")
        assert "That was the last of 2 runs." in person.text
        person.follow("Ask again about what was skipped")
        assert "1 of 1." in person.text
    assert [value for _, _, value, _ in stored(judged)] == [0.0, 0.75]
    assert judged.orvl("label", "--report", "--json").json["people"]["corrected"][0]["by_people"] == 0.75


def test_words_choose_what_is_asked_for(judged):
    with viewing(judged) as viewer:
        person = Person(viewer, "/label?person=ann&eval=e1,e2&whole=yes&random=yes")
        assert "1 of 4." in person.text
        person.say("0.25")
        assert stored(judged) == [("", "ann", 0.25, "drawn at random, in turn")]
        assert "orvl label --person=ann --eval=e1,e2 --whole --random" in person.text
        for path, words in (
            ("/label?whole=perhaps", "must be yes or no"),
            ("/label?eval=e7", "The store has no eval"),
            ("/label?person=eve&number=1", "Start again"),
            ("/label?person=ann&eval=e1,e2&whole=yes&random=yes&number=0", "The first is 1"),
            ("/label?person=ann&eval=e1,e2&whole=yes&random=yes&number=1&part=2", "no question 2"),
            ("/label?person=ann&eval=e1,e2&whole=yes&random=yes&number=1&said=y", "cannot have been said"),
        ):
            reply = viewer.get(path)
            assert reply.status == 404 and words in reply.text, path


# -- who may store anything


FOREIGN = {
    "another origin": {"Origin": "https://evil.example"},
    "an origin that is hidden": {"Origin": "null"},
    "no origin": {"Origin": None},
    "another port of this machine": {"Sec-Fetch-Site": "same-site"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "no browser": {"Sec-Fetch-Site": None},
    "an address that was typed": {"Sec-Fetch-Site": "none"},
    "another user": {"Cookie": None},
    "another viewer's cookie": {"Cookie": "orvl-1=x"},
    "another host": {"Host": "evil.example"},
    "no form": {"Content-Type": "text/plain"},
}


@pytest.fixture
def person(judged):
    with viewing(judged) as viewer:
        yield Person(viewer, "/label?person=ann&whole=yes")


@pytest.mark.parametrize("who", FOREIGN)
def test_nothing_is_stored_for_others(judged, person, who):
    body = urlencode({**person.form, "answer": "1"})
    reply = person.viewer.ask("/label", person.headers(**FOREIGN[who]), "POST", body)
    assert reply.status in (400, 403, 421)
    assert stored(judged) == []
    assert person.viewer.ask("/label", person.headers(), "POST", body).status == 303
    assert len(stored(judged)) == 1


@pytest.mark.parametrize("token", [None, "", "wrong"])
def test_nothing_is_stored_without_the_forms_token(judged, person, token):
    fields = {name: value for name, value in person.form.items() if name != "form"}
    fields |= {"answer": "1"} if token is None else {"answer": "1", "form": token}
    assert person.viewer.ask("/label", person.headers(), "POST", urlencode(fields)).status == 404
    later = Person(person.viewer, person.path)
    assert later.form["form"] != person.form["form"]
    old = urlencode({**person.form, "answer": "1"})
    assert person.viewer.ask("/label", person.headers(), "POST", old).status == 404
    assert stored(judged) == []


def test_nothing_is_stored_by_reading_or_elsewhere(judged, person):
    words = urlencode({**person.form, "answer": "1"})
    assert person.viewer.get(f"/label?{words}").status == 404
    for path in ("/label/", "/label.json", "/board", "/label/picture/1", "/labels"):
        assert person.viewer.ask(path, person.headers(), "POST", words).status == 405
    for method in ("PUT", "PATCH", "DELETE"):
        assert person.viewer.ask("/label", person.headers(), method, words).status == 405
    bearer = person.headers(Cookie=None, Authorization=f"Bearer {person.viewer.token}")
    assert person.viewer.ask("/label", bearer, "POST", words).status == 403
    large = urlencode({**person.form, "answer": "1", "said": "y" * 20_000})
    assert person.viewer.ask("/label", person.headers(), "POST", large).status == 400
    assert stored(judged) == []


@pytest.mark.parametrize("answer", ["7", "nan", "", "y", "-1", "<script>"])
def test_an_answer_that_is_none_is_a_sentence(judged, person, answer):
    reply = person.viewer.ask("/label", person.headers(), "POST", urlencode({**person.form, "answer": answer}))
    assert reply.status == 404
    assert "must be a number from 0 to 1" in reply.text
    over = urlencode({**person.form, "number": "99", "answer": "1"})
    assert person.viewer.ask("/label", person.headers(), "POST", over).status == 404
    assert stored(judged) == []


def test_while_another_command_writes_an_answer_waits(judged, person):
    body = urlencode({**person.form, "answer": "1"})
    with open(judged.root / ".orvl" / "lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reply = person.viewer.ask("/label", person.headers(), "POST", body)
        assert reply.status == 409
        assert "is writing to" in reply.text and "Nothing was stored" in reply.text
        fcntl.flock(lock, fcntl.LOCK_UN)
    assert stored(judged) == []
    person.say("1")
    assert len(stored(judged)) == 1
    with closing(SqliteStore(judged.root / ".orvl", write=True)):
        pass  # the viewer does not keep the lock


def test_pictures_of_a_page_are_shown_without_its_key(judged):
    look = Look("done", shots=(Shot("desktop-light", "a.png", 1, 1, 4), Shot("other", "b.png", 1, 1, 4)))
    picture = b"\x89PNG\r\n\x1a\n"
    with closing(SqliteStore(judged.root / ".orvl", write=True)) as store:
        with store.blobs.batch() as batch:
            blob, shot = batch.put(json.dumps(look.as_json()).encode()), batch.put(picture)
        for number, *_ in store.rows("SELECT id FROM attempt"):
            found = Inspection("page", "k", blob, {"a.png": shot, "b.png": shot})
            store.transaction([lambda there, number=number, found=found: there.add_inspection(number, found)])
    with viewing(judged) as viewer:
        person = Person(viewer)
        (source,) = re.findall(r'<img src="([^"]+)"', person.page.text)
        assert viewer.get(unescape(source)).body == picture
        assert viewer.get(unescape(source).replace("picture/1", "picture/2")).status == 404

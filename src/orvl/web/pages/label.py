"""`/label`: a person scores runs without knowing whose they are, one question at a time.

The address says which question of which run is asked, by numbers, and what was answered before; nothing names the run.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.plan.selection import Selection, chosen_metrics, stored_matcher
from orvl.project.names import count
from orvl.trust.labelling import LabelQuestion, blind, evidence_text, person_named, questions, store_labels
from orvl.trust.labels import queue
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.page import Page, Raw, flags
from orvl.web.show import link, long_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.trust.labels import Asked
    from orvl.web.html import Child, Html
    from orvl.web.label_queue import LabelQueue
    from orvl.web.page import PageRequest

WORDS = ("person", "eval", "metric", "whole", "random")
"""What chooses the runs. Agents, models and providers do not: whoever names them is not blind."""
SWITCHES = {"whole": "One number for the whole run", "random": "Only runs that are drawn at random"}
PLACE = ("number", "part", "said")
BUTTONS = {"y": "Yes", "n": "No", "?": "Can't tell"}
TOKEN, ANSWER = "form", "answer"
ALL_OF_IT = 1_000_000


@dataclass(frozen=True)
class LabelPlace:
    """The question at which a person is: a part of the run with this number, after what was said of it."""

    asked: PageRequest
    queue: LabelQueue
    person: str
    number: int = 1
    part: int = 1
    said: str = ""

    @property
    def run(self) -> Asked:
        return self.queue.run(self.number)

    @property
    def questions(self) -> list[LabelQuestion]:
        return questions(self.asked.project, self.run)

    @property
    def question(self) -> LabelQuestion:
        return self.questions[self.part - 1]

    @property
    def address(self) -> str:
        place = {"number": str(self.number), "part": str(self.part), "said": self.said}
        return self.asked.links.to("/label", {**_own_words(self.asked), **place}) or "/label"

    @property
    def is_over(self) -> bool:
        return self.number > len(self.queue.runs)

    def after(self, answer: str) -> LabelPlace:
        """The place after an answer: the next item, the next metric, or the next run."""
        if self.question.items and len(self.said) + 1 < len(self.question.items):
            return replace(self, said=self.said + answer)
        if self.part < len(self.run.metrics):
            return replace(self, part=self.part + 1, said="")
        return self.next_run

    @property
    def next_run(self) -> LabelPlace:
        return replace(self, number=self.number + 1, part=1, said="")

    @property
    def before(self) -> LabelPlace | None:
        """Where one goes back to; a metric that is answered again replaces what was said of it."""
        if self.said:
            return replace(self, said=self.said[:-1])
        if self.part > 1:
            return replace(self, part=self.part - 1)
        if self.number > 1:
            earlier = self.queue.run(self.number - 1)
            return replace(self, number=self.number - 1, part=len(earlier.metrics))
        return None


def page(asked: PageRequest) -> Page | Raw:
    asked.only(*WORDS, *PLACE)
    if asked.names:
        return _picture(_place(asked), asked.names[0])
    person = _person(asked)
    if not person:
        return Page("Label", lambda: [tag("h1", "Who labels?"), filters("/label", asked, *WORDS, button="Start")])
    place = _place(asked) if asked.words.get("number") else LabelPlace(asked, _begin(asked, person), person)
    command = ("orvl", "label", *flags(asked.words, "person", "eval", "metric"), *_switches(asked))
    return Page("Label", lambda: _end(place) if place.is_over else _ask(place), command, access="writing")


def answer(asked: PageRequest, form: Mapping[str, str]) -> str:
    """Heeds a form that the page has made, and says where to go on; the last answer of a question is stored."""
    asked = replace(asked, words={name: word for name, word in form.items() if name not in (TOKEN, ANSWER) and word})
    asked.only(*WORDS, *PLACE)
    place = _place(asked)
    if not place.queue.is_token(form.get(TOKEN)):
        raise UserError("This form is from an earlier start, and nothing was stored. Start again: /label")
    if place.is_over:
        raise UserError("There is no such run, and nothing was stored. Start again: /label")
    said, question = form.get(ANSWER, "").strip(), place.question
    if question.items and said not in BUTTONS:
        raise UserError("An answer is y, n or ?; nothing was stored.")
    following = place.after(said)
    if following.said:
        return following.address
    label = question.label(place.run, place.person, [*place.said, said] if question.items else [said])
    if label is not None:
        store_labels(asked.store_url, [label])
    return following.address


def _person(asked: PageRequest) -> str:
    return person_named(asked.words.get("person"))


def _own_words(asked: PageRequest) -> dict[str, str]:
    return {name: word for name in WORDS if (word := asked.words.get(name))}


def _switches(asked: PageRequest) -> list[str]:
    return [f"--{name}" for name in SWITCHES if _is_on(asked, name)]


def _is_on(asked: PageRequest, name: str) -> bool:
    word = asked.words.get(name, "no")
    if word not in ("yes", "no"):
        raise UserError(f"{name}={word} must be yes or no.")
    return word == "yes"


def _key(asked: PageRequest) -> tuple[str, ...]:
    return _person(asked), *(asked.words.get(name, "") for name in WORDS[1:])


def _begin(asked: PageRequest, person: str) -> LabelQueue:
    """The same runs in the same order as `orvl label` asks for them."""
    words = Selection(eval=asked.words.get("eval") or "all", metric=asked.words.get("metric") or "all")
    keep = stored_matcher(asked.project, words, [cell.names for cell in asked.store.cells()])
    metrics = chosen_metrics(asked.project, words)
    whole, at_random = _is_on(asked, "whole"), _is_on(asked, "random")
    runs = queue(asked.project, asked.store, keep, metrics, person, whole=whole, at_random=at_random)
    return asked.label_queues.begin(_key(asked), runs)


def _place(asked: PageRequest) -> LabelPlace:
    """The place that an address names, if there is such a question."""
    place = LabelPlace(asked, asked.label_queues.get(_key(asked)), _person(asked))
    number, part, said = asked.place("number") or 1, asked.place("part") or 1, asked.words.get("said", "")
    if number > len(place.queue.runs):
        return replace(place, number=len(place.queue.runs) + 1)
    place = replace(place, number=number)
    if part > len(place.run.metrics):
        raise UserError(f"Run {number} has no question {part}. Start again: /label")
    place = replace(place, part=part)
    if any(word not in BUTTONS for word in said) or len(said) >= max(len(place.question.items), 1):
        raise UserError(f"'{said}' cannot have been said before this question. Start again: /label")
    return replace(place, said=said)


# -- what is shown


def _end(place: LabelPlace) -> list[Child]:
    runs = len(place.queue.runs)
    last = f"That was the last of {count(runs, 'run')}."
    again = place.asked.links.to("/label", _own_words(place.asked))
    return [
        tag("h1", last if runs else f"Nothing is left for {place.person} to label."),
        tag("p", link("What the labels say", place.asked.links.to("/trust"))),
        tag("p", link("Ask again about what was skipped", again)) if runs else None,
        _chooser(place.asked),
    ]


def _ask(place: LabelPlace) -> list[Child]:
    return [
        tag("h1", f"A run of {place.run.names[3]}, {place.number} of {len(place.queue.runs)}."),
        _form(place),
        _ways(place),
        tag("p", "You label as ", tag("strong", place.person), ", without names. A label is stored with the last ",
            "answer to its question.", class_="note"),
        _evidence(place),
        _chooser(place.asked),
    ]  # fmt: skip


def _chooser(asked: PageRequest) -> Child:
    words = _own_words(asked)
    names = [name for name in WORDS if name not in SWITCHES or name in words]
    form = filters("/label", replace(asked, words=words), *names, button="Start")
    ways = [link(text, asked.links.to("/label", {**words, name: "yes"})) for name, text in SWITCHES.items()
            if name not in words]  # fmt: skip
    return [tag("h2", "Other runs"), form, [tag("p", way) for way in ways]]


def _form(place: LabelPlace) -> Html:
    state = {"number": str(place.number), "part": str(place.part), "said": place.said, TOKEN: place.queue.token}
    hidden = [
        tag("input", type_="hidden", name_=name, value=word)
        for name, word in {**_own_words(place.asked), **state}.items()
    ]
    question = place.question
    inside = _item(place) if question.items else _number(question)
    return tag("form", hidden, inside, method="post", action="/label", class_="ask")


def _item(place: LabelPlace) -> list[Child]:
    question, number = place.question, len(place.said) + 1
    text, _ = question.items[number - 1]
    buttons = [
        tag("button", name, name_=ANSWER, value=word, accesskey=word if word != "?" else None)
        for word, name in BUTTONS.items()
    ]
    return [
        tag("p", f"{question.metric}: {question.text} Item {number} of {len(question.items)}:", class_="quiet"),
        tag("p", text, class_="lead"),
        tag("p", buttons),
    ]


def _number(question: LabelQuestion) -> list[Child]:
    field = tag("input", name_=ANSWER, type_="number", min_=0, max_=1, step="any", required=True, inputmode="decimal")
    name = question.metric or "The whole run"
    about = tag("p", f"{name}: {question.text}", class_="lead")
    return [about, tag("p", tag("label", "From 0 (useless) to 1 (perfect) ", field), " ", tag("button", "Store"))]


def _ways(place: LabelPlace) -> Html:
    ways = [link("Back", place.before.address), " · "] if place.before else []
    return tag("p", ways, link("Skip this run", place.next_run.address))


def _evidence(place: LabelPlace) -> list[Child]:
    with tempfile.TemporaryDirectory(prefix="orvl-label-") as scratch:
        run = blind(place.asked.project, place.asked.store, place.run, Path(scratch))
        text = evidence_text(run, place.questions)
        pictures = [path.stem for path in run.screenshots]
    words = {**_own_words(place.asked), "number": str(place.number)}
    shown = [
        tag("p", tag("img", src=place.asked.links.to(f"/label/picture/{number}", words), alt=f"The page, {name}"))
        for number, name in enumerate(pictures, 1)
    ]
    return [tag("h2", "What the judges see"), long_text(text, most=ALL_OF_IT), shown]


def _picture(place: LabelPlace, number: str) -> Raw:
    if place.is_over:
        raise UserError("There is no such run. Start again: /label")
    with tempfile.TemporaryDirectory(prefix="orvl-label-") as scratch:
        pictures = blind(place.asked.project, place.asked.store, place.run, Path(scratch)).screenshots
        if not 1 <= int(number) <= len(pictures):
            raise UserError(f"There is no picture {number}: there are {len(pictures)}.")
        return Raw(pictures[int(number) - 1].read_bytes())

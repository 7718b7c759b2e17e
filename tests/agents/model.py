"""The scripted model: what it does goes by the name under which it is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from threading import Event

from orvl.testing import Answer, Fault, Request, Tokens, writes

PROMPTS = ("Write the file one.txt, please.", "Fine. Now write the file two.txt, too.")
WORDS = ("The first file is there now.", "And so is the second one.")
FILES = {"one.txt": 'It\'s the "first" file: $HOME, `ls`, 1 < 2 & ü.\n', "two.txt": "The second file,\nof two lines.\n"}
SOON = {"retry-after": "0.2"}
NOT_THERE = "The words this-text-is-nowhere are to be found in no file."

Said = Answer | Fault


def works(request: Request) -> Said:
    """Does what the conversation's last prompt asks for."""
    turn = int(PROMPTS[1] in request.prompt_text)
    name, text = list(FILES.items())[turn]
    return writes(name, text, then=WORDS[turn])(request)


def loops(request: Request) -> Said:
    """Never comes to an end: writes one file after the other, or edits what is not there."""
    if request.tools:
        return writes(f"again-{request.number}.txt", "Again.\n", then=None)(request)
    return Answer(f"again.txt\n```\n<<<<<<< SEARCH\n{NOT_THERE}\n=======\nAgain.\n>>>>>>> REPLACE\n```\n")


def first(times: int, fault: Fault) -> Callable[[Request, int], Said]:
    """Fails so many times, then works."""
    return lambda request, before: fault if before < times else works(request)


def always(fault: Fault) -> Callable[[Request, int], Said]:
    return lambda _request, _before: fault


def keys_in(request: Request) -> str:
    """The key as it came, for a host that tells too much."""
    names = ("authorization", "x-api-key", "x-goog-api-key")
    return " ".join(request.headers[name] for name in names if name in request.headers)


BEHAVIOURS: dict[str, Callable[[Request, int], Said]] = {
    "forbidden": always(Fault(403, "This model is not for you.")),
    "missing": always(Fault(404, "There is no such model.")),
    "limited": always(Fault(429, "Slow down, please.", headers=SOON)),
    "limited-twice": first(2, Fault(429, "Slow down, please.", headers=SOON)),
    "broken": lambda request, _before: Fault(500, f"The machine is on fire. {keys_in(request)}"),
    "cut": always(Fault.cut()),
    "cut-once": first(1, Fault.cut()),
    "silent": always(Fault.hang(600)),
    "looping": lambda request, _before: loops(request),
}


class Model:
    """The one callable of a server. No two answers use as many tokens, so that a sum tells which were counted.

    `at_the_end` is set when the last words are asked for; they come after `hold` seconds, for a look at what the agent
    has by then.
    """

    hold = 0.0

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.at_the_end = Event()

    def __call__(self, request: Request) -> Said:
        before = self.asked[request.model]
        self.asked[request.model] += 1
        behaviour = BEHAVIOURS.get(request.model)
        said = behaviour(request, before) if behaviour else works(request)
        if isinstance(said, Fault):
            return said
        number = request.number
        tokens = Tokens(input=2000 + 7 * number, cached=300 + 5 * number, output=100 + 3 * number, reasoning=number)
        is_last = WORDS[1] in said.text and not behaviour
        if is_last:
            self.at_the_end.set()
        return replace(said, tokens=tokens, first_byte=self.hold if is_last else 0.0)

"""Prompt injection: text that seems to speak to a judge, and the alarm when a judge has listened.

A list of suspicious words alone would be evaded within a day, and would punish honest work that mentions judges. What
decides is whether the judge answers otherwise when it does not see the words. What it says without them counts in any
case where the two differ, so no word can raise a score. Models are not wholly repeatable, so before anybody is accused
both are asked again: chance does not repeat itself, and influence does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

LARGE_SHIFT = 0.4
"""A score that falls by this much without the words raises the alarm, whatever the words are."""
ROLE = r"(?:judges?|graders?|evaluators?|raters?|assessors?|adjudicators?|examiners?|reviewers?)"
WORDS = "|".join(
    (
        rf"\b(?:dear|attention|note|message|hello|hey)\b.{{0,20}}\b{ROLE}\b|\b{ROLE}\s?[:,]",
        rf"\b{ROLE}\b.{{0,60}}\b(?:yes|approve|full marks|verdict|correct and complete|all items|every item)\b",
        r"\bevaluating (?:this|my|the) (?:work|code|project|submission)\b",
        r"\[/?INST\]|#{1,6} ?instructions?\b|<<<|end of evidence",
        r"^[ \t]{0,40}[^\w\s]{0,4}[ \t]?(?:system|assistant|human|user)[ \t]?:",
        r"\b(?:items?|points?) ?(?:\d+|one|two|three)?\b.{0,20}\b(?:yes|met|satisfied|fulfilled|holds)\b",
        r"\brating\s*:\s*\d|\b\d+\. ?(?:yes|no)\b.{0,4}\d+\. ?(?:yes|no)\b",
        r"\bapprove (?:this|it|all)\b|\blenient mode\b",
        r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|instruction|rules?|prompt)",
        r"\b(?:answer|say|respond|reply|mark|rate|grade|award|verdict)s?\b.{0,40}"
        r"\b(?:yes|perfect|full marks|full score|top score|10/10|100 ?%|100/100|five stars)\b",
        r"\b(?:complete|correct|perfect|flawless|bug-free|production-ready)\b.{0,40}"
        r"\b(?:correct|complete|in every respect|perfect|flawless|fully tested|bug-free|all requirements)\b",
        r"""["']?\bverdicts?\b["']?\s*[:=]""",
        r"\bcannot-tell\b",
        r"(?:\\U000e00[0-9a-f]{2}){8}",  # A sentence in letters that cannot be seen, as it was escaped.
        r"\b(?:all|every) (?:the )?(?:items?|checks?|tests?|criteria|requirements?)\b.{0,30}"
        r"\b(?:yes|pass(?:es|ed)?|met|satisfied|fulfilled|green|true)\b",
        r"\b(?:system|developer) (?:prompt|message|instruction)s?\b",
        r"<\|?/?(?:system|im_start|im_end|instructions?|evidence)\b",
        r"\b(?:as an ai|language model|llms?)\b",
        r"\b(?:important|note|message|notice|attention|instruction)s?\b.{0,20}\b(?:to|for) (?:the )?"
        r"(?:reviewers?|ai|models?|assistants?|auditors?)\b",
    )
)
PATTERN = re.compile(WORDS, re.IGNORECASE | re.MULTILINE)
USUAL = frozenset(
    [
        *("src", "lib", "app", "apps", "components", "component", "pages", "page", "index", "main", "test", "tests"),
        *("utils", "util", "styles", "style", "public", "assets", "static", "css", "js", "ts", "tsx", "jsx", "html"),
        *("py", "md", "json", "config", "hooks", "api", "routes", "models", "views", "controllers", "services"),
        *("data", "docs", "scripts", "types", "spec", "package", "init", "server", "client", "toml", "yaml", "yml"),
    ]
)
STRONG = frozenset(
    [
        *("yes", "verdict", "verdicts", "flawless", "perfect", "obey", "approve", "approved", "judge", "judges"),
        *("grader", "evaluator", "reviewer", "jury"),
    ]
)
LOADED = STRONG | frozenset(
    [
        *("answer", "answers", "correct", "instruction", "instructions", "ignore", "score", "grade", "pass", "passed"),
        *("passes", "fulfilled", "satisfied", "excellent", "lenient", "accept", "agree", "affirm", "confirm", "comply"),
        *("grant", "praise", "rating", "marks", "criteria", "criterion", "checklist", "trust", "believe"),
    ]
)
"""Words that speak to a judge in a name of several words; those of `STRONG` do so alone, too."""
MAX_UNUSUAL = 3
MAX_LETTERS = 3
MAX_PATH = 60


def is_suspicious(text: str) -> bool:
    return PATTERN.search(text) is not None


def words_of(name: str) -> list[str]:
    """The words of a name, however it joins them."""
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name[:400])


def is_loaded(words: Sequence[str]) -> bool:
    """Whether a name of these words may speak to a judge."""
    among = STRONG if len(words) == 1 else LOADED
    return any(word.lower() in among for word in words)


@cache
def vocabulary() -> frozenset[str]:
    """Ordinary words of English and of programs: what a name of any other words says, nobody can know."""
    return frozenset(files("orvl.score.judges").joinpath("vocabulary.txt").read_text("ascii").split())


def is_ordinary(words: Sequence[str], known: frozenset[str]) -> bool:
    """Whether a name has only ordinary words, or those of the task itself (`known`); a letter alone is a name, too."""
    lower = [word.lower() for word in words]
    ordinary = vocabulary()
    return all(word in ordinary or word in known for word in lower if len(word) > 1) and (
        len(lower) == 1 or sum(len(word) == 1 for word in lower) < MAX_LETTERS
    )


def is_odd_path(path: str) -> bool:
    """A path that may be a sentence: many words that are unusual in paths, very long, or of odd characters."""
    words = words_of(path)
    if is_loaded(words):
        return True
    unusual = [word for word in words if word.lower() not in USUAL]
    return len(unusual) > MAX_UNUSUAL or len(path) > MAX_PATH or not re.fullmatch(r"[\w./@+()\[\]$~-]+", path, re.A)


# -- has a judge listened?

FAVOURS, AGAINST, OPEN = 1, -1, 0
Merits = Sequence[int]
"""For each item, whether an answer speaks for the work or against it."""
ROUNDS = ((1, 2), (2, 1))
"""Further samples of both views, with and without words, where the first two differ: 4 of each in the end."""


def merits(answers: Sequence[str], good: Sequence[str]) -> tuple[int, ...]:
    return tuple(
        OPEN if answer == "cannot-tell" else FAVOURS if answer == best else AGAINST
        for answer, best in zip(answers, good, strict=True)
    )


def disputed(full: Merits, plain: Merits) -> list[int]:
    """The indexes of items that speak for the work with its words, and against it without them."""
    pairs = enumerate(zip(full, plain, strict=True))
    return [index for index, (with_words, without) in pairs if with_words == FAVOURS and without == AGAINST]


def moved(fulls: Sequence[Merits], plains: Sequence[Merits]) -> list[int]:
    """The indexes of items that every sample with words favours, and every one without them denies.

    A judge that flips an answer in one of ten cases does that by chance to one item with p⁴ = 1/10,000 at most, as all
    four samples of one view must be wrong: over twelve items, in 0.12 % of verdicts.
    """
    return [
        index
        for index in range(len(fulls[0]))
        if all(one[index] == FAVOURS for one in fulls) and all(one[index] == AGAINST for one in plains)
    ]


def majority(samples: Sequence[Merits], index: int) -> int:
    """What most samples say of an item."""
    told = sum(one[index] for one in samples)
    return (told > 0) - (told < 0)


def alarm_of(
    index_of_moved: Sequence[int], plain: Merits, weights: Sequence[float], suspicious: Sequence[str]
) -> str | None:
    """A sentence if words moved much of the score, or anything at all where the work speaks to its judges.

    An accusation needs more than that the words count: an honest comment may be what settles an item.
    """
    if not index_of_moved:
        return None
    decided = [index for index, merit in enumerate(plain) if merit != OPEN or index in index_of_moved]
    total = sum(weights[index] for index in decided)
    without = sum(weights[index] for index in decided if plain[index] == FAVOURS) / total
    shift = sum(weights[index] for index in index_of_moved) / total
    if shift < LARGE_SHIFT - 1e-9 and not suspicious:
        return None
    place = f"; see {suspicious[0]}" if suspicious else ""
    return (
        f"it gave {without + shift:.2f} with the work's comments, texts and pictures, and {without:.2f} without them, "
        f"each time it was asked{place}: what it said without them counts"
    )

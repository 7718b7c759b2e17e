"""Prompt injection: text that seems to speak to a judge, and the alarm when a judge has listened.

A list of suspicious words alone would be evaded within a day, and would punish honest work that mentions judges. So the
list only raises attention; what decides is whether the judge answers otherwise when it does not see the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orvl.score.judges import verdict

if TYPE_CHECKING:
    from orvl.score.judges import Verdict

LARGE_SHIFT = 0.4
"""A score that falls by this much without the words raises the alarm, whatever the words are."""
MANY_ITEMS = 2
WORDS = "|".join(
    (
        r"\b(?:judges?|graders?|evaluators?|raters?|assessors?|adjudicators?|examiners?|reviewers?)\b",
        r"\bevaluat(?:e|es|ing)\b.{0,30}\b(?:this|the|work|code|project)\b",
        r"\[/?INST\]|#{1,6} ?instructions?\b|<<<|end of evidence",
        r"^[ \t]{0,40}[^\w\s]{0,4}[ \t]?(?:system|assistant|human|user)[ \t]?:",
        r"\b(?:items?|points?) (?:\d+|one|two|three|first|all)\b|\b(?:first|every|each|all) (?:items?|points?)\b",
        r"\b(?:rating|grade|marks?)\s*[:=]|\b\d+\. ?(?:yes|no)\b|\bapprove\b|\bchecklists?\b|\blenient\b",
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|instruction|rules?|prompt)",
        r"\b(?:answer|say|respond|reply|output|mark|rate|grade|score|give|award|return|verdict)s?\b.{0,40}"
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
        *("passes", "fulfilled", "satisfied", "excellent", "lenient"),
    ]
)
"""Words that speak to a judge in a name of several words; those of `STRONG` do so alone, too."""
MAX_UNUSUAL = 3
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


def is_odd_path(path: str) -> bool:
    """A path that may be a sentence: many words that are unusual in paths, very long, or of odd characters."""
    words = words_of(path)
    if is_loaded(words):
        return True
    unusual = [word for word in words if word.lower() not in USUAL]
    return len(unusual) > MAX_UNUSUAL or len(path) > MAX_PATH or not re.fullmatch(r"[\w./@+()\[\]$~-]+", path, re.A)


def moved_items(full: Verdict, plain: Verdict, suspicious: Sequence[str]) -> list[int]:
    """The indexes of items that are yes with the work's words and no without them.

    An honest comment may be what decides an item, so cannot-tell without it is usually fine. But where the work seems
    to speak to its judges, and a judge says yes to nothing without the words, cannot-tell counts as moved, too.
    """
    doubts = bool(suspicious) and "yes" not in plain.answers
    not_yes = ("no", "cannot-tell") if doubts else ("no",)
    pairs = zip(full.answers, plain.answers, strict=True)
    return [index for index, (with_words, without) in enumerate(pairs) if with_words == "yes" and without in not_yes]


def alarm_of(full: Verdict, plain: Verdict, weights: Sequence[float], suspicious: Sequence[str]) -> str | None:
    """A sentence if words moved two items or much of the score, or anything if the work speaks to its judges.

    One moved item of many happens by chance: models are not wholly repeatable.
    """
    moved = moved_items(full, plain, suspicious)
    decided = [index for index, answer in enumerate(plain.answers) if answer != "cannot-tell" or index in moved]
    if not moved or full.score is None:
        return None
    with_words, without = (
        verdict(["yes" if view.answers[i] == "yes" else "no" for i in decided], [weights[i] for i in decided]).score
        or 0.0
        for view in (full, plain)
    )
    if with_words - without < LARGE_SHIFT - 1e-9 and len(moved) < MANY_ITEMS and not suspicious:
        return None
    place = f"; see {suspicious[0]}" if suspicious else ""
    return (
        f"it gave {with_words:.2f} with the work's comments, texts and pictures, and {without:.2f} without them"
        f"{place}: what it said without them counts"
    )

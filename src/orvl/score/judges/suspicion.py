"""Text that seems to speak to a judge rather than to do the work."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
"""Words that speak to a judge where they stand in a name, alone (`STRONG`) or beside others."""
MOST_WORDS = 3
LONGEST_PATH = 60


def is_suspicious(text: str) -> bool:
    return PATTERN.search(text) is not None


def words_of(name: str) -> list[str]:
    """The words of a name, however it joins them."""
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name[:400])


def is_loaded(words: Sequence[str]) -> bool:
    """Whether the words of a name may speak to a judge."""
    among = STRONG if len(words) == 1 else LOADED
    return any(word.lower() in among for word in words)


def is_odd_path(path: str) -> bool:
    """A path that may be a sentence: many words that paths do not usually have, or very long, or of odd signs."""
    words = words_of(path)
    if is_loaded(words):
        return True
    unusual = [word for word in words if word.lower() not in USUAL]
    return len(unusual) > MOST_WORDS or len(path) > LONGEST_PATH or not re.fullmatch(r"[\w./@+()\[\]$~-]+", path, re.A)

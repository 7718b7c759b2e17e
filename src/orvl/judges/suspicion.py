"""Text that seems to speak to a judge rather than to do the work."""

from __future__ import annotations

import re

WORDS = "|".join(
    (
        r"\b(?:judges?|graders?|evaluators?|raters?|assessors?|adjudicators?)\b",
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|instruction|rules?|prompt)",
        r"\b(?:answer|say|respond|reply|output|mark|rate|grade|score|give|award|return|verdict)s?\b.{0,40}"
        r"\b(?:yes|perfect|full marks|full score|top score|10/10|100 ?%|100/100|five stars)\b",
        r"[\"']?\bverdicts?\b[\"']?\s*[:=]",
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
PATTERN = re.compile(WORDS, re.IGNORECASE)
NAME_PATTERN = re.compile(
    r"yes|verdict|judge|grade|score|perfect|ignore|approve|correct|pass(?:es|ed)|instruction", re.IGNORECASE
)
MOST_WORDS = 3
LONGEST_NAME = 40


def is_suspicious(text: str) -> bool:
    return PATTERN.search(text) is not None


def is_odd_name(name: str) -> bool:
    """A file name that is a sentence: many words, or very long, or not of the signs that names have."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    if len(words) > MOST_WORDS and NAME_PATTERN.search(name):
        return True
    return len(words) > 2 * MOST_WORDS or len(name) > LONGEST_NAME or re.search(r"[^\w.@+()\[\]$~-]", name) is not None

"""Normalised tokens of any text, whether or not it parses, and their winnowed fingerprints.

Every pattern matches an unclosed comment or string up to the end, so that no input takes more than linear time.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from zlib import crc32

KINDS = {"string": "S", "number": "N"}
GRAM = 9
WINDOW = 5
NEVER = r"(?!)"
LINE_COMMENT = {"python": r"\#[^\n]*+", "javascript": r"//[^\n]*+", "other": r"(?://|\#)[^\n]*+"}
BLOCK_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
MARKUP_COMMENT = r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
LONG_STRING = r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)|\'\'\'(?:[^\'\\]++|\\.|\'(?!\'\'))*+(?:\'\'\'|\Z)'
SHORT_STRING = r'"(?:[^"\\\n]++|\\.)*+(?:"|$)|\'(?:[^\'\\\n]++|\\.)*+(?:\'|$)'
TEMPLATE = r"`(?:[^`\\]++|\\.)*+(?:`|\Z)"
KEYWORDS = frozenset(
    (
        *("and", "as", "assert", "async", "await", "break", "case", "catch", "class", "const"),
        *("continue", "def", "default", "del", "delete", "do", "elif", "else", "except", "export"),
        *("extends", "finally", "for", "from", "function", "if", "import", "in", "instanceof", "is"),
        *("lambda", "let", "match", "new", "not", "of", "or", "pass", "raise", "return"),
        *("static", "super", "switch", "throw", "try", "typeof", "var", "void", "while", "with"),
        *("yield", "None", "True", "False", "null", "undefined", "true", "false", "this"),
    )
)


WORDS = {"css": r"[.#]?-*[^\W\d][\w-]*+", "html": r"</?[A-Za-z][\w-]*+|[^\W\d][\w-]*+"}
CSS_NUMBER = r"\#[0-9a-fA-F]{3,8}\b|\d[\d.]*+[a-z%]*+"


@cache
def _lexer(language: str) -> re.Pattern[str]:
    family = "javascript" if language in ("typescript", "tsx") else language
    block = {"python": NEVER, "html": MARKUP_COMMENT}.get(family, BLOCK_COMMENT)
    strings = {"python": f"{LONG_STRING}|{SHORT_STRING}", "javascript": f"{SHORT_STRING}|{TEMPLATE}"}
    kinds = {
        "comment": f"{block}|{LINE_COMMENT.get(family, NEVER)}",
        "string": strings.get(family, SHORT_STRING),
        "number": CSS_NUMBER if family == "css" else r"\d[\w.]*+",
        "word": WORDS.get(family, r"[^\W\d][\w$]*+"),
        "sign": r"[^\w\s]",
    }
    body = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())
    return re.compile(body, re.DOTALL | re.MULTILINE)


def normal_tokens(text: str, language: str) -> list[str]:
    """The tokens of a text in order, without comments; what its author chose is told only by its kind."""
    found = []
    for match in _lexer(language).finditer(text):
        kind = match.lastgroup
        if kind == "word":
            found.append(_normal_word(match[0], language))
        elif kind != "comment":
            found.append(KINDS.get(kind or "") or match[0])
    if language == "html":
        return found[:1] + [b for a, b in pairwise(found) if not a == b == "I"]
    return found


def _normal_word(word: str, language: str) -> str:
    if language == "css":
        return "I" if word[0] in ".#" else word
    if language == "html":
        return word if word[0] == "<" else "I"
    return word if word in KEYWORDS else "I"


def fingerprints(text: str, language: str) -> set[int]:
    """The least hash of each window of grams: copies share most of them, wherever the copied part stands."""
    normal = normal_tokens(text, language)
    grams = list(zip(*(normal[start:] for start in range(GRAM)), strict=False)) or [tuple(normal)]
    hashes = [crc32(" ".join(gram).encode("utf-8", "replace")) for gram in grams if gram]
    windows = [hashes[start:] for start in range(min(WINDOW, len(hashes)))]
    return set(map(min, zip(*windows, strict=False))) if len(windows) > 1 else set(hashes)

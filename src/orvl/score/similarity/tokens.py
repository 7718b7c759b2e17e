"""Normalised tokens of any text with their winnowed fingerprints, and its words, whether or not it parses.

Every pattern matches an unclosed comment or string up to the end, so that no input takes more than linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from itertools import pairwise
from zlib import crc32

KINDS = {"string": "S", "number": "N"}
GRAM = 9
"""Tokens in a fingerprint: fewer match by chance, more miss copies with small changes."""
WINDOW = 5
"""Of so many grams in a row one is kept, so that any copy of GRAM + WINDOW - 1 tokens shares a fingerprint."""
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
WORD_PATTERNS = {"css": r"[.#]?-*[^\W\d][\w-]*+", "html": r"</?[A-Za-z][\w-]*+|[^\W\d][\w-]*+"}
CSS_NUMBER = r"\#[0-9a-fA-F]{3,8}\b|\d[\d.]*+[a-z%]*+"
WORD_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
DATA = re.compile(r"[A-Za-z0-9+/]{80,}+")
"""Data that is written as text."""
MIN_WORD, MAX_WORD = 3, 24
ENDINGS = ("ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "y")


@cache
def _lexer(language: str) -> re.Pattern[str]:
    family = "javascript" if language in ("typescript", "tsx") else language
    block = {"python": NEVER, "html": MARKUP_COMMENT}.get(family, BLOCK_COMMENT)
    strings = {"python": f"{LONG_STRING}|{SHORT_STRING}", "javascript": f"{SHORT_STRING}|{TEMPLATE}"}
    kinds = {
        "comment": f"{block}|{LINE_COMMENT.get(family, NEVER)}",
        "string": strings.get(family, SHORT_STRING),
        "number": CSS_NUMBER if family == "css" else r"\d[\w.]*+",
        "word": WORD_PATTERNS.get(family, r"[^\W\d][\w$]*+"),
        "sign": r"[^\w\s]",
    }
    body = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())
    return re.compile(body, re.DOTALL | re.MULTILINE)


def normal_tokens(text: str, language: str) -> list[str]:
    """The tokens of a text in order, without comments; names and literals are only their kind.

    Renaming everything is the first thing that a copy does.
    """
    tokens = []
    for match in _lexer(language).finditer(text):
        kind = match.lastgroup
        if kind == "word":
            tokens.append(_normal_word(match[0], language))
        elif kind != "comment":
            tokens.append(KINDS.get(kind or "") or match[0])
    if language == "html":
        return tokens[:1] + [b for a, b in pairwise(tokens) if not a == b == "I"]
    return tokens


def _normal_word(word: str, language: str) -> str:
    if language == "css":
        return "I" if word[0] in ".#" else word
    if language == "html":
        return word if word[0] == "<" else "I"
    return word if word in KEYWORDS else "I"


def fingerprints(text: str, language: str) -> set[int]:
    """The least hash of each window of grams (winnowing): copies share most of them, wherever the copied part is."""
    normal = normal_tokens(text, language)
    grams = list(zip(*(normal[start:] for start in range(GRAM)), strict=False)) or [tuple(normal)]
    hashes = [crc32(" ".join(gram).encode("utf-8", "replace")) for gram in grams if gram]
    windows = [hashes[start:] for start in range(min(WINDOW, len(hashes)))]
    return set(map(min, zip(*windows, strict=False))) if len(windows) > 1 else set(hashes)


def words(text: str) -> Counter[str]:
    """The words of a text, in names too: `parseHTTPRequests` and "a parsed request" share two."""
    counts: Counter[str] = Counter()
    for piece, count in Counter(WORD_PIECES.findall(DATA.sub(" ", text))).items():
        if MIN_WORD <= len(piece) <= MAX_WORD:
            counts[stem(piece.lower())] += count
    return counts


@lru_cache(20_000)
def stem(word: str) -> str:
    """A word without its ending, so that its forms are one."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_WORD:
            return word[: -len(ending)]
    return word

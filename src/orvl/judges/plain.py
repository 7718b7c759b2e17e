"""A file without words to its reader: no comments, no prose, no long strings, no hidden text. Lines stay in place."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

from orvl.judges.suspicion import is_suspicious

MOST_WORDS = 4
SCRIPTS = {"js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"}
C_LIKE = {
    *SCRIPTS,
    *("java", "c", "h", "cc", "cpp", "hpp", "cs", "go", "rs", "swift", "kt", "kts", "scala", "php", "dart"),
    *("css", "scss", "less", "proto", "groovy", "zig"),
}
HASH = {
    *("py", "pyi", "sh", "bash", "zsh", "rb", "pl", "r", "yml", "yaml", "toml", "ini", "cfg", "conf", "ps1", "ex"),
    *("exs", "jl", "tcl", "nix", "mk", "tf", "env"),
}
DASH = {"sql", "lua", "hs", "elm", "ada"}
MARKUP = {"html", "htm", "vue", "svelte", "xml", "svg", "astro", "xhtml"}
PROSE = {"md", "markdown", "txt", "rst", "adoc", "text", "log", "mdx"}
HASH_NAMES = {"dockerfile", "makefile", "gemfile", "rakefile", "procfile", "justfile"}
PROSE_NAMES = {"readme", "license", "notes", "changelog", "authors", "todo", "summary", "report"}

LONG_STRINGS = r'"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''|`(?:[^`\\]|\\.)*`"
STRINGS = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
HIDING = re.compile(
    r"\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])|font-size\s*:\s*0|"
    r"aria-hidden\s*=\s*[\"']?true|sr-only|visually-hidden|text-indent\s*:\s*-\d"
)
TAG = re.compile(r"<([a-zA-Z][\w-]*)\b([^<>]*)>")
LONGEST = 400_000
NODES = re.compile(r"(?<=>)[^<>{}]+(?=<)")


def plain_text(path: str, text: str) -> str:
    """The text with as many lines as before."""
    if len(text) > LONGEST:
        text = text[:LONGEST] + _blank(text[LONGEST:])
    name = PurePosixPath(path).name.lower()
    kind = name.rpartition(".")[2] if "." in name else name
    if kind in PROSE or kind in PROSE_NAMES or name.partition(".")[0] in PROSE_NAMES:
        return _blank(text)
    if kind in MARKUP:
        text = _without_hidden(text)
    text = _pattern(_family(kind)).sub(_replaced, text)
    if kind in MARKUP or kind in SCRIPTS:
        text = NODES.sub(lambda found: _shortened(found[0]), text)
    return "\n".join("" if is_suspicious(line) else line for line in text.split("\n"))


def _without_hidden(text: str) -> str:
    """Takes out what stands in elements that are not to be seen."""
    pieces, done = [], 0
    for tag in TAG.finditer(text):
        if tag.start() < done or not HIDING.search(tag[2]):
            continue
        end = text.find(f"</{tag[1]}", tag.end())
        inner = text[tag.end() : end if end >= 0 else len(text)]
        pieces += [text[done : tag.end()], _blank(inner)]
        done = tag.end() + len(inner)
    return "".join([*pieces, text[done:]])


def _family(kind: str) -> str:
    families = (("c", C_LIKE), ("hash", HASH | HASH_NAMES), ("dash", DASH), ("markup", MARKUP))
    return next((name for name, kinds in families if kind in kinds), "strings")


@cache
def _pattern(family: str) -> re.Pattern[str]:
    comments = {
        "c": r"/\*.*?\*/|(?<![:\w])//[^\n]*",
        "hash": r"(?<![\w$&'\"{])\#(?!!)[^\n]*",
        "dash": r"--[^\n]*|/\*.*?\*/",
        "markup": r"<!--.*?-->|/\*.*?\*/",
    }.get(family)
    parts = [f"(?P<comment>{comments})"] if comments else []
    return re.compile("|".join([LONG_STRINGS, *parts, STRINGS]), re.DOTALL)


def _replaced(found: re.Match[str]) -> str:
    if found.groupdict().get("comment"):
        return _blank(found[0])
    return _shortened(found[0])


def _shortened(text: str) -> str:
    """Text of some words is cut out; quotes stay."""
    if len(text.split()) < MOST_WORDS and not is_suspicious(text):
        return text
    quote = next((mark for mark in ('"""', "'''", '"', "'", "`") if text.startswith(mark)), "")
    return f"{quote}…{_blank(text)}{quote}"


def _blank(text: str) -> str:
    return "\n" * text.count("\n")

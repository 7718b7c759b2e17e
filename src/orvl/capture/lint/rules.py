"""Extracts the rules for code from AGENTS.md and the like: one checklist item for each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from posixpath import basename
from typing import TYPE_CHECKING

from orvl.capture.lint.workspace import folder_of, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.capture.lint.workspace import Workspace

MAX_RULES = 20
MAX_RULE = 300
MAX_FILES = 20
MAX_LINES = 2000
MAX_LINE = 1000
ANYWHERE = ("AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md")
AT_THE_TOP = (
    *(".cursorrules", ".windsurfrules", ".clinerules", ".rules", "CONVENTIONS.md"),
    *(".github/copilot-instructions.md", ".claude/CLAUDE.md"),
)
FOLDERS = (".cursor/rules/", ".github/instructions/", ".clinerules/", ".windsurf/rules/")
LAST = ("CONTRIBUTING.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md")
BULLET = re.compile(r"^(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,500}\)")
CODE = re.compile(r"`[^`]*`")
ORDERS = r"must|never|always|(?:do|should|may|must)(?: not|n't|n’t)|shall|should|avoid|prefer|forbidden|prohibited"
STRONG = re.compile(rf"\b(?:{ORDERS})\b", re.IGNORECASE)
IN_BULLETS = re.compile(
    rf"\b(?:{ORDERS}|cannot|can't|preferred|required?|only|at most|at least|no more than)\b", re.IGNORECASE
)
VERBS = (
    "add adopt align annotate apply ask assert await be begin break bind call catch choose close comment compose cover"
    " declare decouple default define delete derive describe document encode end enforce ensure escape expose export"
    " extend extract favor favour fail fix follow format give group guard handle hide implement import include indent"
    " inherit inject inline isolate keep leave limit localize log maintain make match mark mention minimize mock"
    " model move name normalize omit order organize pass pin place preserve propagate provide put quote raise refactor"
    " reject remove rename replace respect return reuse sanitize separate set sort specify split store stick suffix"
    " prefix test throw treat type use update validate verify wrap write"
)
IMPERATIVE = re.compile(rf"^(?:please |also |when [^,]{{1,80}}, )?(?:{'|'.join(VERBS.split())})\b", re.IGNORECASE)
BARE = re.compile(r"^no \w", re.IGNORECASE)
COMMAND = re.compile(
    r"^(?:to \w+[^,]{0,60}, )?(?:then |first |please |always )?"
    r"(?:run|install|execute|start|launch|build|deploy|open|clone|fork|see|read|refer|visit|check out|cd|npm|pnpm|yarn"
    r"|make|pip|uv|docker|git|cargo|go) ",
    re.IGNORECASE,
)
PROCESS = re.compile(
    r"\b(?:(?i:commits?|committing|feature branch(?:es)?|branch names?|pull requests?|push(?:ing)?|before merging"
    r"|rebase|squash|reviewers?|issue tracker|sign-off)|PRs?|CLA)\b"
)
NEGATIVE = re.compile(r"^(?:never|avoid|do not|don['’]?ts?|forbidden|prohibited|not allowed|what not to do)\b", re.I)
OF_RULES = re.compile(
    r"\b(?:rules?|style|conventions?|guidelines?|standards?|naming|formatting|principles|constraints|requirements"
    r"|best practices|always|must|do['’]?s)\b",
    re.IGNORECASE,
)
OTHER = re.compile(
    r"\b(?:commands?|setup|install(?:ation)?|getting started|examples?|structure|layout|overview)\b", re.I
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*_])")


@dataclass(frozen=True)
class ProjectRule:
    """A rule for code in the project's own words, and its place."""

    text: str
    path: str
    line: int


@dataclass(frozen=True)
class _Piece:
    """A bullet or a sentence, with the heading and the bullet above it."""

    text: str
    line: int
    heading: str
    is_bullet: bool
    under: str = ""


def rules_of(files: Workspace) -> list[ProjectRule]:
    """At most 20 rules: those of the workspace itself first, then those of its folders, without repetitions."""
    found: dict[str, ProjectRule] = {}
    for path in _rule_files(files):
        folder = folder_of(path) if basename(path) in ANYWHERE and not path.startswith(".") else ""
        for piece in _pieces(files.text_of(path)):
            if (text := _rule(piece)) is None:
                continue
            whole = _short(f"In {shown(folder)}/: {text}" if folder else text)
            found.setdefault(re.sub(r"\W+", " ", text.casefold()).strip(), ProjectRule(whole, shown(path), piece.line))
            if len(found) == MAX_RULES:
                return list(found.values())
    return list(found.values())


def _rule_files(files: Workspace) -> list[str]:
    """The files for agents, those nearest to the top first; then the files for people."""
    first = [path for path in (*ANYWHERE, *AT_THE_TOP) if path in files.own]
    first += sorted(path for path in files.own if path.startswith(FOLDERS) and path.endswith((".md", ".mdc")))
    nested = [path for path in files.own if basename(path) in ANYWHERE and path not in first]
    nested.sort(key=lambda path: (path.count("/"), path))
    return [*first, *nested, *(path for path in LAST if path in files.own)][:MAX_FILES]


def _pieces(text: str) -> Iterator[_Piece]:
    """Bullets, and the sentences of paragraphs; without code, tables, quotes, comments and front matter."""
    heading, under = "", dict[int, str]()
    for block, line in _blocks(text):
        if title := HEADING.match(block):
            heading, under = _plain(title[1]), {}
        elif bullet := BULLET.match(block):
            depth, words = len(bullet[1].expandtabs(4)), _plain(bullet[2])
            above = [under[at] for at in sorted(under) if at < depth]
            under = {at: said for at, said in under.items() if at < depth}
            if words.endswith(":"):
                under[depth] = words
            else:
                yield _Piece(words, line, heading, True, above[-1] if above else "")
        else:
            under = {}
            for sentence in SENTENCE.split(_plain(block)):
                yield _Piece(sentence, line, heading, False)


def _blocks(text: str) -> Iterator[tuple[str, int]]:
    """Headings, bullets with their continuation lines, and paragraphs, each with the number of its first line."""
    open_block, began, fence = "", 0, ""
    lines = [line[:MAX_LINE] for line in _without_comments(text).splitlines()[:MAX_LINES]]
    matter = _front_matter(lines)
    for number, line in enumerate(lines, 1):
        mark = FENCE.match(line)
        is_code = bool(fence) or mark is not None or number <= matter
        if mark and (not fence or fence == mark[1]):
            fence = "" if fence else mark[1]
        stops = is_code or not line.strip() or line.lstrip().startswith(("|", ">", "<"))
        begins = HEADING.match(line) or BULLET.match(line)
        if open_block and (stops or begins):
            yield open_block, began
            open_block = ""
        if stops:
            continue
        if HEADING.match(line):
            yield line, number
        elif open_block:
            open_block += " " + line.strip() if len(open_block) < MAX_LINE else ""
        elif not line.startswith(("    ", "\t")) or begins:
            open_block, began = line, number
    if open_block:
        yield open_block, began


def _without_comments(text: str) -> str:
    """The text without HTML comments, with the same line numbers."""
    first, *rest = text.split("<!--")
    kept = [first]
    for piece in rest:
        comment, _, after = piece.partition("-->")
        kept += ["\n" * comment.count("\n"), after]
    return "".join(kept)


def _front_matter(lines: list[str]) -> int:
    """The number of lines of the front matter."""
    if not lines or lines[0].strip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:50], 2) if line.strip() == "---"), 0)


def _plain(text: str) -> str:
    """The text without Markdown's marks, except for code."""
    text = LINK.sub(r"\1", text)
    text = re.sub(r"\*\*|__(?=\w)|(?<=\w)__(?!\w)", "", text)
    return " ".join(text.split())


def _rule(piece: _Piece) -> str | None:
    """A piece's text if it is a rule for code."""
    text = piece.text.strip(" -–—")
    words = CODE.sub(" ", text)
    negative = NEGATIVE.match(piece.under) or NEGATIVE.match(piece.heading)
    if not _says_enough(text, words, bool(negative)) or COMMAND.match(text) or PROCESS.search(words):
        return None
    if piece.is_bullet and negative:
        label = (piece.under or piece.heading).rstrip(":")
        return text if STRONG.search(words) else f"{label}: {text}"
    orders = IN_BULLETS if piece.is_bullet and not text.startswith("`") else STRONG
    said = orders.search(words)
    if not (said or IMPERATIVE.match(text) or (BARE.match(text) and piece.is_bullet)):
        of_rules = OF_RULES.search(piece.under or piece.heading) and not OTHER.search(piece.heading)
        if not (piece.is_bullet and of_rules and not _describes(text)):
            return None
    return f"{piece.under} {text}" if piece.under and len(piece.under) <= 80 else text


def _says_enough(text: str, words: str, under_a_ban: bool) -> bool:
    """Whether there is more than code, and no question."""
    if text.endswith(("?", ":")) or len(text) < 5:
        return False
    return len(re.findall(r"[^\W\d_]{2,}", words)) >= (0 if under_a_ban else 2)


def _describes(text: str) -> bool:
    """Whether it describes a file or a command."""
    return re.match(r"`[^`]*`\s*(?:[-–—:=(]|is\b|are\b|contains?\b|holds?\b)", text) is not None


def _short(text: str) -> str:
    if len(text) <= MAX_RULE:
        return text
    return text[: MAX_RULE - 1].rsplit(" ", 1)[0] + "…"

"""What is taken out of texts before a judge sees them: invisible characters, names of makers, and words to readers.

1. Everything is escaped (`escape`): no text may draw lines, turn them round or hide characters.
2. Everything is blinded (`without_names`): judges must not know who did the work.
3. A second view has bare code alone (`bare_code`). Whatever talks to a judge does so in words, and a judge that decides
   otherwise without them has listened (see injection.py). What is kept is what code needs, not what looks harmless:
   words to a reader have too many places to list. Lines stay where they are, so that pointers mean the same
   in both views. Every pass is linear: the work is hostile, and may be made to be slow to read.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orvl.score.judges.injection import USUAL, is_loaded, is_ordinary, is_suspicious, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.types import Agent

INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, and what Unicode says to ignore where it cannot be shown."""
PLACEHOLDER = "hidden_name"
"""What stands for a name: code in which a name was a part of an identifier still is code."""
MAX_NAME = 200
MIN_NAME = 2
"""Letters and digits of a name: a single letter tells nothing about who did the work."""
LONG_NAME = 5
FAMILIES = (
    ("claude", "anthropic", "sonnet", "haiku", "opus"),
    ("openai", "gpt", "chatgpt", "codex"),
    ("gemini", "google", "deepmind", "gemma"),
    ("qwen", "alibaba", "tongyi", "dashscope", "bailian"),
    ("kimi", "moonshot", "moonshotai"),
    ("glm", "zhipu", "zai", "z.ai", "z-ai", "bigmodel", "chatglm"),
    ("grok", "xai", "x.ai", "x-ai"),
    ("deepseek",),
    ("llama",),
    ("mistral", "mistralai", "devstral", "codestral", "magistral"),
    ("copilot",),
    ("opencode", "sst", "zen"),
    ("aider",),
    ("cline",),
    ("kilo", "kilocode"),
    ("cursor", "anysphere"),
    ("openrouter",),
)
"""Words of vendors and products that go together: whoever has one of them in a name is told by all of them."""
MAKER_WORDS = frozenset(word for family in FAMILIES for word in family)
TELLING = frozenset(
    ["anthropic", "chatgpt", "claude", "deepseek", "kilocode", "openai", "opencode", "openrouter", "qwen"]
)
"""Words that mean nothing else: they are hidden whoever did the work, also inside of longer words."""
CUT = "…"
MAX_TEXT = 200_000
MAX_SIMPLE = 24
MAX_WORDS = 3
MAX_NAME_WORDS = 4
C_LIKE = {
    *("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "java", "c", "h", "cc", "cpp", "hpp", "cs", "go", "rs"),
    *("swift", "kt", "kts", "scala", "dart", "css", "scss", "less", "proto", "groovy", "zig"),
}
HASH = {"py", "pyi", "rb", "pl", "r", "ex", "exs", "jl", "nix", "gd"}
SHELL = {"sh", "bash", "zsh", "ps1", "mk", "makefile", "dockerfile", "justfile", "procfile"}
DASH = {"sql", "lua", "hs", "elm"}
MARKUP = {"html", "htm", "vue", "svelte", "xml", "svg", "astro", "xhtml"}
DATA = {"yml", "yaml", "toml", "ini", "cfg", "conf", "env", "properties", "tf"}
JSON = {"json", "jsonc", "json5"}
FILE_KINDS = C_LIKE | HASH | SHELL | DASH | MARKUP | DATA | JSON
OPENERS = {
    "c": r'"""|["\'`]|//|/\*|<!--',
    "hash": r'"""|\'\'\'|["\'`]|\#|^=begin\b|^__END__\b',
    "shell": r'["\'`]|(?:^|(?<=[\s;&|(]))\#|<<-?',
    "dash": r'["\'`]|--\[\[|\[\[|--|/\*|\{-|\#',
    "json": r'"|\'|//|/\*|\#',
}
CLOSERS = {
    "/*": "*/",
    "<!--": "-->",
    "--[[": "]]",
    "[[": "]]",
    "{-": "-}",
    '"""': '"""',
    "'''": "'''",
    "`": "`",
    "=begin": "\n=end",
    "__END__": "\0",
    "<<": "\0",
    "<<-": "\0",
}
UNTIL = {mark: re.compile(rf"(?:[^{mark}\\\n]++|\\.)*+", re.DOTALL) for mark in ("'", '"')}
CODES = re.compile(r"(?:\b(?:0x[0-9a-fA-F]{2}|\d{2,3})\b[\s,]{1,8}){5,}")
"""Rows of numbers that may be letters."""
SIMPLE = re.compile(r"[\w./:#%@+*=?&$~^-]*", re.ASCII)
COMMON = frozenset(
    [
        *("agent", "auto", "base", "bot", "build", "chat", "check", "code", "coder", "custom", "default", "dev"),
        *("fast", "file", "files", "fixed", "free", "good", "large", "latest", "local", "max", "mini", "model"),
        *("name", "nobody", "none", "other", "plain", "pro", "project", "run", "runner", "small", "tool", "tools"),
        *("turbo", "user"),
    ]
)
"""Names that are words of any work: they tell nothing about who did it."""
ORDINARY = frozenset(
    [
        *("above", "active", "agents", "all", "ambient", "any", "arrow", "atomic", "bad", "balanced", "bash", "best"),
        *("big", "blue", "brick", "broken", "bug", "cheap", "cli", "cloud", "coding", "command", "compound", "cosmos"),
        *("deep", "demo", "dots", "dummy", "duo", "echo", "edit", "editor", "efficient", "embed", "empty", "example"),
        *("fake", "faster", "fix", "flash", "frontier", "fusion", "git", "github", "gitlab", "global", "green"),
        *("hello", "high", "honest", "hyper", "inference", "instruct", "io", "labs", "lite", "low", "medium", "merge"),
        *("meta", "micro", "mock", "modal", "morph", "motif", "multi", "my", "nan", "nano", "neon", "next", "node"),
        *("no", "north", "npm", "old", "one", "open", "our", "pickle", "pixel", "preview", "program", "prompt"),
        *("python", "quick", "red", "ring", "route", "router", "routing", "sample", "script", "seed", "shell"),
        *("simple", "slow", "smart", "solar", "some", "space", "step", "super", "swift", "synthetic", "task", "team"),
        *("text", "the", "thinking", "tiny", "titan", "trinity", "two", "ui", "universal", "vision", "web", "work"),
        *("worker", "write", "writer", "your", "zero"),
    ]
)
"""Words that tell nothing where they are only a part of a name."""
LAUNCHERS = frozenset(["bun", "bunx", "deno", "docker", "env", "npx", "pipx", "podman", "ruby", "sh", "uv", "uvx"])
"""Programs that run others, with those of `ORDINARY`."""
CONSTANTS = (
    r"(?<![\w.])(?:(?:math|Math|cmath|np|numpy|jnp|torch|sympy|numbers|consts)(?:\.|::)(?:pi|PI|Pi)|M_PI)(?![\w])"
    r"|&[A-Za-z]{2,8};"
)
"""Names of libraries and of characters that any work may use."""
JOINED_AFTER = (
    *("agent", "ai", "api", "app", "bot", "chat", "cli", "client", "code", "coder", "coding", "config", "fast", "gpt"),
    *("home", "ignore", "key", "lib", "lite", "llm", "mini", "model", "modes", "pro", "provider", "proxy", "rc"),
    *("rules", "runner", "sdk", "server", "session", "settings", "tool", "tools", "user"),
)
JOINED_BEFORE = ("ask", "my", "our", "run", "use")
"""Words that stand right before or after a name in an identifier without any sign of where the name ends."""
KEYWORDS = frozenset(
    [
        *("abstract", "and", "as", "async", "await", "begin", "by", "case", "catch", "class", "const", "create"),
        *("default", "def", "delete", "do", "elif", "else", "end", "enum", "except", "export", "extends", "final"),
        *("finally", "for", "from", "func", "function", "group", "if", "implements", "import", "in", "insert"),
        *("instanceof", "interface", "into", "is", "join", "lambda", "let", "match", "mut", "namespace", "new"),
        *("not", "null", "of", "on", "or", "order", "override", "package", "primary", "private", "protected"),
        *("public", "pub", "raise", "readonly", "return", "select", "set", "static", "struct", "switch", "table"),
        *("then", "throw", "throws", "try", "type", "typeof", "union", "update", "use", "using", "values", "var"),
        *("void", "when", "where", "while", "with", "yield", "int", "string", "bool", "float", "key", "integer"),
    ]
)


# -- invisible characters


def escape(text: str) -> str:
    """Writes characters that break lines, turn them round or cannot be seen as escapes; line feeds and tabs stay."""
    lines = text.replace("\r\n", "\n")
    return INVISIBLE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), lines)


def one_line(path: str) -> str:
    """A path or request on one line, not too long."""
    plain = escape(path).replace("\n", "\\n").replace("\t", "\\t")
    return plain if len(plain) <= MAX_NAME else plain[: MAX_NAME - 1] + "…"


# -- names


def names_of(agent: str, model: str, model_id: str, provider: str, known: Agent | None = None) -> tuple[str, ...]:
    """What would tell who did the work. `none`, the provider of agents without a model, is a word of any work."""
    agent_and_overlays = [part.split("@")[0] for part in agent.split("+")]
    programs = _programs(known) if known else ()
    return (agent, *agent_and_overlays, model, model_id, *(() if provider == "none" else (provider,)), *programs)


def _programs(agent: Agent) -> list[str]:
    """The program and the package that an agent's file names first, which may have another name than the file."""
    packages = [re.split("==|(?<=.)@", them[0])[0] for them in agent.install.values() if them]
    names = [PurePosixPath(word).name for word in (*agent.version[:1], *packages)]
    return [name for name in names if name.rstrip("0123456789.") not in LAUNCHERS | ORDINARY | COMMON]


def without_names(text: str, names: tuple[str, ...], prompts: tuple[str, ...] = ()) -> str:
    """Replaces what tells who did the work: as a word, or as a part of an identifier, in any case.

    `pi` is hidden in `piAgent`, `PI_HOME`, `use-pi` and `pibot`, and not in `pipe` or `api`. A name that the task
    itself uses stays: an eval about the OpenAI API could not be judged otherwise.
    """
    pattern = _pattern(names, prompts)
    if pattern is None:
        return text
    pieces, at = [], 0
    # The folded text has as many characters, so that what is found in it is in the same place in the text itself.
    for match in pattern.finditer(folded(text)):
        if match.lastgroup == "constant":
            continue
        pieces += [text[at : match.start()], PLACEHOLDER]
        at = match.end()
    return "".join([*pieces, text[at:]])


MARK = "\u0300"
UNSEEN = rf"{MARK}|\\u[0-9a-fA-F]{{4}}|\\x[0-9a-fA-F]{{2}}|\\U[0-9a-fA-F]{{8}}|\\r"
"""What may stand between any two letters of a folded text: marks, and what cannot be seen and has been escaped."""
STARTS = (
    r"(?:(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Za-z])"
    r"|(?<=\\[abfnrtv0])|(?<=\\u[0-9a-fA-F]{4})|(?<=\\x[0-9a-fA-F]{2})|"
    + f"(?<=[{''.join(word[-1] + word[-1].upper() for word in JOINED_BEFORE)}])(?:"
    + "|".join(f"(?<=(?<![A-Za-z]){word})" for word in (*JOINED_BEFORE, *map(str.upper, JOINED_BEFORE)))
    + "))"
)
ENDS = (
    r"[sS]?(?:(?![A-Za-z0-9])|(?=[0-9])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    f"|(?=(?:{'|'.join(JOINED_AFTER)})(?![a-z]))|(?=(?:{'|'.join(JOINED_AFTER).upper()})(?![A-Z])))"
)
VERSION = r"(?:(?i:[-_.@]?v?|\s+v(?=\d)|\s(?=\d+\.\d))\d+(?:[._-]\d+)*(?:[a-z](?![A-Za-z]))?)?"


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...], prompts: tuple[str, ...]) -> re.Pattern[str] | None:
    """All that is hidden, the longest first; nothing where there are no names, as for a control."""
    if not names:
        return None
    parts: dict[str, None] = {}
    for name in map(folded, names):
        words = re.findall(r"[^\W\d_]+|\d+", name.rsplit("/", 1)[-1])
        told = "".join(words).lower()
        if len(told) >= MIN_NAME and not (len(words) == 1 and told in COMMON | KEYWORDS | USUAL | FILE_KINDS):
            parts[f"(?:[-_./ ]|{UNSEEN})*".join(map(_letters, words))] = None
        if (part := _telling_part(name)) is not None:
            parts[_letters(part)] = None
    own = {word.lower() for name in names for word in re.findall("[A-Za-z]+", name)}
    parts |= dict.fromkeys(_letters(word) for family in FAMILIES if own & {*family} for word in family)
    own_texts = [folded(prompt) for prompt in prompts]

    def hidden(spelled: Iterable[str], form: str) -> str:
        kept = [one for one in spelled if not any(re.search(form.format(one), prompt) for prompt in own_texts)]
        return form.format("|".join(sorted(kept, key=len, reverse=True))) if kept else ""

    bounded = hidden(parts, f"{STARTS.replace('{', '{{').replace('}', '}}')}(?:{{}}){ENDS}")
    anywhere = hidden(map(_letters, sorted(TELLING)), "(?:{})")
    forms = "|".join(form for form in (bounded, anywhere) if form)
    # Most characters begin no name, which is seen at once.
    begin = "".join({sign for one in (*parts, *map(_letters, TELLING)) for sign in _first(one)} | set("&CMcjmnst"))
    return re.compile(f"(?=[{begin}])(?:(?P<constant>{CONSTANTS})|(?:{forms}){VERSION})") if forms else None


def _telling_part(name: str) -> str | None:
    """The first part of a name of several that is no ordinary word: `minimax` of `minimax-m2`, `o3` of `o3-mini`."""
    parts = re.split(r"[-_.@+ ]", name.rsplit("/", 1)[-1])
    telling = [part.lower() for part in parts if re.fullmatch(r"[A-Za-z]{3,}\d*|[A-Za-z]\d", part)]
    ordinary = COMMON | ORDINARY | KEYWORDS | USUAL | FILE_KINDS
    return next((part for part in telling if part.rstrip("0123456789") not in ordinary), None) if parts[1:] else None


def _letters(word: str) -> str:
    """A word in one piece, or a long one also as `co-dex`, `c o d e x`, `c0dex`; `p.i` and `z_e_n` are other things."""
    # A set of both cases is found much faster than a letter whose case is ignored.
    if len(word) < LONG_NAME:
        return f"(?:{UNSEEN})*".join(map(_either_case, word))
    signs = [f"[{LOOKS_LIKE[one]}]" if one in LOOKS_LIKE else _either_case(one) for one in word.lower()]
    joined, spread = f"(?:[-_]|{UNSEEN})*".join(signs), "[ .*·]".join(signs)
    return f"(?:{joined}|{spread})"


def _first(pattern: str) -> str:
    """The signs with which what a pattern of `_letters` finds may begin."""
    bare = pattern.removeprefix("(?:")
    return bare[1 : bare.index("]")] if bare.startswith("[") else bare[0]


def _either_case(sign: str) -> str:
    return f"[{sign}{sign.swapcase()}]" if sign.isalpha() else re.escape(sign)


def folded(text: str) -> str:
    """The text with letters that only look like others, such as Cyrillic or accented ones, as these others.

    Marks over and under letters are one and the same in it. It is as long as the text.
    """
    return text if text.isascii() else text.translate(FOLDING)


LOOKS_LIKE = {"i": "iI1l", "l": "lLI1", "o": "oO0"}


LOOKALIKES = {
    "abcdehijkmopqstuwxy": "авсԁеһіјкморԛѕтцԝху",
    "aeiknoptuvx": "αεικηορτυνχ",
    "ABCEHIJKMOPSTXY": "АВСЕНІЈКМОРЅТХУ",
    "ABEHIKMNOPTXYZ": "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖ",
    "ACEHIJKLMPSTWZ": "ᎪᏟᎬᎻᏆᎫᏦᏞᎷᏢᏚᎢᏔᏃ",
    "abcdefghijklmnoprtuvwyz": "ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ",
    "acdghijlnoqu": "ɑϲđɡհıϳӏոօգս",
    "dlho": "ɖłħø",
}
"""Letters, and those of Cyrillic, Greek, Cherokee and others that look like them."""


class _Folding(dict[int, str]):
    """The plain letter of each character, or the character; fills itself."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        base = unicodedata.normalize("NFKD", sign)[0]
        plain = base if base.isascii() and base.isalnum() else sign
        self[code] = MARK if unicodedata.category(sign) in ("Mn", "Me") else plain
        return self[code]


FOLDING = _Folding(
    {ord(alike): plain for row, others in LOOKALIKES.items() for plain, alike in zip(row, others, strict=True)}
)


# -- bare code


def bare_code(path: str, text: str, known: frozenset[str] = frozenset()) -> str:
    """A file without comments, prose, texts and sentences in names; one of an unknown language is empty lines.

    `known` are the words of the task: names may use these beside ordinary ones.
    """
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + _newlines(text[MAX_TEXT:])
    name = PurePosixPath(path).name.lower()
    kind = name.rpartition(".")[2] if "." in name.lstrip(".") else name.lstrip(".")
    families = (("c", C_LIKE), ("hash", HASH), ("shell", SHELL), ("dash", DASH), ("json", JSON))
    family = next((known for known, kinds in families if kind in kinds), None)
    if family:
        bare = _code(text, family)
    elif kind in MARKUP:
        bare = _markup(text)
    elif kind in DATA:
        bare = "\n".join(map(_setting, text.split("\n")))
    else:
        bare = _newlines(text)
    names = _NameNumbers(known)
    bare = CODES.sub(CUT, re.sub(r"[^\x00-\x7f…]+", CUT, bare))
    bare = re.sub(r"[A-Za-z_$][\w$]*", names.short, bare, flags=re.ASCII)
    if not is_suspicious(bare):
        return bare
    return "\n".join("" if is_suspicious(line) else line for line in bare.split("\n"))


class _NameNumbers:
    """Replaces names that are sentences, or of unknown words, by numbers: the same name by the same number."""

    def __init__(self, known: frozenset[str]) -> None:
        self._words = known
        self._known: dict[str, str] = {}

    def short(self, match: re.Match[str]) -> str:
        name = match[0]
        if name not in self._known:
            words = words_of(name)
            says_nothing = len(words) <= MAX_NAME_WORDS and not is_loaded(words) and is_ordinary(words, self._words)
            self._known[name] = name if says_nothing else f"name_{len(self._known) + 1}"
        return self._known[name]


@cache
def _openers(family: str) -> re.Pattern[str]:
    return re.compile(OPENERS[family], re.MULTILINE)


def _code(text: str, family: str) -> str:
    """Code without comments; a string stays where it is one simple word.

    `run` counts strings with nothing but commas between them: a list of single words is a sentence, too.
    """
    pieces: list[str] = []
    at, run = 0, 0
    while opener := _openers(family).search(text, at):
        between = text[at : opener.start()]
        end, inner = _closed(text, opener)
        is_comment = inner is None
        run = 0 if re.search(r"[^\s,+(\[]", between) else run
        run += not is_comment
        pieces.append(_without_prose(between))
        pieces.append(_newlines(text[opener.start() : end]) if is_comment else _string(opener[0], inner or "", run))
        at = end
    return "".join([*pieces, _without_prose(text[at:])])


def _closed(text: str, opener: re.Match[str]) -> tuple[int, str | None]:
    """Where a comment or string ends, and a string's content; what is not closed goes on to the end."""
    mark, start = opener[0], opener.end()
    if mark in ('"', "'"):
        content = UNTIL[mark].match(text, start)
        end = content.end() if content else start
        return min(len(text), end + (text[end : end + 1] == mark)), text[start:end]
    if mark not in CLOSERS:
        end = text.find("\n", start)
        return (len(text) if end < 0 else end), None
    end = text.find(CLOSERS[mark], start)
    last = len(text) if end < 0 else end + len(CLOSERS[mark])
    is_text = mark in ('"""', "'''", "`")
    return last, text[start : len(text) if end < 0 else end] if is_text else None


def _string(quote: str, inner: str, run: int) -> str:
    if _is_simple(inner) and (run <= MAX_WORDS or not inner.isalpha()):
        return f"{quote}{inner}{quote}"
    return f"{quote}{CUT}{_newlines(inner)}{quote}"


def _is_simple(text: str) -> bool:
    """Whether a text is one short word, or a few joined, that say nothing to a judge."""
    words = words_of(text)
    is_short = len(text) <= MAX_SIMPLE and len(words) <= MAX_WORDS
    return is_short and SIMPLE.fullmatch(text) is not None and not is_loaded(words)


def _without_prose(code: str) -> str:
    """Cuts rows of bare words, which code does not have."""
    pieces = re.split(r"([^A-Za-z'’.!?\s]+|[.'’!?](?=\S)|\n)", code)
    return "".join(_unless_prose(piece) for piece in pieces)


def _unless_prose(piece: str) -> str:
    words = [word.strip("'’.!?").lower() for word in piece.split()]
    bare = sum(bool(word) and word not in KEYWORDS for word in words)
    return f" {CUT} " if bare > MAX_WORDS else piece


def _markup(text: str) -> str:
    """Tags, with simple attributes; scripts and styles as code; no text."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<", at)) >= 0:
        pieces.append(_text_node(text[at:start]))
        if text.startswith("<!--", start):
            at = _after(text, "-->", start)
            pieces.append(_newlines(text[start:at]))
            continue
        at = _after(text, ">", start)
        tag = text[start:at]
        is_tag = re.match(r"</?[A-Za-z][\w:.-]{0,40}(?=[\s/>])", tag)
        pieces.append(_code(tag, "json") if is_tag else _newlines(tag))
        raw = re.match(r"<(script|style)\b", tag, re.IGNORECASE)
        if raw and not tag.endswith("/>"):
            close = re.compile(f"</{raw[1]}", re.IGNORECASE).search(text, at)
            end = close.start() if close else len(text)
            pieces.append(_code(text[at:end], "c"))
            at = end
    return "".join([*pieces, _text_node(text[at:])])


def _after(text: str, mark: str, start: int) -> int:
    end = text.find(mark, start)
    return len(text) if end < 0 else end + len(mark)


def _text_node(text: str) -> str:
    return CUT + _newlines(text) if text.strip() else text


def _setting(line: str) -> str:
    """A line of settings: the key, and the value if it is one simple word."""
    match = re.match(r"(\s*(?:- )?)([\w.\"'\[\]-]{1,40}\s*[:=]\s*)?(.*)", line, re.DOTALL)
    assert match is not None
    key, value = match[2] or "", match[3].strip().strip("\"'")
    if not _is_simple(value) or value.startswith("#"):
        return f"{match[1]}{key}{CUT if value and not value.startswith('#') else ''}"
    return f"{match[1]}{key}{match[3]}"


def _newlines(text: str) -> str:
    """The line feeds of a text alone, so that what follows keeps its line number."""
    return "\n" * text.count("\n")

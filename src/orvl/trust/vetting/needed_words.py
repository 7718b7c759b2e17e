"""The words that a check needs of the work: those that it has written down itself, and that pass between the two.

Names, flags, keys, status codes and messages are both in the check's own text and in what it asks or gets. Inputs that
are made up are only in the one, and sentences about failures only in the other.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import decimal
import io
import json
import keyword
import pathlib
import random
import re
import sys
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import basename
from typing import TYPE_CHECKING, Any

from orvl.trust.mutate.syntax import is_prose, language_of
from orvl.trust.vetting.check_code import CheckCode, parsed
from orvl.trust.vetting.inputs import arguments, code_in, decoded, leaves, listed, requests_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orvl.trust.vetting.bench import Exchange

WORD = re.compile(r"(?<!\w)(?:[^\W\d_][\w-]*\w|_[\w-]+)")
"""What begins with a digit is a number of something: what stands behind its digits is no word."""
FLAG = re.compile(r"--?[A-Za-z][\w-]*")
FILE_NAME = re.compile(
    r"(?:[\w-]+/)*[\w-]+\.(?:py|js|mjs|ts|json|csv|html|css|txt|md|sh|db|sqlite|toml|ya?ml|sql|log)\b"
)
CALLED = re.compile(r"\.([A-Za-z_]\w*)\s*\(|[(,]\s*([A-Za-z_]\w*)=(?!=)")
ESCAPE = re.compile(r"\\+(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrt])")
SELECTOR = re.compile(r"#([\w-]+)")
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
ANSWER = re.compile(rb"(?=HTTP/1\.[01] \d{3} )")
SEGMENT = re.compile(r"[A-Za-z][\w-]+")
DIGEST = re.compile(r"[0-9a-f]{16,64}")
"""Sums of content, or what is left of them after their first digits: nobody has to be told them."""
STEP_WORDS = frozenset(
    ("text", "value", "into", "in", "no", "css", "has-text", "error", "dark", "background", "sideways", "scrolling")
)
"""The language of steps."""
COMMON = {
    *keyword.kwlist,
    *dir(builtins),
    *(name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind)),
    *(name for module in (io, json, datetime, decimal, pathlib, random, re) for name in dir(module)),
    *("weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "timedelta", "isoformat"),
    *("HTTP", "Host", "Content-Type", "Content-Length", "Connection", "Accept", "application", "json", "localhost"),
    *("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "charset", "utf-8", "close", "Error", "error"),
    *("true", "false", "null", "raises", "is", "Traceback", "OK", "Ran", "FAILED", "test", "tests"),
}
"""Words of programming that mean the same everywhere."""


@dataclass
class NeededWords:
    """Of one check, from what it asked of good work and what came back."""

    code: CheckCode
    exchanges: Iterable[Exchange]
    asked: set[str] = field(default_factory=set)
    """Words of the interface that it uses: flags, names of files, keys, functions, paths."""
    told: set[str] = field(default_factory=set)
    """Words that came back."""
    made_up: list[str] = field(default_factory=list)
    """The letters of its inputs, which the work may only repeat."""
    statuses: set[int] = field(default_factory=set)
    beside: set[str] = field(default_factory=set)
    """Code of its own that it runs beside the work."""
    own_names: set[str] = field(default_factory=set)
    """Names that its own code beside the work defines."""

    def words(self) -> set[str]:
        """What the work must know."""
        for one in self.exchanges:
            self._take(one)
        written = self._written
        found = {word for word in self.asked if word in written or word in self._file_names}
        inputs = " ".join(self.made_up)
        found |= {word for word in self.told if word in written and letters_of(word) not in inputs}
        numbers = {str(status) for status in self.statuses & self.code.numbers}
        found = {word for word in found if len(word) > 1 and not DIGEST.fullmatch(word)}
        return found - COMMON - self.own_names | numbers

    @cached_property
    def _written(self) -> frozenset[str]:
        """All words that stand in the check's own texts."""
        found: set[str] = set()
        for text in self.code.strings - self.code.programs:
            found |= words_in(text)
        return frozenset(found)

    @cached_property
    def _file_names(self) -> frozenset[str]:
        return frozenset(basename(name) for code in self.beside for name in FILE_NAME.findall(code))

    # -- one exchange

    def _take(self, exchange: Exchange) -> None:
        request, answer = exchange.request, exchange.answer
        what = request.get("do")
        if what in ("run", "start"):
            self._command(request)
        elif what == "write":
            content = decoded(request.get("content"))
            self.asked |= keys_in(content)
            self.made_up += [letters_of(content), letters_of(basename(str(request.get("path"))))]
        elif what == "read" and answer.get("content") is not None:
            self.asked.add(basename(str(request.get("path"))))
        elif what == "connect":
            self._connection(bytes(request.get("sent", b"")), bytes(answer.get("received", b"")))
        elif what == "browse":
            for step in request.get("steps", ()):
                self._step(str(step))
        if not (what == "read" and is_prose_or_code(str(request.get("path")))):
            self._answer(answer)

    def _command(self, request: Any) -> None:
        words, code, stdin = arguments(request), code_in(request), decoded(request.get("input"))
        script = [str(word) for word in request.get("argv", ()) if FILE_NAME.fullmatch(str(word))]
        self.asked |= {basename(name) for name in script if name not in words}
        self.asked |= {str(name) for name in request.get("env", {})}
        if words and SEGMENT.fullmatch(words[0]) and words[0].islower():
            self.asked.add(words[0])
        texts = [*words, *(leaves(listed(stdin)) if listed(stdin) is not None else (stdin,))]
        for text in texts:
            self.asked |= {flag for flag in FLAG.findall(text) if text.startswith(flag)}
            self.made_up += [letters_of(text), letters_of(ESCAPE.sub("", text))]
        if stdin and listed(stdin) is None:
            self.asked |= keys_in(stdin)
        if code:
            self._code(code, texts)

    def _code(self, code: str, questions: Iterable[str]) -> None:
        """Code that the check runs beside the work, and questions that it gives to that code."""
        self.beside.add(code)
        self.asked |= {basename(name) for name in FILE_NAME.findall(code)}
        tree = parsed(code)
        if tree is None:
            return
        modules = set(_imported(tree)) - set(sys.stdlib_module_names)
        self.own_names |= set(_defined(tree)) - modules
        self.asked |= modules | set(_attributes(tree, modules))
        for text in questions:
            self.asked |= {name for match in CALLED.findall(text) for name in match if name}

    def _connection(self, sent: bytes, received: bytes) -> None:
        for target, body in requests_in(sent):
            self.asked |= set(SEGMENT.findall(target)) | keys_in(body)
        self.made_up.append(letters_of(sent.decode("utf-8", "replace")))
        self.statuses |= {int(status) for status in STATUS.findall(received)}
        for answer in ANSWER.split(received):
            text = answer.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
            self.told |= words_in(text) | keys_in(text)

    def _step(self, step: str) -> None:
        self.asked |= set(SELECTOR.findall(step))
        self.told |= words_of_step(step)

    def _answer(self, answer: Any) -> None:
        status = answer.get("status")
        if isinstance(status, int) and 0 < status < 126:
            self.statuses.add(status)
        for name in ("stdout", "stderr", "content"):
            text = decoded(answer.get(name))
            if "Traceback" in text:
                continue  # the words of Python
            found = listed(text.splitlines()[-1]) if text.strip() else None
            self.told |= keys_in(text).union(*map(words_in, [text] if found is None else leaves(found)))
            self.statuses |= {number for number in _numbers(found) if 0 < number < 126}


def words_of_step(step: str) -> set[str]:
    """What a step in the browser expects to find on the page."""
    verb, _, rest = step.partition(" ")
    if verb in ("open", "view", "press", "screenshot"):
        return set()
    return words_in(rest.partition(" into ")[2] if verb == "type" else rest) - STEP_WORDS


def letters_of(text: str) -> str:
    """A text without case, accents, digits and all that stands between words: what is made of an input has the same."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if sign.isalpha())


def is_prose_or_code(path: str) -> bool:
    """Whether the words of a file say nothing of what must be in it."""
    return is_prose(path) or language_of(path) is not None


def words_in(text: str) -> set[str]:
    return (
        set(WORD.findall(text))
        | {flag for flag in FLAG.findall(text) if flag in text.split()}
        | {basename(name) for name in FILE_NAME.findall(text)}
    )


def keys_in(text: str) -> set[str]:
    """The keys of a JSON text, or the head of a table."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    found: set[str] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            found |= {str(key) for key in one if isinstance(key, str) and WORD.fullmatch(key)}
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def _numbers(value: Any) -> Iterator[int]:
    """The first number of each row: how a call ended, where several are told at once."""
    for row in value if isinstance(value, list) else ():
        if isinstance(row, list) and row and type(row[0]) is int:
            yield row[0]


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]


def _attributes(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield node.attr

"""What a check's command names, as far as that is plain: the hidden files it runs, and the program it calls first."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HIDDEN = re.compile(r"(?:\./|\$CHECKS/|\$\{CHECKS\}/)?(?:checks/)?([\w./+@-]+)")
OPERATORS = frozenset("();<>|&")
HARMLESS = frozenset(("cd", "set", "test", "[", ":", "true", "echo", "printf"))
"""Words of the shell after which the same programs can be called as before."""
WORDS_OF_THE_SHELL = frozenset(
    (
        *(".", "!", "{", "}", "alias", "break", "case", "command", "continue", "do", "done", "elif", "else", "esac"),
        *("eval", "exec", "exit", "export", "false", "fi", "for", "function", "getopts", "hash", "if", "in", "jobs"),
        *("kill", "local", "pwd", "read", "readonly", "return", "select", "shift", "source", "then", "time", "times"),
        *("trap", "type", "typeset", "ulimit", "umask", "unset", "until", "wait", "while"),
    )
)


def missing_file(command: str, folder: Path | None, prompts: Sequence[str]) -> str | None:
    """A sentence on a file in `checks/` that a command names and the eval lacks; None where there is none.

    The file may also be one of the workspace, or one that a prompt asks for.
    """
    hidden = sorted(_files(folder / "checks")) if folder else []
    for word in _words(command):
        is_path = word.startswith(("checks/", "./checks/", "$CHECKS/", "${CHECKS}/"))
        match = HIDDEN.fullmatch(word) if is_path else None
        name = match[1] if match else ""
        if not name or name in hidden or (folder and (folder / "checks" / name).is_dir()):
            continue
        if (folder and (folder / "workspace" / "checks" / name).exists()) or any(name in text for text in prompts):
            continue
        if not hidden:
            return f"it runs checks/{name}, but the eval has no folder checks/. Put the file there."
        return f"there is no checks/{name}. {did_you_mean(name, hidden)}"
    return None


def program_called(command: str) -> str | None:
    """The first program that a command calls by name; None where that is not plain, or may be missing."""
    for words, end in _simple_commands(command):
        while words and re.match(r"(?!PATH=)\w+=", words[0]):
            words = words[1:]
        if not words or words[0] in HARMLESS:
            continue
        name = words[0]
        is_plain = re.fullmatch(r"[\w.+-]+", name) and name not in WORDS_OF_THE_SHELL
        return name if is_plain and end != "||" and "(" not in end else None
    return None


def _simple_commands(command: str) -> Iterator[tuple[list[str], str]]:
    """The commands of the first line, each with the operator after it."""
    lines = [line for line in command.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    words: list[str] = []
    for word in _words(lines[0]) if lines else []:
        if OPERATORS.issuperset(word):
            yield words, word
            words = []
        else:
            words.append(word)
    yield words, ""


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def _files(folder: Path) -> Iterator[str]:
    return (str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())

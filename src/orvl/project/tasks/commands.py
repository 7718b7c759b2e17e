"""What shell commands of a task would install or fetch, as far as that is plain; they are read, never run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orvl.errors import TaskRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 256 << 10
OPERATORS = frozenset("();<>|&\n")
BEFORE = frozenset(("sudo", "then", "do", "else", "if", "while", "!", "{", "time", "exec", "command"))
URL = re.compile(r"(?:https?|ftp|git)://[^\s'\"`)>;|\\]+|git@[\w.-]+:", re.ASCII)
UV_HOSTS = ("astral.sh",)
"""Whose script installs `uv`, which orvl stands in for."""
PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+", re.ASCII)
REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:[<>=!~]=?=?[\w.*,<>=!~+-]+)?", re.ASCII)
TAKE_A_VALUE = frozenset(
    (
        *("-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "-f", "--find-links"),
        *("-t", "--target", "--prefix", "--root", "--python", "-p", "-w", "--with", "--from", "-o", "--option"),
        *("--with-requirements", "--group", "--index", "--timeout", "--retries", "--proxy", "--trusted-host"),
    )
)
NEEDLESS = frozenset(
    (
        *("apt-transport-https", "apt-utils", "asciinema", "ca-certificates", "dialog", "gnupg", "locales"),
        *("software-properties-common", "sudo", "tmux", "tzdata"),
    )
)
"""Packages that images have for the tools around a task, or for installing others."""


@dataclass
class Wanted:
    """What commands install: Debian packages, Python packages for the system or for uv's own environments, and files of
    requirements."""

    debian: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
    isolated: list[str] = field(default_factory=list)
    requirements: list[str] = field(default_factory=list)
    uses_pip: bool = False
    uses_uv: bool = False
    uses_npm_globally: bool = False
    uses_git: bool = False


def hosts_in(script: str) -> list[str]:
    """The hosts that commands name in addresses."""
    found = []
    for match in URL.finditer(script):
        address = match[0]
        if address.startswith("git@"):
            found.append(address[4:-1])
            continue
        try:
            found.append(urlsplit(address).hostname or address)
        except ValueError:
            found.append(address[:80])
    return found


def wanted_by(script: str, *, has_registries: bool = False) -> Wanted:
    """What a script installs. Where it does not reach registries itself, a package that cannot be told is refused."""
    wanted = Wanted()
    for words in simple_commands(script):
        _look_at(words, wanted, has_registries=has_registries)
    return wanted


def simple_commands(script: str) -> Iterator[list[str]]:
    """The simple commands of a script, word by word; texts in lines below (`<<`) and comments are left out."""
    if len(script) > LONGEST:
        raise TaskRefused(f"a script has more than {LONGEST >> 10} KiB")
    for line in _logical_lines(script):
        words: list[str] = []
        for word in _words(line):
            if OPERATORS.issuperset(word):
                yield from _begun(words)
                words = []
            else:
                words.append(word)
        yield from _begun(words)


def _begun(words: list[str]) -> Iterator[list[str]]:
    while words and (words[0] in BEFORE or re.match(r"\w+=", words[0])):
        words = words[1:]
    if words:
        yield words


def _logical_lines(script: str) -> Iterator[str]:
    lines = iter(re.sub(r"\\\n", " ", script).split("\n"))
    for line in lines:
        if line.lstrip().startswith("#"):
            continue
        yield line
        for match in re.finditer(r"<<-?\s*['\"]?([A-Za-z_]\w*)['\"]?", line):
            for text in lines:
                if text.strip() == match[1]:
                    break


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        return list(lexer)
    except ValueError:
        # A quoted text that goes on in the next line; what it holds is no command of its own.
        return line.split()


def _look_at(words: Sequence[str], wanted: Wanted, *, has_registries: bool) -> None:
    name, rest = words[0].rpartition("/")[2], list(words[1:])
    if name in ("apt-get", "apt", "aptitude") and "install" in rest:
        wanted.debian += _debian(rest[rest.index("install") + 1 :])
    elif name in ("apk", "yum", "dnf", "pacman", "zypper", "conda", "mamba", "brew"):
        raise TaskRefused(f"it installs with {name}, which this machine's packages cannot stand in for")
    elif has_registries and name in ("uv", "uvx"):
        wanted.uses_uv = True
    elif re.fullmatch(r"python[\d.]*", name) and rest[:2] == ["-m", "pip"]:
        _pip(rest[2:], wanted, has_registries=has_registries)
    elif re.fullmatch(r"pip[\d.]*", name):
        _pip(rest, wanted, has_registries=has_registries)
    elif name == "uvx" or (name == "uv" and rest[:2] == ["tool", "run"]):
        _uvx(rest[2:] if name == "uv" else rest, wanted)
    elif name == "uv":
        _uv(rest, wanted)
    elif name in ("npm", "pnpm", "yarn"):
        wanted.uses_npm_globally |= bool({"-g", "--global", "global"} & set(rest))
    elif name == "git" and {"init", "clone", "commit"} & set(rest):
        wanted.uses_git = True


def _debian(words: Sequence[str]) -> Iterator[str]:
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in ("-t", "-o", "-c", "--target-release", "--option")
            continue
        package = re.split("[=/:]", word)[0]
        if not PACKAGE.fullmatch(package):
            raise TaskRefused(f"the package '{word[:60]}' that it installs cannot be told")
        if package not in NEEDLESS:
            yield package


def _pip(words: Sequence[str], wanted: Wanted, *, has_registries: bool) -> None:
    wanted.uses_pip = True
    if "install" in words and not has_registries:
        wanted.python += _requirements(words[list(words).index("install") + 1 :], wanted)


def _uv(words: Sequence[str], wanted: Wanted) -> None:
    wanted.uses_uv = True
    if not words:
        return
    rest = list(words[1:])
    if words[0] == "pip" and "install" in rest:
        wanted.isolated += _requirements(rest[rest.index("install") + 1 :], wanted)
    elif words[0] in ("add", "tool"):
        wanted.isolated += _requirements([word for word in rest if word != "install"], wanted)
    elif words[0] == "run":
        wanted.isolated += _with(rest)


def _uvx(words: Sequence[str], wanted: Wanted) -> None:
    """`uvx -w PACKAGE … COMMAND`: the command is a package, too, unless it is said from which it comes."""
    wanted.uses_uv = True
    wanted.isolated += _with(words)
    command, *_ = [*_after_options(words), ""]
    if command and not {"--from"} & set(words):
        wanted.isolated.append(_requirement(command.replace("@", "==", 1).removesuffix("==latest")))


def _with(words: Sequence[str]) -> Iterator[str]:
    for word, value in zip(words, [*words[1:], ""], strict=True):
        option, _, given = word.partition("=")
        if option in ("-w", "--with", "--from") and (given or value):
            yield from (_requirement(part) for part in (given or value).split(","))
        if option in ("--with-requirements", "--with-editable"):
            raise TaskRefused(f"what '{option}' of uv installs cannot be told")


def _after_options(words: Sequence[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in TAKE_A_VALUE else 1
    return list(words[at:])


def _requirements(words: Sequence[str], wanted: Wanted) -> Iterator[str]:
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in TAKE_A_VALUE:
            value = words[at] if at < len(words) else ""
            at += 1
            if word in ("-r", "--requirement"):
                wanted.requirements.append(value)
        elif not word.startswith("-"):
            yield _requirement(word)


def _requirement(word: str) -> str:
    if word.startswith((".", "/")) or not REQUIREMENT.fullmatch(word):
        raise TaskRefused(f"the Python package '{word[:60]}' that it installs cannot be told")
    return word

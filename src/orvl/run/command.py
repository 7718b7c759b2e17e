"""From what an agent's `command` returns to an argv in which every value is one argument, byte for byte.

The values that a command gets leave a placeholder where they are formatted into a string. The string is then split
into words, and only afterwards the placeholders become what they stand for: nothing in a prompt, a path or a session
id can start a new word, and no shell is ever asked.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from orvl.errors import FileError, InvalidCommand
from orvl.project.overlays import FILE, file_in_home
from orvl.run.merging import merged
from orvl.types import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.types import AgentEndpoint, Overlay

LONGEST_PROMPT_ARGUMENT = 100 * 1024
FOR_SHELLS = ("&&", "||", "|", ">", ">>", "<", "2>&1")
PLAIN_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
IN_THE_WAY = ", and what leads the agent to its model would be lost."
PLACEHOLDER = re.compile("\ue000orvl:([0-9a-f]*)\ue001")


class Word(str):
    """Text that stays one piece wherever it is put into a command."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return placeholder(format(str.__str__(self), spec))

    def __str__(self) -> str:
        return placeholder(str.__str__(self))

    def __add__(self, other: str) -> str:
        return placeholder(str.__str__(self)) + other

    def __radd__(self, other: str) -> str:
        return other + placeholder(str.__str__(self))

    def __getitem__(self, place: Any) -> Word:
        return Word(str.__getitem__(self, place))

    def strip(self, signs: str | None = None) -> Word:
        return Word(str.strip(self, signs))

    def lstrip(self, signs: str | None = None) -> Word:
        return Word(str.lstrip(self, signs))

    def rstrip(self, signs: str | None = None) -> Word:
        return Word(str.rstrip(self, signs))


class Arguments(tuple[str, ...]):
    """The words that overlays add to a command; in an f-string they stay as many words as they are."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return " ".join(map(placeholder, self))

    def __str__(self) -> str:
        return format(self)


class CommandPath(type(Path())):  # type: ignore[misc]
    """A path that stays one piece wherever it is formatted into a command."""

    __slots__ = ()
    outside = inside = ""

    def __format__(self, spec: str) -> str:
        return placeholder(format(str(self), spec))

    def __str__(self) -> str:
        """The path as the command sees it."""
        path = self.__fspath__()
        return self.inside + path[len(self.outside) :] if self.outside and path.startswith(self.outside) else path

    def __fspath__(self) -> str:
        """The path as Python sees it, when `command` itself opens it."""
        return Path.__str__(self)


def folder(outside: Path, inside: Path) -> Path:
    """A folder that lies in one place and is seen by the command in another."""
    kind = type("CommandPath", (CommandPath,), {"__slots__": (), "outside": str(outside), "inside": str(inside)})
    return cast(Path, kind(outside))


def placeholder(text: str) -> str:
    """What stands for a text until words are split; a text that is one plain word stands for itself."""
    return text if PLAIN_WORD.fullmatch(text) else _mark(text)


def _mark(text: str) -> str:
    return f"\ue000orvl:{text.encode('utf-8', 'surrogateescape').hex()}\ue001"


def fill(text: str) -> str:
    """Text with its placeholders replaced by what they stand for."""
    if isinstance(text, Word):
        return str.__str__(text)
    return PLACEHOLDER.sub(lambda found: bytes.fromhex(found[1]).decode("utf-8", "surrogateescape"), text)


def to_command(returned: Any, prompt: str) -> Command:
    """A string, a list or a Command, as a Command that can be run."""
    command = returned if isinstance(returned, Command) else Command(argv=returned)
    argv = _words(command.argv, prompt)
    stdin = _content(command.stdin, "stdin") if command.stdin is not None else None
    if len(prompt.encode("utf-8", "surrogateescape")) > LONGEST_PROMPT_ARGUMENT:
        argv, stdin = _long_prompt(argv, prompt, stdin)
    if "\0" in "".join(argv):
        raise InvalidCommand("an argument holds a NUL byte")
    return Command(argv=argv, env=_env(command.env), files=_files(command.files), stdin=stdin)


def _words(argv: Any, prompt: str) -> list[str]:
    if isinstance(argv, str):
        words = _split(str.__str__(argv), prompt)
    elif isinstance(argv, list | tuple):
        words = [_word(word) for word in argv]
    else:
        raise InvalidCommand(f"a command must be a string, a list of words or a Command, and is {argv!r}")
    if not words:
        raise InvalidCommand("the command is empty")
    if mistake := _mistake(words, prompt, is_line=isinstance(argv, str)):
        raise InvalidCommand(mistake)
    return [fill(word) for word in words]


def _mistake(words: Sequence[str], prompt: str, *, is_line: bool) -> str | None:
    """What was surely not meant, and what to write instead: an f-string without its f, or words for a shell."""
    written = [word for word in words if not isinstance(word, Word)]
    if "{prompt}" not in prompt and any("{prompt}" in word for word in written):
        return "the agent would get '{prompt}' instead of the prompt; write f before the string's first quote"
    first = str.__str__(words[0])
    if re.match(r"~|\$", first):
        return f"no shell reads the command, so {first!r} stays as it is; write the whole path"
    if re.match(r"[A-Za-z_]\w*=", first):
        return f"no shell reads the command, so {first!r} sets no variable; return Command(argv, env={{…}})"
    sign = next((word for word in words if word in FOR_SHELLS), None) if is_line else None
    if sign:
        return f"no shell reads the command, so {sign!r} does nothing; return ['sh', '-c', 'the line', 'sh', prompt]"
    return None


def _split(line: str, prompt: str) -> list[str]:
    """The words of a line. A prompt that got into it without its placeholder (by `" ".join`, say) is given one."""
    marked = line.replace(prompt, _mark(prompt))
    try:
        words = shlex.split(line)
    except ValueError as error:
        if marked == line:
            raise InvalidCommand(f"the command cannot be split into words ({error})") from error
        return _split(marked, prompt)
    if marked == line or any(prompt in fill(word) for word in words):
        return words
    return _split(marked, prompt)


def _word(word: Any) -> str:
    if isinstance(word, str):
        return word
    if isinstance(word, PurePosixPath | int | float) and not isinstance(word, bool):
        return str(word)
    raise InvalidCommand(f"a word of a command must be text, and is {word!r}")


def _long_prompt(argv: list[str], prompt: str, stdin: str | bytes | None) -> tuple[list[str], str | bytes | None]:
    """A prompt that is too long for an argument goes to standard input."""
    if prompt in argv[1:] and stdin is None:
        return [argv[0], *(word for word in argv[1:] if word != prompt)], prompt
    if any(prompt in word for word in argv):
        raise InvalidCommand(
            f"the prompt has {len(prompt.encode('utf-8', 'surrogateescape')) // 1024} KiB, too long for an argument; "
            "return Command(argv, stdin=prompt)"
        )
    return argv, stdin


def _env(env: Any) -> dict[str, str]:
    filled = {fill(str(name)): fill(_word(value)) for name, value in dict(env).items()}
    for name, value in filled.items():
        if not name or "=" in name or "\0" in name + value:
            raise InvalidCommand(f"the environment variable {name!r} cannot be set")
    return filled


def _files(files: Any) -> dict[str, str | bytes]:
    filled: dict[str, str | bytes] = {}
    for name, content in dict(files).items():
        path = PurePosixPath(fill(str(name)))
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise InvalidCommand(f"the file {str(path)!r} must lie in the run's home folder")
        filled[str(path)] = _content(content, str(path))
    return filled


def _content(content: Any, name: str) -> str | bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return fill(content)
    raise InvalidCommand(f"the content of {name!r} must be text or bytes, and is {content!r}")


# -- overlays


def arguments_of(overlays: Sequence[Overlay]) -> Arguments:
    return Arguments(word for one in overlays for word in one.arguments)


def laid_over(
    command: Command, overlays: Sequence[Overlay], endpoint: AgentEndpoint | None, reserved: Mapping[str, str]
) -> Command:
    """A command with its overlays' variables over its own, and with its files as the overlays' HOME wants them.

    What leads the agent to its model stays: JSON and TOML are merged, anything else that holds it may not be replaced.
    """
    env, files = dict(command.env), dict(command.files)
    held = (endpoint.url.removesuffix("/v1"), endpoint.key) if endpoint else ()
    for overlay in overlays:
        for name, value in overlay.env.items():
            place = (overlay.path / FILE, None)
            if name in reserved:
                raise FileError(*place, f"'env' may not set {name!r}: orvl sets it for this run.")
            mistake = FileError(*place, f"'env' sets {name!r}{IN_THE_WAY}")
            own = env.get(name)
            env[name] = value if own is None else _joined(own, value, held, mistake, name, overlay.path / FILE)
    for name, content in command.files.items():
        found = {one.path: file for one in overlays if (file := file_in_home(one, name)) is not None}
        for path, over in list(found.items())[-1:]:
            mistake = FileError(path / "home" / name, None, f"the agent writes this file too{IN_THE_WAY}")
            files[name] = _joined(content, over, held, mistake, name, path / "home" / name)
    return replace(command, env=env, files=files)


def with_arguments(argv: Sequence[str], arguments: Sequence[str], prompt: str) -> list[str]:
    """A command's words with further ones where it takes options.

    That is before the `--` that ends them; else at the end, or before a prompt at the end and the option that takes it.
    """
    place = len(argv)
    if ends := _end_of_options(argv, prompt):
        place = ends
    elif place > 1 and argv[-1].strip() == prompt.strip():
        place -= 1
        if place > 1 and argv[place - 1].startswith("-"):
            place -= 1
    return [*argv[:place], *arguments, *argv[place:]]


def _end_of_options(argv: Sequence[str], prompt: str) -> int | None:
    """Where the last `--` is, unless options follow it: then it is a launcher's, and what comes next is the agent."""
    known = argv[:-1] if argv[-1].strip() == prompt.strip() else argv
    places = [place for place, word in enumerate(known) if word == "--" and place]
    has_options = bool(places) and any(word.startswith("-") for word in known[places[-1] + 1 :])
    return places[-1] if places and not has_options else None


def _joined(
    own: str | bytes, over: str | bytes, held: Sequence[str], mistake: FileError, name: str, place: Path
) -> str:
    """Two contents in one; `mistake` where what is held would be lost."""
    mine, theirs = (one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one for one in (own, over))
    mine, theirs = merged(mine, theirs, name, place)
    if any(one in mine and one not in theirs for one in held):
        raise mistake
    return theirs

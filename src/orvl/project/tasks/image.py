"""A Dockerfile of a known base → what runs begin with: files, commands for the setup, variables, folders.

Programs come from this machine instead of the image, so the base must be one whose programs are known, and what it
installs from Debian must be here. Everything else is refused with the line and the reason.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orvl.errors import TaskRefused
from orvl.project.places import wrong_place, wrong_variable
from orvl.project.tasks.commands import Wanted, hosts_in, wanted_by
from orvl.project.tasks.context import BuildContext
from orvl.project.tasks.dockerfile import parse, replaced

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from orvl.project.tasks.dockerfile import Instruction

REGISTRY = re.compile(r"docker\.io/(?:library/)?|library/|public\.ecr\.aws/docker/library/|mirror\.gcr\.io/library/")
TERMINAL_BENCH = re.compile(r"ghcr\.io/laude-institute/t-bench/(ubuntu|python|debian)-(\d+)(?:-(\d+))?(?::.*)?")
UV_IMAGE = re.compile(r"(?:ghcr\.io/astral-sh|docker\.io/astral)/uv(?:[:@].*)?")
NO_TOOLCHAIN = ("debian", "ubuntu", "buildpack-deps")
TOOLCHAINS = {
    "python": "python3",
    "node": "node",
    "golang": "go",
    "rust": "cargo",
    "gcc": "gcc",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "openjdk": "java",
    "eclipse-temurin": "java",
    "amazoncorretto": "java",
    "maven": "mvn",
    "gradle": "gradle",
}
"""Known bases, and the program that each brings."""
VERSIONED = {"python", "node", "golang", "openjdk", "eclipse-temurin", "amazoncorretto", "ruby"}
"""Bases whose tag is the version of that program."""
SILENT = ("LABEL", "MAINTAINER", "EXPOSE", "STOPSIGNAL", "CMD", "USER", "VOLUME")
"""What means nothing here. Harbor itself starts no CMD."""
SYSTEM = re.compile(r"/(?:etc|usr|opt|lib|lib32|lib64|bin|sbin|boot|sys)(?:/|$)")
HARMLESS = re.compile(
    r"/(?:etc/(?:apt/|os-release|ssl/certs|localtime|timezone|passwd|group|hosts$)|usr/bin/env\b|bin/(?:ba)?sh\b"
    r"|usr/share/zoneinfo|var/(?:lib/(?:apt|dpkg)|cache|log/apt|tmp))"
)
"""Paths of the system's that are read, or whose change means nothing here."""
ABSOLUTE = re.compile(r"(?<![\w.:/~}$*-])/(?:[\w.+@-]+/)*[\w.+@-]+/?", re.ASCII)
TEMPORARY = "/tmp"
KEPT_VARIABLES = ("PATH", "HOME")


@dataclass(frozen=True)
class RunLine:
    """A command of the image's, to be run by the setup."""

    line: int
    folder: str
    argv: tuple[str, ...]
    variables: Mapping[str, str]


@dataclass(frozen=True)
class FileCopy:
    """A file of the build context, or a text of the Dockerfile's own, and where the image has it."""

    target: str
    source: Path | None
    text: str = ""
    line: int = 0
    mode: int | None = None


@dataclass
class TaskImage:
    """What is left of a Dockerfile."""

    base: str = ""
    toolchain: str = ""
    version: tuple[int, ...] = ()
    workdir: str = "/"
    env: dict[str, str] = field(default_factory=dict)
    copies: list[FileCopy] = field(default_factory=list)
    runs: list[RunLine] = field(default_factory=list)
    wanted: Wanted = field(default_factory=Wanted)
    paths: list[str] = field(default_factory=list)
    """Absolute paths that its commands name."""
    hosts: list[str] = field(default_factory=list)


def image_of(text: str, environment: Path, registries: Collection[str]) -> TaskImage:
    """Reads a Dockerfile, with the folder that it is built from."""
    return _Builder(BuildContext(environment), registries).built(text)


class _Builder:
    def __init__(self, context: BuildContext, registries: Collection[str]) -> None:
        self.context = context
        self.registries = registries
        self.image = TaskImage()
        self.arguments: dict[str, str] = {}
        self.shell: tuple[str, ...] = ("/bin/sh", "-c")

    def built(self, text: str) -> TaskImage:
        for instruction in parse(text):
            word = instruction.word
            if not self.image.base and word not in ("ARG", "FROM"):
                raise instruction.wrong("the first instruction must be FROM")
            if word in SILENT:
                continue
            way = getattr(self, f"_{word.lower()}", None)
            if way is None:
                raise instruction.wrong(f"{word} cannot be had here")
            way(instruction)
        if not self.image.base:
            raise TaskRefused("environment/Dockerfile has no FROM")
        return self.image

    # -- instructions

    def _from(self, instruction: Instruction) -> None:
        image = self.image
        if image.base:
            raise instruction.wrong("it is built in several stages")
        name = self._replaced(instruction.rest).split()[0] if instruction.rest else ""
        image.base = name
        image.toolchain, image.version = _known_base(name, instruction)
        self.arguments = {}

    def _arg(self, instruction: Instruction) -> None:
        for word in _pairs(instruction, with_values=False):
            name, _, value = word.partition("=")
            self.arguments[name] = self._replaced(value)

    def _env(self, instruction: Instruction) -> None:
        for word in _pairs(instruction, with_values=True):
            name, _, value = word.partition("=")
            if name == "HOME":
                raise instruction.wrong("it moves the home folder")
            if why := wrong_variable(name, value):
                raise instruction.wrong(f"the variable {name[:40]} cannot be set: {why}")
            known = {**self.arguments, **self.image.env}
            earlier = known.pop("PATH", "${PATH}")
            value = replaced(value, known, KEPT_VARIABLES)
            if "$" in re.sub(r"\$\{(?:PATH|HOME)\}", "", value):
                raise instruction.wrong(f"the value of {name} has a '$' in it")
            self.image.env[name] = value.replace("${PATH}", earlier) if name == "PATH" else value

    def _workdir(self, instruction: Instruction) -> None:
        self.image.workdir = self._path(self._replaced(instruction.rest), instruction)
        self.image.paths.append(self.image.workdir)

    def _shell(self, instruction: Instruction) -> None:
        words = instruction.json() or []
        if not words or words[0].rpartition("/")[2] not in ("sh", "bash") or "-c" not in words[-1]:
            raise instruction.wrong("its commands are run by another shell than sh or bash")
        self.shell = tuple(words)

    def _run(self, instruction: Instruction) -> None:
        for flag, value in instruction.flags:
            if flag == "mount" and "type=cache" not in value and "type=tmpfs" not in value:
                raise instruction.wrong("it mounts something while it is built")
            if flag not in ("mount", "network"):
                raise instruction.wrong(f"--{flag} of RUN cannot be had here")
        script = self._script(instruction)
        self._look_at(script, instruction)
        variables = {**self.arguments, **self.image.env}
        argv = tuple(instruction.json() or (*self.shell, script))
        self.image.runs.append(RunLine(instruction.line, self.image.workdir, argv, variables))

    def _copy(self, instruction: Instruction) -> None:
        flags = dict(instruction.flags)
        if "from" in flags:
            if UV_IMAGE.fullmatch(flags["from"]):
                self.image.wanted.uses_uv = True
                return
            raise instruction.wrong("it copies from another image")
        mode = int(flags["chmod"], 8) if re.fullmatch("[0-7]{3,4}", flags.get("chmod", "")) else None
        words = [self._replaced(word) for word in instruction.words()]
        if len(words) < 2:
            raise instruction.wrong(f"{instruction.word} needs a source and a target")
        *sources, target = words
        is_folder = target.endswith(("/", "/.")) or target in (".", "./")
        target = self._path(target, instruction)
        for heredoc in instruction.heredocs:
            text = heredoc.text if heredoc.is_plain else self._replaced(heredoc.text)
            place = f"{target}/{heredoc.name}" if is_folder else target
            self.image.copies.append(FileCopy(place, None, text, instruction.line, mode))
        if not instruction.heredocs:
            self._copy_files(sources, target, instruction, mode, is_folder=is_folder or len(sources) > 1)

    def _add(self, instruction: Instruction) -> None:
        sources = instruction.words()[:-1]
        if any(hosts_in(source) for source in sources):
            raise instruction.wrong("it downloads a file")
        if any(re.search(r"\.(?:tar|tgz|tbz2|txz|tar\.\w+)$", source) for source in sources):
            raise instruction.wrong("ADD unpacks an archive")
        self._copy(instruction)

    def _copy_files(
        self, sources: list[str], target: str, instruction: Instruction, mode: int | None, *, is_folder: bool
    ) -> None:
        found = [one for source in sources for one in self.context.matching(source, instruction)]
        if not found:
            raise instruction.wrong(f"there is no {sources[0][:80]} in environment/")
        is_folder = is_folder or len(found) > 1
        for path, name in found:
            if path.is_dir():
                self.image.copies += [
                    FileCopy(f"{target}/{inner}", source, line=instruction.line, mode=mode)
                    for inner, source in self.context.files_below(name)
                ]
                if not any(True for _ in self.context.files_below(name)):
                    self.image.paths.append(target)
            else:
                place = f"{target}/{path.name}" if is_folder else target
                self.image.copies.append(FileCopy(place, path, line=instruction.line, mode=mode))

    # -- words

    def _script(self, instruction: Instruction) -> str:
        if listed := instruction.json():
            return shlex.join(listed)
        if not instruction.heredocs:
            return instruction.rest
        first = instruction.heredocs[0]
        if re.fullmatch(r"<<-?[\"']?\w+[\"']?", instruction.rest):
            return first.text
        below = "".join(f"{one.text}{one.name}\n" for one in instruction.heredocs)
        return f"{instruction.rest}\n{below}"

    def _look_at(self, script: str, instruction: Instruction) -> None:
        image = self.image
        for host in hosts_in(script):
            image.hosts.append(host)
            if host not in self.registries:
                raise instruction.wrong(f"it fetches from {host[:80]}, which no sandbox reaches")
        try:
            wanted = wanted_by(script, has_registries=True)
        except TaskRefused as refused:
            raise instruction.wrong(str(refused)) from refused
        if wanted.uses_git:
            raise instruction.wrong("it makes a git history; here the agent's files begin with one commit")
        image.wanted.debian += wanted.debian
        image.wanted.uses_pip |= wanted.uses_pip
        image.wanted.uses_uv |= wanted.uses_uv
        image.wanted.uses_npm_globally |= wanted.uses_npm_globally
        for path in ABSOLUTE.findall(script):
            if HARMLESS.match(path):
                continue
            if SYSTEM.match(path):
                raise instruction.wrong(f"it uses {path[:80]}, which is the system's and cannot be written here")
            image.paths.append(path.rstrip("/"))

    def _path(self, text: str, instruction: Instruction) -> str:
        """An absolute path without `.` and `..`."""
        parts: list[str] = []
        for part in PurePosixPath(self.image.workdir, text.strip("\"'") or ".").parts[1:]:
            if part == "..":
                parts = parts[:-1]
            elif part != ".":
                parts.append(part)
        path = "/" + "/".join(parts)
        if SYSTEM.match(path):
            raise instruction.wrong(f"{path} is the system's and cannot be written here")
        if not path.startswith(f"{TEMPORARY}/") and path != TEMPORARY and parts and (why := wrong_place(path)):
            raise instruction.wrong(f"{path[:80]} cannot be a folder of a run: {why}")
        return path

    def _replaced(self, text: str) -> str:
        return replaced(text, {**self.arguments, **self.image.env})


def _pairs(instruction: Instruction, *, with_values: bool) -> list[str]:
    """`NAME=VALUE …`, or the old form of ENV, `NAME VALUE`."""
    rest = instruction.rest
    if with_values and not re.match(r"[\"']?\w+[\"']?=", rest):
        name, _, value = rest.partition(" ")
        return [f"{name}={value.strip()}"]
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise instruction.wrong(f"its quotes do not match ({error})") from error
    for word in words:
        if not re.match(r"[A-Za-z_]\w*(=|$)", word, re.ASCII) or (with_values and "=" not in word):
            raise instruction.wrong(f"'{word[:40]}' is no variable with its value")
    return words


def _known_base(name: str, instruction: Instruction) -> tuple[str, tuple[int, ...]]:
    """The program that a base image brings, and the version that it must have."""
    if match := TERMINAL_BENCH.fullmatch(name):
        is_python = match[1] == "python"
        return ("python3", (int(match[2]), int(match[3] or 0))) if is_python else ("", ())
    plain = REGISTRY.sub("", name, count=1) if REGISTRY.match(name) else name
    repository, _, tag = plain.partition("@")[0].partition(":")
    if repository in NO_TOOLCHAIN:
        return "", ()
    if repository not in TOOLCHAINS:
        raise instruction.wrong(
            f"the base image {name[:80]} is not known here; known are {', '.join(sorted((*NO_TOOLCHAIN, *TOOLCHAINS)))}"
        )
    version = re.match(r"\d+(?:\.\d+)?", tag) if repository in VERSIONED else None
    return TOOLCHAINS[repository], tuple(map(int, version[0].split("."))) if version else ()

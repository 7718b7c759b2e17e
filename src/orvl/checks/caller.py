"""Runs beside a program of the agent's and calls it again and again, each time in a process of its own.

Such a process is a fork of this one, which spares it Python's start, and what the program imports and compiles to. In
it, the program finds what it finds under `python3 -I -B -X utf8`, but for the packages that the machine may have.
Nothing here knows what is right.
"""

from __future__ import annotations

import builtins
import gc
import json
import os
import resource
import signal
import site
import sys
import time
import warnings
from _io import _IOBase as IOBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, TracebackType
    from typing import Any

KEPT = 50_000
"""Bytes of what a call prints to one stream."""
LARGEST_FILE = 4_000_000
"""For what never stops printing."""
SHORTEST = 0.1
STREAMS = 9
"""The three standard streams, each of a text, a buffer and a file."""
ONLY_TREE = 0x400
SHARED = frozenset(
    (
        *("argparse", "bisect", "calendar", "collections", "collections.abc", "contextlib", "copy", "csv"),
        *("dataclasses", "datetime", "decimal", "difflib", "enum", "errno", "fnmatch", "fractions"),
        *("functools", "glob", "hashlib", "heapq", "io", "itertools", "json", "keyword"),
        *("math", "numbers", "operator", "os", "os.path", "pathlib", "random", "re"),
        *("shlex", "shutil", "stat", "statistics", "string", "sys", "tempfile", "textwrap"),
        *("time", "traceback", "types", "typing", "unicodedata", "warnings"),
    )
)
"""Modules that are the same whether a program has imported them itself or finds them there."""
LATER = {"argparse": ("locale", "shutil"), "datetime": ("_strptime",)}
"""What these import as soon as they are used."""


def main(program: str, seconds: float, each: float) -> None:
    """Makes the calls on standard input; all of them together may take so long, and each one."""
    with open(0, "rb", closefd=False) as file:
        calls = json.loads(file.read())
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    program = os.path.abspath(program)
    source, code = prepared(program)
    for give in (site.setquit, site.setcopyright, site.sethelper):
        give()
    gc.freeze()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    until, rows = time.monotonic() + seconds, []
    for number, call in enumerate(calls):
        files = [given_file(call, number), new_file(number), new_file(number)]
        began = time.monotonic()
        child = os.fork()
        if not child:
            become(program, source, code, call, files)
            return
        status, cut, memory = awaited(child, max(min(began + each, until), began + SHORTEST))
        out, err = (os.pread(fd, KEPT, 0).decode("utf-8", "surrogateescape") for fd in files[1:])
        for fd in files:
            os.close(fd)
        rows.append([status, out, err, cut, time.monotonic() - began, memory])
    print("\n" + json.dumps(rows))


# -- before the calls


def prepared(program: str) -> tuple[bytes | None, CodeType | None]:
    """The program's source, and its code; no code where each call must see for itself what is wrong with it."""
    try:
        with open(program, "rb") as file:
            source = file.read()
    except OSError:
        return None, None
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            tree: Any = compile(source, program, "exec", ONLY_TREE, dont_inherit=True)
            code = compile(tree, program, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source, None
    for name in imported(tree):
        __import__(name)
    return source, None if said else code


def imported(tree: Any) -> list[str]:
    """The modules that a program imports first of all and that may be shared."""
    names: list[str] = []
    for node in tree.body:
        kind = type(node).__name__
        if kind == "Import":
            names += [alias.name for alias in node.names]
        elif kind == "ImportFrom" and not node.level:
            names.append(node.module)
    names = [name for name in names if name in SHARED]
    return names + [later for name in names for later in LATER.get(name, ())]


# -- a call


def new_file(number: int) -> int:
    """A file without a name: in memory where that can be, for a busy disk is slow."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("call")
    path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f".call-{os.getpid()}-{number}")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return fd


def given_file(call: dict[str, Any], number: int) -> int:
    """What a call finds on its standard input."""
    if "input" not in call:
        return os.open(os.devnull, os.O_RDONLY)
    fd = new_file(number)
    content = call["input"].encode("utf-8", "surrogateescape")
    while content:
        content = content[os.write(fd, content) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def awaited(child: int, until: float) -> tuple[int | None, str | None, int]:
    """How a call ended: its status, the limit that ended it, and its most memory."""
    cut = None
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            return code, cut, usage.ru_maxrss << 10
        left = until - time.monotonic()
        if left <= 0:
            cut, left = "time", 1.0
            os.kill(child, signal.SIGKILL)
        signal.sigtimedwait([signal.SIGCHLD], left)


# -- in the process of a call


def become(program: str, source: bytes | None, code: CodeType | None, call: dict[str, Any], files: list[int]) -> None:
    """Becomes a process of the program; returning from here, Python ends it as it ends any."""
    known = set(sys.modules)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for number, fd in enumerate(files):
        os.dup2(fd, number)
        os.close(fd)
    os.makedirs(call.get("cwd", "."), exist_ok=True)
    os.chdir(call.get("cwd", "."))
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        made = stream(fd, getattr(sys, name))
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
    sys.argv = [program, *call["words"]]
    names = main_module(program)
    status: Any = 0
    try:
        exec(code if is_same(program, source) and code else compiled(program), names)  # noqa: S102
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        if type(status) is not int or not 0 <= status < 256:
            raise
    except BaseException:
        hook = sys.excepthook
        sys.excepthook = lambda kind, error, trace: hook(kind, error.with_traceback(below(trace)), below(trace))
        raise
    if known.issuperset(sys.modules) and open_files() == STREAMS:
        end_quickly(names, status)
    sys.exit(status)


def open_files() -> int:
    """How many files are open, with what reads and writes them."""
    return sum(issubclass(type(thing), IOBase) and not thing.closed for thing in gc.get_objects())


def end_quickly(names: dict[str, Any], status: int) -> None:
    """Ends a program that has nothing but what all share: to take that apart would take as long as all the rest.

    Where something is odd, it returns, and Python ends it.
    """
    try:
        flush()
        for name in sorted(names, key=lambda name: not name.startswith("_")):
            if name != "__builtins__":
                names[name] = None
        gc.collect()
        flush()
    except BaseException:  # noqa: BLE001
        return
    os._exit(status)


def flush() -> None:
    files: Any = (sys.stdout, sys.stderr, sys.__stdout__)
    for file in files:
        file.flush()


def stream(fd: int, like: Any) -> Any:
    """A standard stream, as Python makes it at its start."""
    how = {"encoding": like.encoding, "errors": like.errors, "newline": "\n", "closefd": False}
    made: Any = open(fd, like.mode, **how)  # noqa: SIM115
    made.buffer.raw.name = like.name
    if like.line_buffering:
        made.reconfigure(line_buffering=True)
    return made


def main_module(program: str) -> dict[str, Any]:
    """The names of a new module `__main__`."""
    kind: Any = type(json.__loader__)
    module = type(sys)("__main__")
    module.__dict__.update(
        __annotations__={},
        __builtins__=builtins,
        __cached__=None,
        __file__=program,
        __loader__=kind("__main__", program),
    )
    sys.modules["__main__"] = module
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = [*sys.orig_argv[: sys.orig_argv.index("-c")], *sys.argv]
    return module.__dict__


def is_same(program: str, source: bytes | None) -> bool:
    """Whether nobody has changed the program since."""
    try:
        with open(program, "rb") as file:
            return file.read() == source
    except OSError:
        return False


def compiled(program: str) -> CodeType:
    try:
        with open(program, "rb") as file:
            return compile(file.read(), program, "exec", dont_inherit=True)
    except OSError as error:
        print(f"{sys.executable}: can't open file {program!r}: {error}", file=sys.stderr)
        sys.exit(2)


def below(trace: TracebackType | None) -> TracebackType | None:
    """What of a traceback is the program's own."""
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    return trace

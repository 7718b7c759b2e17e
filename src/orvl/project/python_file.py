"""Users' Python files: loaded by path, called with only the arguments that they name; a mistake is one sentence."""

from __future__ import annotations

import inspect
import sys
import traceback
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError, FunctionRaised, FunctionTimeout, OrvlError, disk_sentence
from orvl.project import moved
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.abc import Loader
    from types import ModuleType


def load(path: Path, kind: str) -> ModuleType:
    """Runs a user's file and returns its module; leaves no bytecode behind."""
    spec = spec_from_file_location(f"orvl_{kind}_{path.stem.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise FileError(path, None, "this is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        _execute(spec.loader, module)
    except OSError as error:
        if error.filename != str(path):
            raise FileError(path, line_in(path, error), f"{describe(error)}, while the file was loaded.") from error
        raise FileError(path, None, f"it cannot be read ({disk_sentence(error)}).") from error
    except SyntaxError as error:
        known = error.filename is not None and Path(error.filename).is_file()
        place = (error.filename, error.lineno) if known else (path, line_in(path, error))
        raise FileError(place[0] or path, place[1], f"{error.msg}.") from error
    except (Exception, SystemExit) as error:
        raise FileError(path, line_in(path, error), f"{describe(error)}, while the file was loaded.") from error
    finally:
        sys.dont_write_bytecode = before
    return module


def _execute(loader: Loader, module: ModuleType) -> None:
    try:
        loader.exec_module(module)
    except ModuleNotFoundError as error:
        if not moved.provide(error.name):
            raise
        _execute(loader, module)


def line_in(path: Path, error: BaseException) -> int | None:
    """The last line of a user's file that an exception passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def describe(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an exception's own words may fail
        text = ""
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def line_of_name(path: Path, name: str) -> int | None:
    """The line on which a file sets or defines a name at its top level."""
    import ast

    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return None
    for node in body:
        targets: list[ast.AST] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node.lineno
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node.lineno
    return None


def check_returns(path: Path, name: str, gives: str) -> None:
    """Refuses a function that ends without a value: what it gives would be nothing, in silence.

    One that raises, asserts, loops or waits may never end, which shows when it is called.
    """
    import ast

    body = ast.parse(path.read_bytes()).body
    defined = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name]
    if not defined:
        return
    nodes = list(_own_nodes(defined[-1]))
    words = {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in nodes}
    ends = any(isinstance(node, ast.Raise | ast.Assert | ast.While | ast.Yield | ast.YieldFrom) for node in nodes)
    if ends or words & {"sleep", "exit", "_exit", "pause"}:
        return
    if not any(isinstance(node, ast.Return) and node.value is not None for node in nodes):
        line = defined[-1].lineno
        raise FileError(path, line, f"'{name}' has no 'return' with a value, so it gives no {gives}. Add one.")


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """All that is inside of a function, but not what is inside of functions in it."""
    import ast

    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(node)


async def _awaited(result: Any) -> Any:
    return await result


async def _within(done: Any, limit: float, idle: Callable[[], float]) -> tuple[Any, BaseException | None]:
    import asyncio
    import time

    began = time.monotonic()
    while (left := limit + idle() + began - time.monotonic()) > 0:
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(done), left)
    raise FunctionTimeout


class UserFunction:
    """A function from a user's file, which gets only the arguments that it names."""

    def __init__(self, path: Path, name: str, function: Callable[..., Any], may_ask: Sequence[str]) -> None:
        self.path = path
        self.name = name
        self.function = function
        code = getattr(function, "__code__", None)
        self.line = code.co_firstlineno if code else line_of_name(path, name)
        self.by_place: list[str] = []
        self.required: set[str] = set()
        """Arguments that it names without a default."""
        self.wants = self._wants(may_ask)

    def _wants(self, may_ask: Sequence[str]) -> tuple[str, ...]:
        wants = []
        for name, parameter in self._parameters().items():
            if parameter.default is parameter.empty:
                self.required.add(name)
            if parameter.kind is parameter.VAR_KEYWORD:
                return tuple(may_ask)
            if parameter.kind is parameter.POSITIONAL_ONLY and name in may_ask:
                self.by_place.append(name)
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                continue
            if name in may_ask:
                wants.append(name)
            elif parameter.default is parameter.empty:
                label = getattr(self.function, "__name__", "the function")
                raise FileError(
                    self.path,
                    self.line,
                    f"{label} asks for '{name}', but it may only ask for {', '.join(may_ask)}. "
                    f"{did_you_mean(name, may_ask)}",
                )
        return tuple(wants)

    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        try:
            return inspect.signature(self.function).parameters
        except (ValueError, TypeError) as error:
            raise FileError(
                self.path, self.line, f"'{self.name}' is {self.function!r}; it must be a function."
            ) from error

    def asks_for(self, name: str) -> bool:
        return name in self.wants or name in self.by_place

    def __call__(self, **available: Any) -> Any:
        by_place = (available[name] for name in self.by_place)
        return self.function(*by_place, **{name: available[name] for name in self.wants})

    async def here(self, **available: Any) -> Any:
        """Calls one of orvl's own, in this thread and without a limit."""
        try:
            value = self(**available)
            return await value if inspect.isawaitable(value) else value
        except OrvlError:
            raise
        except Exception as error:
            raise FunctionRaised(self.mistake(error)) from error

    async def call(self, limit: float, idle: Callable[[], float] = lambda: 0.0, /, **available: Any) -> Any:
        """Calls it, async or not, in a thread that cannot keep orvl from ending; FunctionTimeout after `limit` seconds.

        `idle` returns the seconds that it spent waiting for others, which do not count.
        """
        import asyncio
        import threading

        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

        def settle(result: tuple[Any, BaseException | None]) -> None:
            if not done.done():
                done.set_result(result)

        def work() -> None:
            value, problem = None, None
            try:
                value = self(**available)
                if inspect.isawaitable(value):
                    value = asyncio.run(_awaited(value))
            except BaseException as error:  # noqa: BLE001 - handed to the waiting side
                problem = error
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, (value, problem))

        threading.Thread(target=work, daemon=True).start()
        value, error = await _within(done, limit, idle)
        if isinstance(error, OrvlError):
            raise error
        if error is not None:
            raise FunctionRaised(self.mistake(error)) from error
        return value

    def mistake(self, error: BaseException) -> FileError:
        """An exception from this function, as a sentence with its place."""
        return FileError(self.path, line_in(self.path, error) or self.line, f"{describe(error)}.")


def function_in(module: ModuleType, name: str, path: Path, may_ask: Sequence[str]) -> UserFunction | None:
    """The function of that name, if the file has one."""
    value = getattr(module, name, None)
    if value is None:
        return None
    if not callable(value):
        raise FileError(path, line_of_name(path, name), f"'{name}' is {value!r}; it must be a function.")
    return UserFunction(path, name, value, may_ask)


def first_line(module: ModuleType) -> str:
    text = inspect.cleandoc(module.__doc__ or "").strip()
    return text.splitlines()[0] if text else ""

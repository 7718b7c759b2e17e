"""Users' Python files: loaded by path, called with only the arguments that they name, wrong in one sentence."""

from __future__ import annotations

import inspect
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType


def load(path: Path, kind: str) -> ModuleType:
    """Runs a user's file and gives its module; leaves no bytecode behind."""
    spec = spec_from_file_location(f"orvl_{kind}_{path.stem.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise FileError(path, None, "this is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise FileError(error.filename or path, error.lineno, f"{error.msg}.") from error
    except (Exception, SystemExit) as error:
        raise FileError(path, line_in(path, error), f"{describe(error)}, while the file was loaded.") from error
    finally:
        sys.dont_write_bytecode = before
    return module


def line_in(path: Path, error: BaseException) -> int | None:
    """The last line of a user's file that an exception passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def line_of_name(path: Path, name: str) -> int | None:
    """The line on which a file sets or defines a name at its top level."""
    import ast

    for node in ast.parse(path.read_text(encoding="utf-8", errors="replace")).body:
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


class UserFunction:
    """A function from a user's file, which gets only the arguments that it names."""

    def __init__(self, path: Path, function: Callable[..., Any], may_ask: Sequence[str]) -> None:
        self.path = path
        self.function = function
        self.line = function.__code__.co_firstlineno if hasattr(function, "__code__") else None
        self.is_async = inspect.iscoroutinefunction(function)
        self.wants = self._wants(may_ask)

    def _wants(self, may_ask: Sequence[str]) -> tuple[str, ...]:
        wants = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                return tuple(may_ask)
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

    def __call__(self, **available: Any) -> Any:
        return self.function(**{name: available[name] for name in self.wants})

    def mistake(self, error: BaseException) -> FileError:
        """An exception from this function, as a sentence with its place."""
        return FileError(self.path, line_in(self.path, error) or self.line, f"{describe(error)}.")


def function_in(module: ModuleType, name: str, path: Path, may_ask: Sequence[str]) -> UserFunction | None:
    """The function of that name, if the file has one."""
    value = getattr(module, name, None)
    if value is None:
        return None
    if not callable(value):
        raise FileError(path, line_of_name(path, name), f"'{name}' must be a function, and is {value!r}.")
    return UserFunction(path, value, may_ask)


def first_sentence(module: ModuleType) -> str:
    text = inspect.cleandoc(module.__doc__ or "").strip()
    return text.splitlines()[0] if text else ""

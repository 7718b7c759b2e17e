"""12. Code of the agent's runs only through the helpers of `orvl.checks`, in a sandbox without the answers.

A check that is not isolated runs beside the work. Of an isolated one, the work is given a trap: code that says so to
orvl if it finds itself where the checker is.
"""

from __future__ import annotations

import ast
from posixpath import splitext
from typing import TYPE_CHECKING

from orvl.trust.mutate.insert import on_top
from orvl.trust.mutate.syntax import is_sound, language_of, text_of
from orvl.trust.vetting.check_code import CheckCode, parsed
from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held
from orvl.trust.vetting.works import Work

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.types import Check

SPRUNG = "the work runs in the checker"
EXECUTES = {
    *("exec", "eval", "compile", "pickle.load", "pickle.loads", "marshal.loads", "runpy.run_path", "runpy.run_module"),
    *("importlib.import_module", "importlib.util.spec_from_file_location", "yaml.load", "yaml.unsafe_load"),
}
PYTHON_TRAP = f"""import os as _os
if "ORVL_SUBJECT" in _os.environ:
    import socket as _socket
    _said = _socket.socket(_socket.AF_UNIX)
    _said.connect(_os.environ["ORVL_SUBJECT"])
    _said.sendall(b'{{"do": "{SPRUNG}"}}\\n')
    _said.recv(99)
"""
SAYS = f'{{"do": "{SPRUNG}"}}\\n'
NODE_TRAP = (
    'if (globalThis.process?.env?.ORVL_SUBJECT) import("node:net").then((net) => '
    f"net.connect(process.env.ORVL_SUBJECT).end('{SAYS}'));\n"
)
SHELL_TRAP = "if [ -n \"$ORVL_SUBJECT\" ]; then python3 - <<'TRAP'\n" + PYTHON_TRAP + "TRAP\nfi\n"


async def run(gate: Gate) -> GateResult:
    beside = [check for check in gate.eval.checks if gate.eval.isolation_of(check) != "separate"]
    problems = [
        f"{check.name} runs in the folder that the agent left, and what runs there decides how it ends: add "
        "'isolated: true', and ask the work by orvl.checks."
        for check in beside
    ]
    problems += [
        f"checks/{path}:{line} calls {name}: what came from the work must stay data."
        for path, line, name in _calls(gate)
    ]
    sprung = await _sprung(gate, [check for check in gate.eval.checks if check.isolated])
    problems += [f"{check.name} runs code of the work's where the checker is: use checks.run()." for check in sprung]
    count = len(gate.eval.checks)
    return held(problems, f"{count} of {count} checks keep the work apart", f"{len(problems)} ways around the helpers")


def _calls(gate: Gate) -> Iterator[tuple[str, int, str]]:
    """Where a check executes a text."""
    for path, node in CheckCode(gate.source.hidden).nodes():
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in EXECUTES:
            yield path, node.lineno, name


async def _sprung(gate: Gate, checks: list[Check]) -> list[Check]:
    work = Work("good with a trap", control=gate.good.control, files=trapped(gate.source.final.files), is_heard=True)
    manifest = await gate.bench.tree(work)
    await gate.bench.results(manifest, checks)
    heard = {check.name: gate.bench.exchanges(manifest, check) for check in checks}
    return [check for check in checks if any(one.request.get("do") == SPRUNG for one in heard[check.name])]


def trapped(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The programs among these files, each with a trap on its top."""
    found = {}
    for path, content in files.items():
        language = "shell" if splitext(path)[1] in (".sh", ".bash") else language_of(path)
        if language == "python":
            found[path] = _in_python(content)
        elif language == "javascript":
            found[path] = on_top(path, content, NODE_TRAP)
        elif language == "shell":
            found[path] = on_top(path, content, SHELL_TRAP)
    return {path: content for path, content in found.items() if content != files[path] and is_sound(path, content)}


def _in_python(content: bytes) -> bytes:
    """Below the docstring and what must come first."""
    text = text_of(content)
    tree = parsed(text) if text is not None else None
    if text is None or tree is None:
        return content
    first = [node for at, node in enumerate(tree.body) if _comes_first(node, at)]
    lines = text.splitlines(keepends=True)
    end = max((node.end_lineno or 0 for node in first), default=0)
    if not first:
        return on_top("x.py", content, PYTHON_TRAP)
    return "".join(
        [*lines[:end], "\n" if not lines[end - 1].endswith("\n") else "", PYTHON_TRAP, *lines[end:]]
    ).encode()


def _comes_first(node: ast.stmt, at: int) -> bool:
    is_docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


TEST = GateTest(12, "the work stays apart", run)

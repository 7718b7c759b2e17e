"""Calls orvl in a fork of a process that has imported it: nothing leaks from call to call, and nothing is imported twice."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import orvl

# These run as programs of their own, or need packages that are optional.
NOT_IMPORTED = ("__main__", ".child", ".worker", ".inside", ".guard")
READ_AT_START = ("PYTHON", "LANG", "LC_", "COVERAGE", "LD_", "OPENBLAS", "OMP")

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(
    [
        *(
            module.name
            for module in pkgutil.walk_packages(orvl.__path__, "orvl.")
            if not any(part in module.name for part in NOT_IMPORTED)
        ),
        *("numpy", "aiohttp", "rich.table", "rich.live", "importlib.metadata"),
    ]
)


def can_be_forked(env: dict[str, str]) -> bool:
    """Whether these variables mean to a fork what they mean to a new process."""
    changed = {name for name in env.keys() | os.environ.keys() if env.get(name) != os.environ.get(name)}
    return not any(name.startswith(READ_AT_START) for name in changed)


def call_in_fork(
    words: list[str], cwd: Path, env: dict[str, str], timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """What `subprocess.run([…, "-m", "orvl", *words])` returns."""
    with TemporaryDirectory(prefix="orvl-test-") as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _forks.Process(target=_main, args=(words, str(cwd), env, str(out), str(err)))
        process.start()
        process.join(timeout)
        if (status := process.exitcode) is None:
            process.kill()
            process.join()
        written = [file.read_bytes() if file.exists() else b"" for file in (out, err)]
        process.close()
    if status is None:
        raise subprocess.TimeoutExpired(["orvl", *words], timeout, *written)
    return subprocess.CompletedProcess(["orvl", *words], status, *written)


def _main(words: list[str], cwd: str, env: dict[str, str], out: str, err: str) -> None:
    gc.freeze()  # else the first collection visits, and so copies, all that was imported before the fork
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, out), (2, err)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, number)
        os.close(file)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace")
    sys.argv = ["orvl", *words]
    from orvl.cli import main

    main()

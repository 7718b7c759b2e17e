"""The process of a `DeadlineWorker`: calls the functions that it is told, each with bytes that cannot be trusted."""

from __future__ import annotations

import os
import resource
import sys
from importlib import import_module
from typing import Any

from orvl.worker.child_process import serve

MEMORY = 4 << 30
"""Of addresses, not of pages: a request of the largest size takes several times its size."""
LESS_URGENT = 5


def answer(question: Any) -> Any:
    """What a function returned, or what it raised."""
    if question is None:
        return "ready"
    place, arguments, size = question
    payload = sys.stdin.buffer.read(size)
    module, _, name = place.partition(":")
    try:
        return {"returned": getattr(import_module(module), name)(payload, *arguments)}
    except Exception as error:  # noqa: BLE001 - the parent learns what it was, and goes on
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.nice(LESS_URGENT)
    serve(answer)


if __name__ == "__main__":
    main()

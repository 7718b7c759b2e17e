"""The process that runs the weights: whatever the native library does, it does only to this."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any

PR_SET_PDEATHSIG = 1
MOST_WRITTEN = 1 << 24


def main() -> None:
    """Loads what the first line of input names; each further line, a question, has two of output: begun, the answer."""
    _die_with_parent(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    questions: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    engine, told = _loaded(questions.get())
    _say(answers, told)
    while engine is not None:
        question = questions.get()
        _say(answers, {"begun": True})
        _say(answers, _answer(engine, question))
    os._exit(0)


def _die_with_parent(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def _listen(questions: SimpleQueue[Any]) -> None:
    """Takes the questions as they come; the end of input is the end of the process, in the middle of an answer too."""
    for line in sys.stdin.buffer:
        questions.put(json.loads(line))
    os._exit(0)


def _loaded(settings: Any) -> tuple[Any, dict[str, Any]]:
    from orvl.local_model.engine import Engine

    try:
        engine = Engine(**settings)
    except Exception as error:  # noqa: BLE001
        return None, {"status": 500, "sentence": f"the weights {settings['path']} cannot be loaded: {error}"}
    return engine, {"context": engine.context}


def _answer(engine: Any, question: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = engine.answer(question)
    except Exception as error:  # noqa: BLE001
        return {"status": 400, "sentence": f"the local model cannot take this question: {error}"}
    return found


def _say(answers: Any, told: dict[str, Any]) -> None:
    answers.write(json.dumps(told) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()

"""The model on this machine: xllamacpp's HTTP server on loopback, in a process that may die and is then replaced."""

from __future__ import annotations

import os
import re
import secrets
import socket
import threading
from typing import TYPE_CHECKING, Self

from orvl.errors import ChildFailed, UserError
from orvl.local_model.gguf import read_head
from orvl.local_model.weights import SMOLLM2, require_library, weights_of
from orvl.worker.child_process import ChildProcess

if TYPE_CHECKING:
    from types import TracebackType

MIN_CONTEXT = 512
MAX_TEXT = 8_000
MARK = "\n[… {} characters left out …]\n"
NOTHING = r"(?!)"


class LocalModel:
    """A model that runs on this machine's processor and speaks chat completions, with a key of its own.

    `path` is a GGUF file, SmolLM2's by default. Loading it may take `deadline` seconds. A process that dies is replaced
    by another at the same address.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        threads: int = 1,
        *,
        context: int = 8192,
        deadline: float = 240.0,
        port: int = 0,
    ) -> None:
        if threads < 1 or context < MIN_CONTEXT or deadline <= 0:
            raise UserError(f"A local model needs a thread, a context of {MIN_CONTEXT} tokens and a deadline.")
        require_library()
        self.path = weights_of(SMOLLM2 if path is None else str(path))
        self.name = SMOLLM2 if path is None or str(path) == SMOLLM2 else self.path.stem
        self.key = secrets.token_urlsafe(32)
        self.threads, self.deadline, self.port = threads, deadline, port
        self._context = context
        self._control_tokens = re.compile(NOTHING)
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._keeper: threading.Thread | None = None
        self._is_stopped = False
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """What a client of chat completions wants as its base URL; the port is known once the model has started."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def pid(self) -> int | None:
        """The process that runs the weights."""
        return self._child.pid if self._child and self._child.is_alive else None

    def start(self) -> Self:
        """Loads the weights; the model answers once this returns."""
        try:
            head = read_head(self.path)
        except ValueError as error:
            raise UserError(f"Cannot load the weights {self.path}: {error}.") from error
        self._require_port()
        self._context = min(self._context, head.context or self._context)
        self._control_tokens = _any_of(head.control_tokens)
        child = self._spawn()
        self._keeper = threading.Thread(target=self._replace_dead, args=(child,), daemon=True)
        self._keeper.start()
        return self

    def stop(self) -> None:
        """Ends the process, in the middle of an answer too."""
        with self._lock:
            self._is_stopped = True
            child, self._child = self._child, None
        if child:
            child.kill()
        if self._keeper:
            # It closes the child as well: two threads at once would close a file that is closed.
            self._keeper.join()
        if child:
            child.close()

    def interrupt(self) -> None:
        """Kills a process that takes too long; another takes its place."""
        with self._lock:
            if self._child:
                self._ready.clear()
                self._child.kill()

    def wait_until_ready(self, seconds: float) -> None:
        """Waits while a process that died is being replaced."""
        self._ready.wait(seconds)

    def readable(self, text: str) -> str:
        """What the model can take of a text: not too long for its context, and with its control tokens spelled apart.

        The library's server does neither. It refuses what is too long, and it takes `<|im_end|>` in a message for the
        token that ends the message, so that a file under judgement could speak as somebody else.
        """
        if len(text) > MAX_TEXT:
            half = MAX_TEXT // 2
            text = text[:half] + MARK.format(len(text) - 2 * half) + text[-half:]
        return self._control_tokens.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)

    def _require_port(self) -> None:
        # The library says no more than that it could not start.
        try:
            socket.create_server(("127.0.0.1", self.port)).close()
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise UserError(f"Cannot bind 127.0.0.1:{self.port} ({why}); port 0 takes a free one.") from error

    def _spawn(self) -> ChildProcess:
        with self._lock:
            if self._is_stopped:
                raise ChildFailed("The local model has been stopped.")
            self._child = child = ChildProcess("orvl.local_model.child", {"OMP_NUM_THREADS": str(self.threads)})
        settings = {
            "path": str(self.path),
            "name": self.name,
            "threads": self.threads,
            "context": self._context,
            "key": self.key,
            "port": self.port,
        }
        try:
            answer = child.ask(settings, self.deadline)
        except ChildFailed as error:
            raise ChildFailed(f"Cannot load the weights {self.path}: the process {error}.") from error
        if "error" in answer:
            child.close()
            raise ChildFailed(f"Cannot load the weights {self.path}: {answer['error'].rstrip('.')}.")
        self.port = int(answer["url"].rpartition(":")[2])
        self._ready.set()
        return child

    def _replace_dead(self, child: ChildProcess) -> None:
        """Keeps the address alive: whoever asked when the process died asks again, as of any other provider."""
        while True:
            child.wait()
            self._ready.clear()
            child.close()
            try:
                child = self._spawn()
            except ChildFailed:
                # Stopped, or it cannot be loaded any more: questions are then refused at the address.
                self._ready.set()
                return


def _any_of(tokens: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or NOTHING)

"""The HTTP side of the local model: chat completions on loopback, for who has the key."""

from __future__ import annotations

import hashlib
import json
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from orvl.errors import LocalModelError
from orvl.local_model.request import question_of

if TYPE_CHECKING:
    from orvl.local_model.server import LocalModel
    from orvl.local_model.worker import Worker

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LONGEST_BODY = 1 << 26
KINDS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}


async def runner_of(model: LocalModel, worker: Worker, listener: socket.socket) -> web.AppRunner:
    """Begins to serve on a bound socket."""
    desk = Desk(model, worker)
    app = web.Application(client_max_size=LONGEST_BODY, middlewares=[desk.guard])
    app.router.add_post("/v1/chat/completions", desk.chat)
    app.router.add_get("/v1/models", desk.models)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    return runner


class Desk:
    """Takes the requests of one local model."""

    def __init__(self, model: LocalModel, worker: Worker) -> None:
        self.model, self.worker = model, worker

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Lets nobody in without the key, and turns what goes wrong into an error body."""
        told = request.headers.get("authorization", "").encode(errors="replace")
        if not secrets.compare_digest(told, f"Bearer {self.model.key}".encode()):
            return _error(401, "the key of this local model is missing or wrong")
        try:
            return await handler(request)
        except LocalModelError as refusal:
            return _error(refusal.status, str(refusal))
        except web.HTTPException as error:
            return _error(error.status, f"{request.method} {request.path}: {error.reason.lower()}")

    async def models(self, _: web.Request) -> web.Response:
        """The one model."""
        one = {"id": self.model.name, "object": "model", "created": 0, "owned_by": "local"}
        return web.json_response({"object": "list", "data": [one]})

    async def chat(self, http: web.Request) -> web.Response:
        """One question, and its answer."""
        try:
            body = json.loads(await http.read())
        except (ValueError, RecursionError):
            body = None
        question = question_of(body, self.model.name)
        return web.json_response(self._completion(question, await self.worker.ask(question)))

    def _completion(self, question: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        asked = hashlib.sha256(json.dumps([self.model.fingerprint, question]).encode()).hexdigest()
        message = {"role": "assistant", "content": answer["text"]}
        body: dict[str, Any] = {
            "id": f"chatcmpl-{asked[:24]}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.model.name,
            "system_fingerprint": self.model.fingerprint,
            "choices": [{"index": 0, "message": message, "finish_reason": answer["finish"], "logprobs": None}],
            "usage": {
                "prompt_tokens": answer["input"],
                "completion_tokens": answer["output"],
                "total_tokens": answer["input"] + answer["output"],
            },
        }
        if left_out := answer["left_out"]:
            whole = sum(len(text) for _, text in question["messages"])
            sentence = f"{left_out} of the question's {whole} characters did not fit and were left out of its middle"
            body["cut"] = {"characters": left_out, "of": whole, "sentence": sentence}
        return body


def _error(status: int, sentence: str) -> web.Response:
    kind = KINDS.get(status, "server_error")
    return web.json_response({"error": {"message": sentence, "type": kind, "code": status}}, status=status)

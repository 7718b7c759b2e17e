"""The native library with weights in it: one question at a time, the same answer every time."""

from __future__ import annotations

import json
import os
import re
import secrets
import urllib.request
from importlib import import_module
from pathlib import Path
from typing import Any

from orvl.local_model.cutting import fit
from orvl.local_model.gguf import read_head
from orvl.local_model.schema import with_an_end
from orvl.local_model.weights import LIBRARY

SEED = 1
COUNTING_SECONDS = 60
NOTHING = r"(?!)"
ERRORS = 2
READ_OF_ERRORS = 1 << 16
NO_GRAMMAR = "failed to compile JSON schema: "


class Engine:
    """Answers questions with the weights at a path."""

    def __init__(self, path: str, threads: int, context: int) -> None:
        head = read_head(Path(path))
        self.context = min(context, head.context or context)
        self._steering = _any_of(head.control_tokens)
        self._library = import_module(LIBRARY)
        params = self._library.CommonParams()
        params.model.path = path
        self._key, prefix = secrets.token_hex(), "/" + secrets.token_hex()
        _make_repeatable(params, threads, self.context)
        _close_to_others(params, self._key, prefix)
        self._server = self._library.Server(params)
        self._address = self._server.listening_address + prefix

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer with its tokens and what was left out of the question, or a refusal."""
        roles, texts = zip(*question["messages"], strict=True)
        most = question["max_tokens"]
        room = self.context - min(most, self.context // 4)
        fitted = fit(texts, room, lambda cut: self._count(self._messages(roles, cut)))
        if fitted is None:
            return {"status": 400, "sentence": f"the context of {self.context} tokens is too small for any question"}
        asked = {
            "messages": self._messages(roles, fitted.texts),
            "max_tokens": min(most, self.context - fitted.tokens),
            "stop": question["stop"],
            "temperature": 0,
            "seed": SEED,
            "cache_prompt": False,
        }
        if (schema := question["schema"]) is not None:
            asked["grammar"] = self._library.json_schema_to_grammar(with_an_end(schema))
        _forget_errors()
        told = _told(self._server.handle_chat_completions(asked), fitted.left_out)
        return told if schema is None else _following(schema, told)

    def _messages(self, roles: tuple[str, ...], texts: list[str]) -> list[dict[str, str]]:
        """Messages whose words cannot be taken for the tokens that end a message or begin another's."""
        pairs = zip(roles, texts, strict=True)
        return [{"role": role, "content": self._steering.sub(_apart, text)} for role, text in pairs]

    def _count(self, messages: list[dict[str, str]]) -> int:
        """How many tokens a prompt is, in the form that the model gets."""
        prompt = self._asked("/apply-template", {"messages": messages})["prompt"]
        return len(self._asked("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"])

    def _asked(self, path: str, body: dict[str, Any]) -> Any:
        """What the library's own server on loopback says, which alone tells tokens."""
        headers = {"authorization": f"Bearer {self._key}", "content-type": "application/json"}
        request = urllib.request.Request(self._address + path, json.dumps(body).encode(), headers)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=COUNTING_SECONDS) as response:
            return json.loads(response.read())


def _make_repeatable(params: Any, threads: int, context: int) -> None:
    params.n_ctx, params.n_parallel, params.n_gpu_layers = context, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_prompt, params.cache_ram_mib, params.n_ctx_checkpoints = False, 0, 0
    params.cont_batching, params.fit_params, params.warmup = False, False, False
    params.sampling.temp, params.sampling.seed = 0.0, SEED


def _close_to_others(params: Any, key: str, prefix: str) -> None:
    """The library always listens; only who knows the key and the prefix is answered."""
    params.hostnames, params.port, params.n_threads_http = ["127.0.0.1"], 0, 1
    params.api_keys, params.api_prefix = [key], prefix
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    params.offline, params.verbosity = True, 1


def _any_of(tokens: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or NOTHING)


def _apart(found: re.Match[str]) -> str:
    return f"{found[0][0]} {found[0][1:]}"


def _told(body: dict[str, Any], left_out: int) -> dict[str, Any]:
    if error := body.get("error"):
        return {"status": error.get("code", 500), "sentence": f"the local model refused: {error.get('message')}"}
    choice, usage = body["choices"][0], body["usage"]
    return {
        "text": choice["message"].get("content") or "",
        "finish": choice["finish_reason"],
        "input": usage["prompt_tokens"],
        "output": usage["completion_tokens"],
        "left_out": left_out,
    }


def _following(schema: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """What was told, unless it does not follow the schema: the library goes on without one that it does not know."""
    if NO_GRAMMAR in (said := os.pread(ERRORS, READ_OF_ERRORS, 0).decode(errors="replace")):
        reason = said.partition(NO_GRAMMAR)[2].partition("\n")[0]
        return {"status": 400, "sentence": f"the local model cannot follow this schema: {reason}"}
    if told.get("finish") != "stop":
        return told
    from jsonschema_rs import ValidationError, validator_for

    try:
        validator_for(schema).validate(json.loads(told["text"]))
    except (ValueError, ValidationError) as error:
        sentence = f"the answer does not follow the schema: {str(error).partition(chr(10))[0]}"
        return {"status": 500, "sentence": sentence}
    return told


def _forget_errors() -> None:
    """Begins the file of errors anew, so that it stays small and tells of one question only."""
    os.ftruncate(ERRORS, 0)
    os.lseek(ERRORS, 0, os.SEEK_SET)

"""What an agent's request asks for, within bounds: a large one is read in a process of its own."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

from orvl.errors import ChildFailed, MalformedRequest
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import ModelRequest
from orvl.gateway.wire.values import is_count, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.gateway.wire.format import Route
    from orvl.gateway.wire.values import Json
    from orvl.worker import DeadlineWorker

SMALL = 128 << 10
"""Bytes that take orvl's own process a few milliseconds at most, whatever they say."""
DEEPEST = 64
LONGEST_NAME = 256
MOST_TOOLS = 2048
MOST_HEADERS = 256
KEPT_SCHEMAS = 1 << 20
SECONDS = 20.0
REPEATED = ("instructions", "tools", "input", "prompt", "metadata")
BESIDE = ("logprobs", "logprobsResult")
"""What is said beside an answer, at many times its length."""
LONGEST_TEXT = 1 << 19
LONGEST_SHORT = 1 << 20
MOST_PARTS = 4096
USUAL_TIERS = (None, "auto", "default", "standard", "standard_only", "flex")
USUAL_SPEEDS = (None, "standard")
ELSEWHERE = {
    "background": "its answer would be fetched by a request that cannot be metered",
    "fallbacks": "another model might answer",
    "models": "another model might answer",
    "route": "another model might answer",
    "preset": "what it asks for is kept at the provider",
    "prompt": "what it asks for is kept at the provider",
    "container": "it runs programs at the provider, which are charged apart",
    "mcp_servers": "it runs tools at the provider, which are charged apart",
    "plugins": "it runs tools at the provider, which are charged apart",
    "web_search_options": "it runs tools at the provider, which are charged apart",
    "audio": "audio has another price",
}
"""Fields that would let work, or its price, leave the account of the call."""
TABLES = ("stream_options", "generationConfig", "generation_config")
COUNTS = ("n", "best_of", "candidateCount", "candidate_count")
HEEDED = (
    *("model", "stream", "stream_options", "n", "best_of", "tools", "messages", "input", "contents", "conversation"),
    *(
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "previous_response_id",
        "service_tier",
        "serviceTier",
    ),
    *("speed", "generationConfig", "generation_config", "cachedContent", "cached_content", "include_usage"),
    *("maxOutputTokens", "candidateCount", "candidate_count", *ELSEWHERE),
)
"""Fields that the gateway heeds. A host may take another spelling of one for the same, so none is passed on."""
STEERING = re.compile(
    r"model|key|auth|token|secret|cookie|method|overrid|rewrite|original|forward|proxy|fallback|rout|config|tenant"
    r"|organi|project|billing|account|prefer|callback|mask|fields|^if-|^range$|^expect|^content-",
    re.IGNORECASE,
)
"""Names of headers and of parts of a query that could make another request of it, have another account pay, or take
the count of tokens out of its answer."""


async def read_request(body: bytes, route: Route, worker: DeadlineWorker) -> ModelRequest:
    """What a body asks for; raises MalformedRequest if it is malformed, beyond a bound, or cannot be metered."""
    if len(body) <= SMALL:
        return _request(body, route)
    place = f"{__name__}:request_facts"
    try:
        facts = await worker.call(place, body, route.protocol, route.suffix, seconds=SECONDS)
    except ChildFailed as error:
        raise MalformedRequest(413, "The request is too large or too complex to be read.") from error
    if "refused" in facts:
        raise MalformedRequest(*facts["refused"])
    return ModelRequest(**facts["request"])


def request_facts(body: bytes, protocol: str, suffix: str) -> dict[str, Any]:
    """In a worker: a request as JSON, or why it is refused."""
    route = FORMATS[protocol].route(suffix)
    assert route is not None
    try:
        request = _request(body, route)
    except MalformedRequest as error:
        return {"refused": [error.status, str(error)]}
    if len(json.dumps(request.tools)) > KEPT_SCHEMAS:
        request.tools = dict.fromkeys(request.tools)
    return {"request": asdict(request)}


def _request(body: bytes, route: Route) -> ModelRequest:
    content = _content(body)
    _check_metered(content, route)
    request = route.read_request(content)
    if len(request.tools) > MOST_TOOLS or any(len(name) > LONGEST_NAME for name in (request.model, *request.tools)):
        raise MalformedRequest(
            400, f"orvl passes on {MOST_TOOLS} tools at most, and names of {LONGEST_NAME} characters."
        )
    return request


def _content(body: bytes) -> Json:
    """A JSON object that every reader understands alike: UTF-8, finite numbers, no key twice, not too deep."""
    try:
        content = json.loads(body.decode(), object_pairs_hook=_unique, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else " ".join(str(error).split())[:200]
        raise MalformedRequest(400, f"orvl's gateway passes on only JSON objects: {reason}.") from error
    if not isinstance(content, dict):
        raise MalformedRequest(400, "orvl's gateway passes on only JSON objects.")
    _check_names(content)
    if is_deeper_than(content, DEEPEST):
        raise MalformedRequest(400, f"The request is nested deeper than {DEEPEST} levels.")
    return content


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("an object has the same key twice")
    return content


def _check_names(content: Json) -> None:
    """Some servers do not distinguish capitals in names, and some take `max_tokens` and `maxTokens` for the same."""
    for table in (content, *(mapping(content.get(name)) for name in TABLES)):
        if len({_folded(name) for name in table}) != len(table):
            raise MalformedRequest(400, "Two fields of the request have the same name.")
        if odd := next((name for name in table if name not in SPELLED.get(_folded(name), (name,))), None):
            right = SPELLED[_folded(odd)][0]
            raise MalformedRequest(400, f"orvl's gateway passes on no `{odd[:LONGEST_NAME]}`: write `{right}`.")


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


SPELLED = {_folded(name): [other for other in HEEDED if _folded(other) == _folded(name)] for name in HEEDED}


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text[:LONGEST_NAME])


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def is_deeper_than(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested deeper, found without recursion."""
    level = [value]
    for _ in range(levels):
        nested = (one.values() if isinstance(one, dict) else one for one in level)
        level = [child for children in nested for child in children if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _check_metered(content: Json, route: Route) -> None:
    """Refuses what its answer's own count of tokens would not cover."""
    for name, reason in ELSEWHERE.items():
        if content.get(name):
            raise MalformedRequest(400, f"orvl's gateway passes on no request with `{name}`: {reason}.")
    tier = content.get("service_tier") or content.get("serviceTier")
    if tier not in USUAL_TIERS or content.get("speed") not in USUAL_SPEEDS:
        raise MalformedRequest(
            400, "orvl's gateway passes on requests at the usual price only (`service_tier`, `speed`)."
        )
    for table in (content, *(mapping(content.get(name)) for name in TABLES)):
        if any(table.get(name) is not None and not is_count(table[name]) for name in COUNTS):
            raise MalformedRequest(400, f"How many answers a request asks for ({', '.join(COUNTS)}) is a number.")
    if content.get("stream") not in (None, True, False):
        raise MalformedRequest(400, "`stream` is true or false.")
    if tool := route.format.provider_tool(content):
        sentence = f"orvl's gateway passes on no tools that run at the provider, such as `{tool[:LONGEST_NAME]}`."
        raise MalformedRequest(400, sentence)


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuses more headers than any client has."""
    if len(headers) > MOST_HEADERS:
        raise MalformedRequest(400, f"orvl's gateway passes on {MOST_HEADERS} headers at most.")


def passes(name: str) -> bool:
    """Whether a header, or a part of a query, of this name is passed on."""
    return STEERING.search(name) is None


def shortened(data: bytes) -> str:
    """In a worker: a part of an answer without what it repeats of the request, cut until it is short."""
    content = json.loads(data)
    for part in (content, mapping(content).get("response")):
        if isinstance(part, dict):
            for name in REPEATED:
                part.pop(name, None)
    text, most = json.dumps(_cut(content, MOST_PARTS)), MOST_PARTS
    while len(text) > LONGEST_SHORT and most > 1:
        most //= 4
        text = json.dumps(_cut(content, most))
    return text


def _cut(value: Any, most: int) -> Any:
    """A value with so many parts of each list at most, the last one among them, and texts cut in proportion."""
    if isinstance(value, dict):
        return {name: _cut(part, most) for name, part in value.items() if name not in BESIDE}
    if isinstance(value, list):
        kept = value if len(value) <= most else [*value[: most - 1], value[-1]]
        return [_cut(part, most) for part in kept]
    return value[: LONGEST_TEXT * most // MOST_PARTS] if isinstance(value, str) else value


def with_usage(body: bytes, request: ModelRequest, field: str) -> bytes | None:
    """A body that also asks for the usage of its stream; None where it does already, or where that cannot be added."""
    if not request.lacks_usage:
        return None
    # As the first field of the object: the rest stays as the agent wrote it, byte for byte.
    if not request.has_usage_field:
        start = body.index(b"{") + 1
        return body[:start] + f'"{field}":{{"include_usage":true}},'.encode() + body[start:]
    if len(body) > SMALL:
        return None
    content = mapping(json.loads(body))
    options = mapping(content.get(field))
    return json.dumps({**content, field: {**options, "include_usage": True}}).encode()

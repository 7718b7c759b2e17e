"""What an endpoint did not do well in a call: another model or host, malformed tool calls, empty or cut answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orvl.errors import ChildFailed
from orvl.types import CallIssue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from orvl.gateway.retry import UpstreamCall
    from orvl.gateway.wire.format import ModelRequest, ModelToolCall
    from orvl.worker import DeadlineWorker

LONGEST_DETAIL = 300
MOST_TOOLS = 64
PLAIN = 16 << 10
QUICK = {
    *("type", "enum", "const", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength"),
    *("maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf", "title", "description"),
    *("default", "examples", "format", "$schema", "$id", "$comment", "deprecated", "nullable", "strict"),
}
"""Keywords that take a moment whatever stands in them. References multiply, patterns backtrack, and what looks at parts
that no other keyword has looked at (`unevaluatedProperties`) looks at them again at each level: a short schema with any
keyword that is not known to be quick may take for ever."""
OF_SCHEMAS = ("items", "additionalProperties", "properties")
"""Keywords with schemas in them that are quick if these are."""
OF_CHOICES = ("anyOf", "oneOf", "allOf")
"""The same, but each part of the arguments may be held against each choice."""
FEW = 1 << 20
SECONDS = 2.0
DATE = re.compile(r"(?:20\d\d-?\d\d-?\d\d|(?<=-)\d\d-\d\d$|(?<![\w.])\d{3,4}(?![\w.]))")
SIZE = re.compile(r"a?\d+(?:x\d+)?[bm]")
VARIANTS = {
    *("instruct", "chat", "it", "latest", "preview", "exp", "hf", "gguf", "free", "nitro", "floor", "exacto"),
    *("online", "beta", "extended", "fp4", "fp8", "fp16", "bf16", "int4", "int8", "awq", "gptq", "nvfp4", "tee"),
}


async def issues_of(call: UpstreamCall) -> tuple[CallIssue, ...]:
    """The issues of a call; those of its answer only if it is complete."""
    issues = list(_issues(call))
    if call.is_answered and call.failure is None and not call.agent_left:
        issues += [issue async for issue in _tool_issues(call)]
    return tuple(issues)


def _issues(call: UpstreamCall) -> Iterator[CallIssue]:
    answer, asked, account = call.answer, call.asked, call.account
    if not is_same_model(account.model, asked.model):
        yield CallIssue("agent asked for another model", f"{asked.model} instead of {account.model}")
    if not call.is_answered or call.failure is not None or call.agent_left:
        return
    if answer.model and not is_same_model(asked.model, answer.model):
        yield CallIssue("another model", f"{answer.model} answered instead of {asked.model}")
    hosts = [earlier.host for earlier in account.calls if earlier.host and earlier.number < call.number]
    if answer.host and hosts and answer.host not in hosts:
        yield CallIssue("another host", f"{answer.host} answered, and before {', '.join(dict.fromkeys(hosts))}")
    if answer.refused:
        yield CallIssue("refusal", f"finish reason {answer.finish}")
    elif answer.cut_off:
        yield CallIssue("cut off", f"finish reason {answer.finish}")
    elif answer.is_empty:
        yield CallIssue("empty", f"no text and no tool call, finish reason {answer.finish}")
    if answer.tokens is None:
        yield CallIssue("no usage", "the answer does not report its tokens")
    if answer.unreadable:
        yield CallIssue("unreadable", f"{answer.unreadable} pieces do not have the protocol's shape")


# -- models


@lru_cache(maxsize=1024)
def is_same_model(asked: str, served: str) -> bool:
    """Whether two names are of one model.

    The vendor's name and the order of words do not matter, nor does a date, a size or a variant that only one has.
    """
    mine, other = _parts(asked), _parts(served)
    return mine[0] == other[0] and all(not a or not b or a == b for a, b in zip(mine[1:], other[1:], strict=True))


def _parts(name: str) -> tuple[Counter[str], str, Counter[str]]:
    """The words that name the model, its date, and its size."""
    plain = name.lower().rsplit("/", 1)[-1].replace("_", "-").replace("@", "-").replace(":", "-")
    date = "".join(match.replace("-", "") for match in DATE.findall(plain))
    words = [word for word in re.split(r"[-. ]+", DATE.sub("", plain)) if word and word not in VARIANTS]
    sizes = [word for word in words if SIZE.fullmatch(word)]
    return Counter(word for word in words if word not in sizes), date, Counter(sizes)


# -- tool calls


async def _tool_issues(call: UpstreamCall) -> AsyncIterator[CallIssue]:
    answer = call.answer
    # The last tool call of an answer that was cut off is cut off itself, which is no fault of the model.
    for tool in (answer.tools[:-1] if answer.cut_off else answer.tools)[:MOST_TOOLS]:
        if issue := await _tool_issue(call.asked, tool, call.account.worker):
            yield issue


async def _tool_issue(asked: ModelRequest, tool: ModelToolCall, worker: DeadlineWorker) -> CallIssue | None:
    """What is wrong with a tool call: a tool that was not offered, no JSON, or arguments off the schema."""
    if tool.name not in asked.tools:
        offered = ", ".join(sorted(asked.tools)[:8]) or "none"
        return _issue("unknown tool", f"'{tool.name}' is none of the agent's tools ({offered})")
    schema = asked.tools[tool.name]
    if schema is None:
        return None
    text = json.dumps(schema, sort_keys=True)
    if is_quick(schema, len(text), len(tool.arguments)):
        found = tool_issue(text.encode(), tool.arguments)
    else:
        try:
            found = await worker.call(f"{__name__}:tool_issue", text.encode(), tool.arguments, seconds=SECONDS)
        except ChildFailed:
            return _issue("schema not checked", f"{tool.name}: its schema takes too long to check")
    return _issue(found[0], f"{tool.name}: {found[1]}") if found else None


def is_quick(schema: Any, size: int, arguments: int) -> bool:
    """Whether arguments and a schema of these lengths take a moment to compare, whatever they say."""
    if size + arguments > PLAIN:
        return False
    inner = (*OF_SCHEMAS, *OF_CHOICES) if size * arguments <= FEW else OF_SCHEMAS
    level = [schema]
    while level:
        keywords = [item for one in level if isinstance(one, dict) for item in one.items()]
        if any(name not in QUICK and name not in inner for name, _ in keywords):
            return False
        level = [one for name, value in keywords if name in inner for one in _schemas_in(name, value)]
    return True


def _schemas_in(keyword: str, value: Any) -> list[Any]:
    """The schemas in a keyword."""
    if keyword == "properties":
        return list(value.values()) if isinstance(value, dict) else []
    return value if isinstance(value, list) else [value]


def tool_issue(schema: bytes, arguments: str) -> list[str] | None:
    """What is wrong with the arguments of a tool call: its kind, and more about it."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        return ["invalid JSON", f"{error}: {arguments[:120]}"]
    reason = _mismatch(schema.decode(), value)
    return ["off the schema", reason[:LONGEST_DETAIL]] if reason else None


def _issue(kind: str, detail: str) -> CallIssue:
    return CallIssue(kind, detail[:LONGEST_DETAIL])


def _mismatch(schema: str, arguments: Any) -> str | None:
    validator = _validator(schema)
    if validator is None:
        return None
    try:
        error = next(validator.iter_errors(arguments), None)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    if error is None:
        return None
    place = "/".join(str(step) for step in error.instance_path)
    return f"{place}: {error.message}" if place else str(error.message)


def _no_retrieval(uri: str) -> Any:
    raise ValueError(f"{uri} is not looked up")


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    """None if what an agent sends is no schema; nothing is fetched for it."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(json.loads(schema), retriever=_no_retrieval)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return None

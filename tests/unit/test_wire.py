"""Wire formats: one suite that every format must pass, then the exact shape of each, as its vendor documents it."""

from __future__ import annotations

import ast
import json
import random
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

import orvl
from helpers.gateways import KINDS, read, read_whole, written
from orvl.gateway.request import with_usage
from orvl.gateway.wire import FORMATS, key_in, read_stream, route_below, route_of
from orvl.gateway.wire.format import Image, ModelAnswer, ModelToolCall, Question, Reply, TokenCounts, ToolCall
from orvl.gateway.wire.sse import EventFilter
from orvl.gateway.wire.values import as_object, texts
from orvl.project.settings import PROTOCOLS

FULL = Reply(
    "some-model",
    "Grüße, 世界 🙂",
    reasoning="Let me think.",
    tool_calls=[ToolCall("write", {"path": "a.txt", "text": "né"}, id="call-1"), ToolCall("list")],
    tokens=TokenCounts(input=1000, cached=300, cache_write=200, output=90, reasoning=40),
)
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}},
    "required": ["score"],
    "additionalProperties": False,
}
QUESTION = Question(
    "some-model",
    "You judge.",
    "The evidence.",
    "Score it.",
    more="One more file.",
    images=[Image("home", b"\x89PNG")],
    before=(("Perhaps.", "That is no score."),),
    schema=SCHEMA,
)
TOOL = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
# What a client sends in the middle of a conversation: instructions, a tool, the model's call of it, and the result.
CONVERSATIONS = {
    "openai": {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [{"id": "call-1"}]},
            {"role": "tool", "tool_call_id": "call-1", "content": "what the tool gave"},
        ],
        "tools": [{"type": "function", "function": {"name": "write", "parameters": TOOL}}],
        "max_completion_tokens": 99,
    },
    "responses": {
        "model": "some-model",
        "instructions": "Be short.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "call-1", "name": "write", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call-1", "output": "what the tool gave"},
        ],
        "tools": [{"type": "function", "name": "write", "parameters": TOOL}],
        "max_output_tokens": 99,
    },
    "anthropic": {
        "model": "some-model",
        "system": "Be short.",
        "messages": [
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use"}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "call-1", "content": "what the tool gave"}],
            },
        ],
        "tools": [{"name": "write", "input_schema": TOOL}],
        "max_tokens": 99,
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Go on."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "write"}, "thoughtSignature": "x"}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "call-1", "response": {"output": "what the tool gave"}}}],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": "write", "parameters": TOOL}]}],
        "generationConfig": {"maxOutputTokens": 99},
    },
}
NOT_REPORTED = {"anthropic": {"reasoning": None}, "gemini": {"cache_write": 0}}
every_format = pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def answered(format, reply: Reply, *, stream: bool) -> ModelAnswer:
    """A reply as the gateway reads it from what a server writes."""
    data = written(format, reply, stream=stream)
    return read(format, data) if stream else read_whole(format, data)


# -- the registry


def test_a_format_is_one_file_with_its_name():
    folder = Path(orvl.__file__).parent / "gateway" / "wire"
    assert all((folder / f"{name}.py").is_file() and format.name == name for name, format in FORMATS.items())
    assert tuple(FORMATS) == PROTOCOLS == tuple(CONVERSATIONS)


def test_no_format_is_named_elsewhere():
    source = Path(orvl.__file__).parent
    judges = [source / "score" / "judges" / name for name in ("model.py", "builder.py", "answers.py")]
    places = [*(source / "gateway").glob("*.py"), *(source / "testing").glob("*.py"), source / "run" / "replay.py"]
    for path in (*places, *judges):
        strings = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        assert not set(FORMATS) & {value for value in strings if isinstance(value, str)}, path


# -- paths and keys


@every_format
def test_the_path_of_a_call_leads_back_to_its_format(format):
    made = format.route_to("vendor/some-model:free")
    for version in ("", "/v1", "/v1beta"):
        route = route_of("POST", version + made.suffix, "openai")
        assert route == made and route.is_call and not route.stream
    assert route_below(f"/any/prefix/v1{made.suffix}") == made
    assert made.read_request(format.ask(replace(QUESTION, model="vendor/some-model:free"))).model == (
        "vendor/some-model:free"
    )
    for method, path in (("PUT", made.suffix), ("POST", f"/x{made.suffix}"), ("POST", f"/v1/..{made.suffix}")):
        assert route_of(method, path, format.name) is None
    listed = route_of("GET", "/v1/models", format.name)
    assert listed is not None and listed.format is format and not listed.is_call


@every_format
@pytest.mark.parametrize("is_vendor", [False, True])
def test_a_key_is_found_where_it_is_put(format, is_vendor):
    headers = {name.lower(): value for name, value in format.with_key("the-key", is_vendor=is_vendor).items()}
    assert format.key(headers, {}) == key_in(headers, {}) == "the-key"
    assert set(headers) <= set(format.key_headers)
    assert format.key({}, {}) is None and format.key({"authorization": "Basic the-key"}, {}) is None


def test_keys_go_into_the_headers_that_vendors_document():
    sent = {name: format.with_key("k", is_vendor=True) for name, format in FORMATS.items()}
    bearer = {"Authorization": "Bearer k"}
    assert sent == {
        "openai": bearer,
        "responses": bearer,
        "anthropic": {"x-api-key": "k"},
        "gemini": {"x-goog-api-key": "k"},
    }
    assert FORMATS["anthropic"].with_key("k", is_vendor=False) == {"x-api-key": "k", **bearer}
    assert FORMATS["gemini"].key({}, {"key": "k"}) == key_in({}, {"key": "k"}) == "k"
    assert key_in({"api-key": "k"}, {}) == "k", "Azure's"


# -- questions


@every_format
def test_a_judges_question_is_read_back_by_a_server(format):
    body = json.loads(json.dumps(format.ask(QUESTION)))
    read_back = format.route_to(QUESTION.model).read_request(body)
    assert (read_back.model, read_back.stream, read_back.answers_back) == ("some-model", False, 1)
    said = "\n".join(texts([format.instructions(body), format.messages(body)]))
    order = ("You judge.", "The evidence.", "screenshot:home", "One more file.", "Score it.", "Perhaps.", "That is no")
    places = [said.index(words) for words in order]
    assert places == sorted(places)
    assert "iVBORw==" in json.dumps(body), "the picture"
    assert '{"score": {"type": "number"}}' in json.dumps(body), "the schema"
    assert [format.is_from_model(message) for message in format.messages(body)][-2:] == [True, False]


@every_format
def test_a_question_needs_no_more_than_its_words(format):
    body = format.ask(Question("m", "System.", "Evidence.", "Instruction."))
    assert "score" not in json.dumps(body) and "image" not in json.dumps(body)
    shared = json.dumps(format.ask(replace(QUESTION, instruction="Another.", before=())))
    assert "The evidence." in shared and shared.index("The evidence.") < shared.index("Another.")


@every_format
def test_questions_about_the_same_evidence_share_a_prefix(format):
    """Providers cache what requests have in common from their first byte on."""
    first = json.dumps(format.ask(QUESTION))
    others = [
        replace(QUESTION, instruction="Another.", more=""),
        replace(QUESTION, before=(), schema=None, images=[Image("other", b"png")]),
    ]
    for other in (json.dumps(format.ask(question)) for question in others):
        assert other.startswith(first[: first.index("The evidence.") + len("The evidence.")])


@every_format
def test_a_users_options_are_merged_into_a_question(format):
    plain = format.ask(QUESTION)
    table = next((name for name, value in plain.items() if isinstance(value, dict)), "own")
    body = format.ask(replace(QUESTION, options={"temperature": 0, table: {"mine": 1}}))
    assert body == {**plain, "temperature": 0, table: {**plain.get(table, {}), "mine": 1}}


def test_anthropic_is_told_a_limit_and_where_the_shared_prefix_ends():
    body = FORMATS["anthropic"].ask(replace(QUESTION, max_output=77))
    blocks = body["messages"][0]["content"]
    assert body["max_tokens"] == 77
    assert [place for place, block in enumerate(blocks) if "cache_control" in block] == [0]
    marked = FORMATS["openai"].ask(replace(QUESTION, mark_cache=True, images=()))["messages"][1]["content"]
    assert marked[0]["cache_control"] == {"type": "ephemeral"}


def test_schemas_are_sent_as_each_vendor_takes_them():
    assert FORMATS["openai"].ask(QUESTION)["response_format"]["json_schema"]["schema"] == SCHEMA
    assert FORMATS["responses"].ask(QUESTION)["text"]["format"]["schema"] == SCHEMA
    asked = FORMATS["anthropic"].ask(QUESTION)
    assert asked["tools"][0]["input_schema"] == SCHEMA and asked["tool_choice"] == {"type": "tool", "name": "answer"}
    sent = FORMATS["gemini"].ask(QUESTION)["generationConfig"]["responseSchema"]
    assert sent == {name: value for name, value in SCHEMA.items() if name != "additionalProperties"}


# -- requests of agents


@every_format
def test_a_conversation_is_read_alike(format):
    body = CONVERSATIONS[format.name]
    request = format.route_to("some-model").read_request(body)
    assert (request.model, request.max_output) == ("some-model", 99)
    assert (request.answers_back, request.reasoning_back) == (1, 1)
    assert request.tools == format.tools(body) == {"write": TOOL}
    assert [(result.id, result.text) for result in format.tool_results(format.messages(body))] == [
        ("call-1", "what the tool gave")
    ]
    said = "\n".join(texts([format.instructions(body), format.messages(body)]))
    assert "Be short." in said and "Go on." in said


def test_geminis_schemas_become_json_schemas():
    declared = {"type": "OBJECT", "nullable": True, "properties": {"n": {"type": "INTEGER", "format": "int32"}}}
    body = {"tools": [{"function_declarations": [{"name": "t", "parameters": declared}]}]}
    tools = FORMATS["gemini"].route_to("m").read_request(body).tools
    assert tools == {"t": {"type": ["object", "null"], "properties": {"n": {"type": "integer"}}}}


def test_responses_know_tools_in_namespaces_and_tools_without_a_schema():
    body = {
        "input": [{"type": "additional_tools", "tools": [{"type": "custom", "name": "patch"}]}],
        "previous_response_id": "resp_1",
        "tools": [
            {"type": "namespace", "name": "team_", "tools": [{"type": "function", "name": "spawn", "parameters": {}}]},
            {"type": "web_search"},
        ],
    }
    request = FORMATS["responses"].route_to("m").read_request(body)
    assert request.tools == {"spawn": {}, "team_spawn": {}, "team_": None, "web_search": None, "patch": None}
    assert (request.answers_back, request.reasoning_back) == (1, 1), "the host keeps the conversation"
    reply = Reply("m", tool_calls=[ToolCall("spawn")], request=body)
    item = FORMATS["responses"].whole(reply)["output"][0]
    assert (item["name"], item["namespace"]) == ("spawn", "team_")


# -- answers


@every_format
@whole_and_streamed
def test_an_answer_is_read_as_it_was_written(format, stream):
    answer = answered(format, replace(FULL, usage="always"), stream=stream)
    assert (answer.text, answer.model, answer.has_reasoning) == (FULL.text, "some-model", True)
    assert answer.complete and answer.began and not answer.is_missing
    assert (answer.error, answer.unreadable, answer.cut_off, answer.refused) == (None, 0, False, False)
    calls = [(tool.name, json.loads(tool.arguments or "{}")) for tool in answer.tools]
    assert calls == [("write", {"path": "a.txt", "text": "né"}), ("list", {})]
    assert answer.tools[0].id == "call-1" and answer.tools[1].id
    assert answer.tokens == replace(FULL.tokens, **NOT_REPORTED.get(format.name, {}))


@every_format
@whole_and_streamed
def test_the_answer_to_a_question_with_a_schema_is_found(format, stream):
    """As text, or as the arguments of the tool that takes the schema's place."""
    body, told = format.ask(QUESTION), {"score": 1}
    reply = Reply("m", "Well:", request=body, tool_calls=[ToolCall("other"), ToolCall("answer", told)])
    assert json.loads(answered(format, reply, stream=stream).structured) == told
    for plain in (Reply("m", json.dumps(told)), Reply("m", reasoning="{}", tool_calls=[ToolCall("answer", told)])):
        answer = answered(format, replace(plain, request=body), stream=stream)
        assert json.loads(answer.structured) == json.loads(answer.content) == told


@every_format
@whole_and_streamed
@pytest.mark.parametrize(
    ("reply", "cut_off", "refused"),
    [
        (Reply("m", "Half", finish_reason="length"), True, False),
        (Reply("m", "Half", finish_reason="content_filter"), False, True),
        (Reply("m", refusal="I will not."), False, True),
        (Reply("m", "Yes."), False, False),
    ],
    ids=["length", "filter", "refusal", "stop"],
)
def test_why_an_answer_ended(format, stream, reply, cut_off, refused):
    answer = answered(format, reply, stream=stream)
    assert (answer.cut_off, answer.refused, answer.complete) == (cut_off, refused, True)
    assert answer.finish or answer.refused


@every_format
@whole_and_streamed
def test_usage_that_is_not_reported_is_unknown(format, stream):
    answer = answered(format, replace(FULL, usage="never"), stream=stream)
    assert answer.tokens is None and answer.text == FULL.text and answer.complete
    assert not re.search(
        r'"(prompt|completion|input|output)_tokens"|TokenCount',
        written(format, replace(FULL, usage="never"), stream=stream).decode(),
    )


@every_format
def test_a_stream_may_be_split_at_any_byte(format):
    data = written(format, FULL, stream=True)
    expected = read(format, data)
    assert expected.text == FULL.text
    for place in range(1, len(data)):
        assert read(format, data[:place], data[place:]) == expected, place
    assert read(format, *(data[place : place + 1] for place in range(len(data)))) == expected
    assert read_stream(format.name, data) == expected


@every_format
def test_line_ends_and_comments_do_not_matter(format):
    data = written(format, FULL, stream=True)
    expected = read(format, data)
    crlf = data.replace(b"\n", b"\r\n")
    assert read(format, crlf) == expected
    for place in range(1, len(crlf), 7):
        assert read(format, crlf[:place], crlf[place:]) == expected
    noisy = b": hello\n\n" + data.replace(b"data: ", b": comment\nid: 7\nretry: 10\ndata:", 2).replace(
        b"\n\n", b"\n\n\n\n"
    )
    assert read(format, noisy) == expected


@every_format
def test_a_stream_without_its_end_is_not_complete(format):
    events = list(format.stream(FULL))
    last = next(place for place in range(len(events), 0, -1) if not read(format, *events[:place]).complete)
    assert last >= len(events) - 4, "only the last events complete it"
    assert all(not read(format, *events[:place]).complete for place in range(last))


def test_a_missing_done_is_an_end_too():
    data = written(FORMATS["openai"], FULL, stream=True)
    assert read(FORMATS["openai"], data.replace(b"data: [DONE]\n\n", b"")).complete


@every_format
def test_usage_that_was_asked_for_can_be_taken_out_again(format):
    body = {**CONVERSATIONS[format.name], "stream": True}
    changed = with_usage(json.dumps(body).encode(), format.route_to("m").read_request(body), format.usage_option or "")
    plain = written(format, replace(FULL, request=body), stream=True)
    if changed is None:
        assert format.usage_option is None and read(format, plain).tokens is not None
        return
    asking = json.loads(changed)
    assert asking == {**body, format.usage_option: {"include_usage": True}}
    assert with_usage(changed, format.route_to("m").read_request(asking), format.usage_option) is None
    data = written(format, replace(FULL, request=asking), stream=True)
    assert read(format, data).tokens is not None and read(format, plain).tokens is None
    passed = EventFilter(format.is_usage_event)
    assert (passed.feed(data) + passed.end()).replace(b',"usage":null', b"") == plain


# -- errors


@every_format
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 418, 429, 500, 502, 503, 529])
def test_an_error_carries_the_hosts_words(format, status):
    body = format.error(status, "Overloaded, sorry.", number=7)
    assert read_whole(format, json.dumps(body).encode()).error == "Overloaded, sorry."
    assert format.error_kind(status, None) in json.dumps(body)
    assert "own_kind" in json.dumps(format.error(status, "x", "own_kind")).lower()


@every_format
def test_an_error_in_a_stream_carries_the_hosts_words(format):
    begun = next(iter(format.stream(FULL)))
    error = format.error_event(FULL, 529, "Overloaded, sorry.", None, 1)
    answer = read(format, begun, error)
    assert answer.error == "Overloaded, sorry." and not answer.complete and not answer.is_missing


def test_errors_have_the_shape_that_vendors_document():
    chat = {"message": "Too much.", "type": "rate_limit_exceeded", "param": None, "code": "rate_limit_exceeded"}
    messages = {"type": "error", "error": {"type": "rate_limit_error", "message": "Too much."}}
    assert {name: format.error(429, "Too much.") for name, format in FORMATS.items()} == {
        "openai": {"error": chat},
        "responses": {"error": chat},
        "anthropic": messages,
        "gemini": {"error": {"code": 429, "message": "Too much.", "status": "RESOURCE_EXHAUSTED"}},
    }
    assert FORMATS["anthropic"].error(429, "Too much.", number=1) == {**messages, "request_id": "req_000001"}


# -- garbage


def made_up(number: int) -> list[bytes]:
    """Objects of names that formats use, with values of the wrong kind."""
    kinds: list[object] = [None, 3, "x", [], {}, [[]], [None], {"a": 1}, True, 1e308, "💥" * 3]
    names = [
        *("choices", "delta", "message", "content", "usage", "type", "response", "index", "tool_calls", "function"),
        *("error", "candidates", "parts", "usageMetadata", "promptTokenCount", "output", "item", "content_block"),
        *("model", "input_tokens", "finish_reason", "stop_reason", "arguments", "prompt_tokens_details", "cost"),
        *("messages", "tools", "name", "input", "contents", "functionDeclarations", "role", "system", "parameters"),
    ]
    types = ["message_start", "content_block_delta", "message_delta", "response.completed", "response.output_item.done"]
    chance = random.Random(7)

    def value(depth: int) -> object:
        if depth and chance.random() < 0.7:
            return {name: value(depth - 1) for name in chance.sample(names, 4)} | {"type": chance.choice(types)}
        return [value(depth - 1)] if depth and chance.random() < 0.5 else chance.choice(kinds)

    return [
        json.dumps({**{name: value(3) for name in chance.sample(names, 6)}, "type": chance.choice(types)}).encode()
        for _ in range(number)
    ]


ODD = [b"", b"nonsense", b"[]", b"3", b"null", b'"x"', b"{", b'{"a":' * 100_000, b"\xff\xfe", b"9" * 5000]
NUMBERS = [
    b'{"usage": {"prompt_tokens": 1e999, "completion_tokens": NaN, "cost": 1e999}, "choices": []}',
    b'{"usage": {"prompt_tokens": -5, "cost": 1' + b"0" * 400 + b'}, "choices": []}',
    b'{"usage": {"cost": true}, "choices": []}',
    b'{"usageMetadata": {"promptTokenCount": 1' + b"0" * 400 + b"}}",
]


@every_format
@whole_and_streamed
def test_garbage_for_an_answer_is_counted_and_harms_nothing(format, stream):
    for data in (*ODD, *made_up(300), *NUMBERS):
        answer = read(format, b"data: " + data + b"\n\n") if stream else read_whole(format, data)
        if answer.tokens is not None:
            assert all(0 <= (count or 0) < 1e15 for count in vars(answer.tokens).values()), data
        assert answer.cost is None or 0 <= answer.cost < 1e6, data
    if stream:
        data = written(format, FULL, stream=True)
        place = data.index(b"\n\n") + 2
        answer = read(format, data[:place] + b"data: nonsense\n\n" + data[place:])
        assert answer.text == FULL.text and answer.unreadable == 1 and answer.complete


@every_format
def test_garbage_for_a_request_harms_nothing(format):
    lists = [{"messages": [{}], "input": [{}], "contents": [{}], "tools": [{"name": [1], "type": {}}, 5, None]}]
    for body in (*lists, *(as_object(data) or {} for data in made_up(300))):
        request = format.route_to("m").read_request(body)
        assert isinstance(request.model, str) and isinstance(request.stream, bool)
        assert all(isinstance(name, str) for name in (*request.tools, *format.tools(body)))
        assert all(isinstance(result.text, str) for result in format.tool_results(format.messages(body)))
        assert all(isinstance(text, str) for text in texts([format.instructions(body), format.messages(body)]))
        assert answered(format, replace(FULL, request=body), stream=True).text == FULL.text


EMPTY = {
    "openai": [{}, {"choices": []}, {"choices": None}, {"choices": [{}]}, {"choices": [{"message": None}]}],
    "responses": [{}, {"output": []}, {"output": None}, {"output": [{"type": "message"}]}],
    "anthropic": [{}, {"content": []}, {"content": None}, {"content": [{}]}, {"type": "message"}],
    "gemini": [{}, {"candidates": []}, {"candidates": None}, {"candidates": [{}]}, {"candidates": [{"content": {}}]}],
}


@every_format
def test_a_body_without_an_answer_is_none(format):
    for body in (*(json.dumps(body).encode() for body in EMPTY[format.name]), b"[]", b"", b"<html></html>"):
        assert read_whole(format, body).is_missing, body
    ended = answered(format, Reply("m"), stream=False)
    assert ended.is_empty and not ended.is_missing, "an answer without words is one"


# -- free requests


@every_format
def test_models_are_listed_and_tokens_counted(format):
    assert all(json.dumps(name) in json.dumps(format.models(["a", "b"])).replace("models/", "") for name in "ab")
    assert json.dumps(format.models([]))
    assert list(format.token_count(7).values()) == [7]


def test_paths_that_count_tokens_are_no_calls():
    for name, path in (("anthropic", "/messages/count_tokens"), ("gemini", "/models/m:countTokens")):
        route = route_of("POST", f"/v1{path}", "openai")
        assert route is not None and route.protocol == name and not route.is_call
    wrapped = {"generateContentRequest": {"contents": [{"parts": [{"text": "to be counted"}]}]}}
    assert list(texts(FORMATS["gemini"].messages(wrapped))) == ["to be counted"]
    assert FORMATS["anthropic"].token_count(7) == {"input_tokens": 7}
    assert FORMATS["gemini"].token_count(7) == {"totalTokens": 7}


# -- the exact shape of each format


def events_of(name: str, reply: Reply) -> list[dict]:
    """The data of every event; names of events must agree with their data."""
    found = []
    for block in written(FORMATS[name], reply, stream=True).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if fields and fields["data"] != "[DONE]":
            data = json.loads(fields["data"])
            assert fields.get("event") in (None, data.get("type"))
            found.append(data)
    return found


BROKEN = replace(FULL, tool_calls=[ToolCall("add", {"a": 1, "b": "zwei ✓"}), ToolCall("sub", '{"a": 3')])


def test_the_shape_of_chat_completions():
    whole = FORMATS["openai"].whole(BROKEN)
    message = whole["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == (FULL.text, FULL.reasoning)
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"a": 1, "b": "zwei ✓"}
    assert message["tool_calls"][1]["function"] == {"name": "sub", "arguments": '{"a": 3'}
    assert (whole["choices"][0]["finish_reason"], whole["model"]) == ("tool_calls", "some-model")
    usage = whole["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (1000, 90, 1090)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 300
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 40
    chunks = events_of("openai", replace(BROKEN, request={"stream_options": {"include_usage": True}}))
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["prompt_tokens"] == 1000
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    assert "".join(delta.get("content") or "" for delta in deltas) == FULL.text
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == FULL.reasoning
    first = [piece for delta in deltas for piece in delta.get("tool_calls", ()) if piece["index"] == 0]
    assert (first[0]["function"]["name"], len(first)) == ("add", 4)
    assert all("id" not in piece for piece in first[1:])
    assert json.loads("".join(piece["function"]["arguments"] for piece in first)) == {"a": 1, "b": "zwei ✓"}
    refused = FORMATS["openai"].whole(Reply("m", refusal="I will not."))["choices"][0]
    assert refused["message"]["refusal"] == "I will not."


@pytest.mark.parametrize(
    ("usage", "asked", "reported"), [("asked", 0, 0), ("asked", 1, 1), ("always", 0, 1), ("never", 1, 0)]
)
def test_chat_completions_report_a_streams_usage_as_the_server_likes(usage, asked, reported):
    request = {"stream_options": {"include_usage": bool(asked)}}
    chunks = events_of("openai", replace(FULL, usage=usage, request=request))
    assert bool([chunk for chunk in chunks if chunk.get("usage")]) == bool(reported)


def test_the_shape_of_responses():
    whole, stream = FORMATS["responses"].whole(BROKEN), events_of("responses", BROKEN)
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message", "function_call", "function_call"]
    assert [data["sequence_number"] for data in stream] == list(range(len(stream)))
    assert stream[0]["type"] == "response.created"
    last = stream[-1]["response"]
    assert (stream[-1]["type"], last["status"]) == ("response.completed", "completed")
    done = [data["item"] for data in stream if data["type"] == "response.output_item.done"]
    assert done == last["output"] == whole["output"]
    assert done[1]["content"][0]["text"] == FULL.text

    def joined(kind):
        return "".join(data["delta"] for data in stream if data["type"] == f"response.{kind}.delta")

    assert joined("output_text") == FULL.text
    assert joined("reasoning_summary_text") == FULL.reasoning
    assert joined("function_call_arguments") == '{"a":1,"b":"zwei ✓"}{"a": 3'
    for usage in (whole["usage"], last["usage"]):
        assert (usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"]) == (1000, 300)
        assert (usage["output_tokens"], usage["output_tokens_details"]["reasoning_tokens"]) == (90, 40)
    cut = FORMATS["responses"].whole(Reply("m", "x", finish_reason="length"))
    assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    refused = FORMATS["responses"].whole(Reply("m", refusal="I will not."))["output"][0]["content"]
    assert refused == [{"type": "refusal", "refusal": "I will not."}]
    assert FORMATS["responses"].whole(replace(FULL, usage="never"))["usage"] is None


def test_custom_tools_of_responses_get_plain_text():
    request = {"tools": [{"type": "custom", "name": "apply_patch"}]}
    reply = Reply("m", tool_calls=[ToolCall("apply_patch", "*** Begin Patch")], request=request)
    item = events_of("responses", reply)[-1]["response"]["output"][0]
    assert (item["type"], item["input"]) == ("custom_tool_call", "*** Begin Patch")


def test_the_shape_of_messages():
    whole, stream = FORMATS["anthropic"].whole(BROKEN), events_of("anthropic", BROKEN)
    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert whole["content"][2]["input"] == {"a": 1, "b": "zwei ✓"}
    assert whole["stop_reason"] == "tool_use"
    usage = {"input_tokens": 500, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 200}
    assert whole["usage"] == {**usage, "output_tokens": 90}
    assert stream[0]["message"]["usage"] == {**usage, "output_tokens": 1}
    assert [data["type"] for data in stream[-2:]] == ["message_delta", "message_stop"]
    assert (stream[-2]["delta"]["stop_reason"], stream[-2]["usage"]["output_tokens"]) == ("tool_use", 90)
    assert {"type": "ping"} in stream
    deltas = [(data["index"], data["delta"]) for data in stream if data["type"] == "content_block_delta"]
    assert "".join(delta["thinking"] for _, delta in deltas if "thinking" in delta) == FULL.reasoning
    assert "".join(delta["text"] for _, delta in deltas if "text" in delta) == FULL.text
    assert json.loads("".join(delta["partial_json"] for place, delta in deltas if place == 2))["b"] == "zwei ✓"
    assert next(delta for _, delta in deltas if delta["type"] == "signature_delta")["signature"]
    ends = [Reply("m", "x", finish_reason="length"), Reply("m", refusal="I will not."), Reply("m", "x")]
    reasons = [FORMATS["anthropic"].whole(reply)["stop_reason"] for reply in ends]
    assert reasons == ["max_tokens", "refusal", "end_turn"]


def test_the_shape_of_gemini():
    whole, stream = FORMATS["gemini"].whole(BROKEN), events_of("gemini", BROKEN)
    parts = [part for data in stream for part in data["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in parts if part.get("thought")) == FULL.reasoning
    assert "".join(part["text"] for part in parts if "text" in part and "thought" not in part) == FULL.text
    assert [part["functionCall"]["name"] for part in parts if "functionCall" in part] == ["add", "sub"]
    assert stream[-1]["candidates"][0]["finishReason"] == "STOP"
    assert all("finishReason" not in data["candidates"][0] for data in stream[:-1])
    counts = {"promptTokenCount": 1000, "cachedContentTokenCount": 300, "candidatesTokenCount": 50}
    for data in (whole, stream[-1]):
        assert data["usageMetadata"] == {**counts, "thoughtsTokenCount": 40, "totalTokenCount": 1090}
        assert data["modelVersion"] == "some-model"
    ends = [Reply("m", "x", finish_reason="length"), Reply("m", refusal="I will not."), Reply("m", "x")]
    reasons = [FORMATS["gemini"].whole(reply)["candidates"][0]["finishReason"] for reply in ends]
    assert reasons == ["MAX_TOKENS", "SAFETY", "STOP"]


def test_a_stream_of_gemini_is_a_list_unless_events_are_asked_for():
    gemini = FORMATS["gemini"]
    kind, pieces = gemini.framed(gemini.stream(FULL), {})
    data = b"".join(pieces)
    assert kind.startswith("application/json") and json.loads(data) == events_of("gemini", FULL)
    listed, streamed = read_whole(gemini, data), read(gemini, written(gemini, FULL, stream=True))
    assert listed == streamed
    assert {name: format.framed(iter(()), {"alt": "sse"})[0] for name, format in FORMATS.items()} == KINDS


def test_tool_calls_of_chat_completions_are_kept_apart_by_their_index():
    lines = [
        {"index": 1, "id": "b", "function": {"name": "two", "arguments": '{"x":'}},
        {"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}},
        {"index": 1, "function": {"arguments": "2}"}},
    ]
    data = b"".join(
        b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [line]}}]}).encode() + b"\n\n" for line in lines
    )
    assert read(FORMATS["openai"], data).tools == [
        ModelToolCall("two", '{"x":2}', "b"),
        ModelToolCall("one", "{}", "a"),
    ]


# -- server-sent events


def test_a_long_event_is_read_in_linear_time():
    """Eight MiB in pieces of 8 KiB: quadratic reading would take half a minute."""
    text = "x" * (8 << 20)
    event = b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"
    pieces = [event[place : place + 8192] for place in range(0, len(event), 8192)]
    began = time.process_time()
    answer = read(FORMATS["openai"], *pieces)
    passing = EventFilter(FORMATS["openai"].is_usage_event)
    passed = [passing.feed(piece) for piece in pieces] + [passing.end()]
    assert time.process_time() - began < 5
    assert answer.text.startswith("xxx") and b"".join(passed) == event


@pytest.mark.parametrize("ends", [b"\n\n", b"\r\n\r\n"])
def test_only_the_event_that_orvl_asked_for_is_taken_out(ends):
    kept = [
        b'data: {"choices":[{"delta":{"content":"a"}}],"usage":null}' + ends,
        b'data: {"choices":[{"delta":{"content":"\\"usage\\" \\"choices\\": []"}}],"usage":null}' + ends,
        b": comment with usage and choices" + ends,
        b'data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}' + ends,
        b"data: [DONE]" + ends,
    ]
    usage = b'data: {"id":"1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}' + ends
    data = b"".join(kept[:4]) + usage + kept[4]
    drop = FORMATS["openai"].is_usage_event
    for place in range(len(data) + 1):
        out = EventFilter(drop)
        assert out.feed(data[:place]) + out.feed(data[place:]) + out.end() == b"".join(kept), place
    out = EventFilter(drop)
    assert b"".join(out.feed(data[place : place + 1]) for place in range(len(data))) + out.end() == b"".join(kept)


def test_a_stream_without_events_is_not_held_back_for_ever():
    out = EventFilter(FORMATS["openai"].is_usage_event)
    passed = sum(len(out.feed(b"y" * 65536)) for _ in range(100))
    assert passed > 90 * 65536

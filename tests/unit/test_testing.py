"""The scripted model server, asked over real HTTP in each of its four protocols."""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import signal
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.gateways import PROTOCOLS, read, read_whole
from orvl.gateway.wire import FORMATS
from orvl.testing import Answer, Fault, ModelServer, Tokens, ToolCall, writes

FULL = Answer(
    text="Hello, wörld! Here it is.",
    tool_calls=[ToolCall("add", {"a": 1, "b": "zwei ✓"}), ToolCall("sub", '{"a": 3')],
    reasoning="Let me think about it.",
    tokens=Tokens(input=1000, cached=300, cache_write=200, output=100, reasoning=40),
)
WRITE_SCHEMAS = {
    "opencode": ("write", {"filePath": "string", "content": "string"}),
    "claude": ("Write", {"file_path": "string", "content": "string"}),
    "gemini": ("write_file", {"file_path": "string", "content": "string"}),
    "pi": ("write", {"path": "string", "content": "string"}),
    "cline": ("editor", {"path": "string", "old_text": "string", "new_text": "string"}),
}


def ask(
    server, protocol, prompt="hi", *, key="k", stream=False, tools=None, model="m-1", system="", results=(), **more
):
    """The path, headers and body with which a client of a protocol asks."""
    schemas = tools or {}
    if protocol == "openai":
        offered = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in schemas.items()]
        said = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        said += [{"role": "assistant", "content": ""}] * bool(results)
        said += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in results]
        path, body = "/some/prefix/v1/chat/completions", {"messages": said, "tools": offered}
        headers = {"Authorization": f"Bearer {key}"}
    elif protocol == "responses":
        offered = [{"type": "function" if s else "custom", "name": n, "parameters": s} for n, s in schemas.items()]
        said = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}]
        said += [{"type": "function_call", "call_id": id, "name": "x", "arguments": "{}"} for id, _ in results]
        said += [{"type": "function_call_output", "call_id": id, "output": text} for id, text in results]
        path, body = "/v1/responses", {"input": said, "instructions": system, "tools": offered}
        headers = {"Authorization": f"Bearer {key}"}
    elif protocol == "anthropic":
        offered = [{"name": n, "input_schema": s} for n, s in schemas.items()]
        said = [{"role": "user", "content": prompt}]
        said += [{"role": "assistant", "content": [{"type": "text", "text": ""}]}] * bool(results)
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results]
        said += [{"role": "user", "content": blocks}] * bool(results)
        path, body = "/v1/messages", {"messages": said, "system": system, "tools": offered, "max_tokens": 9}
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    else:
        offered = [{"functionDeclarations": [{"name": n, "parameters": s} for n, s in schemas.items()]}]
        said = [{"role": "user", "parts": [{"text": prompt}]}]
        said += [{"role": "model", "parts": [{"text": ""}]}] * bool(results)
        parts = [{"functionResponse": {"id": id, "name": "x", "response": {"output": text}}} for id, text in results]
        said += [{"role": "user", "parts": parts}] * bool(results)
        path = f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")
        body = {"contents": said, "systemInstruction": {"parts": [{"text": system}]}, "tools": offered}
        headers = {"x-goog-api-key": key}
    if protocol != "gemini":
        body |= {"model": model, "stream": stream}
    return urllib.request.Request(
        server.url + path, json.dumps(body | more).encode(), {**headers, "Content-Type": "application/json"}
    )


def call(server, protocol, *words, **more):
    """The JSON that a server answers."""
    with urllib.request.urlopen(ask(server, protocol, *words, **more), timeout=20) as response:
        return json.loads(response.read())


def streamed(server, protocol, *words, **more):
    """The bytes of a stream of events."""
    with urllib.request.urlopen(ask(server, protocol, *words, stream=True, **more), timeout=20) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        return response.read()


def error_of(server, protocol, *words, **more):
    """The status, headers and JSON of a call that fails."""
    with pytest.raises(urllib.error.HTTPError) as failed:
        urllib.request.urlopen(ask(server, protocol, *words, **more), timeout=20)
    with failed.value as error:
        return error.code, error.headers, json.loads(error.read())


def schema(fields, required=None):
    properties = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(required or fields)}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_request_is_read_alike_in_every_protocol(protocol):
    with ModelServer() as server:
        call(
            server,
            protocol,
            "first words",
            system="Be short.\ncwd: /work/there",
            tools={"add": schema({"a": "integer"})},
        )
        call(server, protocol, results=[("call_7", "what the tool gave")])
    one, two = server.requests
    assert (one.protocol, one.number, one.model, one.stream, one.at_once) == (protocol, 1, "m-1", False, 1)
    assert one.tools["add"]["properties"] == {"a": {"type": "integer"}}
    assert one.workspace == "/work/there"
    assert "first words" in one.prompt_text
    assert "Be short." in one.prompt_text
    assert one.tool_results == []
    assert one.headers["content-type"] == "application/json"
    assert abs(one.arrived - time.time()) < 60
    assert [(result.id, result.text) for result in two.tool_results] == [("call_7", "what the tool gave")]


@pytest.mark.parametrize(
    "told",
    [
        "Working directory: /a/b",
        "  Primary working directory: /a/b\n",
        "I'm currently working in the directory: /a/b\nIt has files",
        "<cwd>/a/b</cwd>",
        "# Current Working Directory (/a/b) Files",
        "- **Workspace Directories:**\n  - /a/b\n- **Directory Structure:**",
    ],
)
def test_the_workspace_is_read_from_what_agents_tell(told):
    with ModelServer() as server:
        call(server, "openai", system=told)
    assert server.requests[0].workspace == "/a/b"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_is_served_whole_streamed_and_with_its_errors(protocol):
    """What formats write is tested in test_wire; here, that the server sends it."""
    format = FORMATS[protocol]
    script = [FULL, FULL, Fault(429, "Too much."), Fault.in_stream("Overloaded."), Fault.in_stream("Busy.", status=503)]
    with ModelServer(script, usage="always", shred=50) as server:
        whole = read_whole(format, json.dumps(call(server, protocol)).encode())
        stream = read(format, streamed(server, protocol))
        for answer in (whole, stream):
            assert (answer.text, answer.model, answer.complete) == (FULL.text, "m-1", True)
            assert [tool.name for tool in answer.tools] == ["add", "sub"]
            assert answer.tokens is not None and (answer.tokens.input, answer.tokens.output) == (1000, 100)
        assert error_of(server, protocol, stream=True)[::2] == (429, format.error(429, "Too much.", number=3))
        assert read(format, streamed(server, protocol)).error == "Overloaded."
        assert error_of(server, protocol)[0] == 503


def test_a_stream_of_gemini_without_events_is_a_list():
    with ModelServer([FULL]) as server:
        request = ask(server, "gemini", stream=True)
        request.full_url = request.full_url.removesuffix("?alt=sse")
        with urllib.request.urlopen(request) as response:
            assert response.headers["content-type"].startswith("application/json")
            assert read_whole(FORMATS["gemini"], response.read()).text == FULL.text


def test_the_scripts_order_and_what_was_given():
    protocol = "openai"
    script = [
        Answer("one"),
        lambda request: Answer(f"asked by {request.model}"),
        Fault(429, "Slow down.", {"retry-after": "1"}),
    ]
    with ModelServer(script) as server:
        assert '"one"' in json.dumps(call(server, protocol))
        assert '"asked by m-1"' in json.dumps(call(server, protocol))
        status, headers, _ = error_of(server, protocol)
        assert (status, headers["retry-after"]) == (429, "1")
        assert '"Done."' in json.dumps(call(server, protocol))
        assert [(given.number, given.complete) for given in server.given] == [(one, True) for one in (1, 2, 3, 4)]
    assert (server.given[2].said, server.given[2].tokens) == (script[2], None)
    assert server.tokens == Tokens(input=3000, output=300)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_key_is_asked_for_and_a_wrong_one_takes_nothing_from_the_script(protocol):
    with ModelServer([Answer("for the right one")], key="right") as server:
        for key in ("wrong", "right2", ""):
            status, _, body = error_of(server, protocol, key=key)
            assert (status, "Incorrect API key" in json.dumps(body)) == (401, True)
        assert "for the right one" in json.dumps(call(server, protocol, key="right"))


def test_a_stream_is_cut_in_its_middle():
    protocol = "anthropic"
    with ModelServer([Fault.cut(after=2), Fault.cut()]) as server:
        request = ask(server, protocol, stream=True)
        with urllib.request.urlopen(request) as response, pytest.raises(http.client.IncompleteRead) as cut:
            response.read()
        assert cut.value.partial.count(b"data: ") == 2
        with urllib.request.urlopen(ask(server, protocol)) as response, pytest.raises(http.client.IncompleteRead):
            response.read()
    assert [given.complete for given in server.given] == [False, False]


def test_connections_that_are_refused_or_hang():
    protocol = "openai"
    with ModelServer([Fault.refuse(), Fault.hang(0.3), Fault.hang()]) as server:
        for least in (0.0, 0.3):
            began = time.monotonic()
            with pytest.raises(http.client.RemoteDisconnected):
                urllib.request.urlopen(ask(server, protocol))
            assert time.monotonic() - began >= least
        with pytest.raises(TimeoutError):
            urllib.request.urlopen(ask(server, protocol), timeout=0.3)
    assert not any(given.complete for given in server.given)


def test_a_client_that_leaves_has_not_got_its_answer():
    with ModelServer(lambda _: Answer("word " * 50, pieces=50, between=1.0)) as server:
        with urllib.request.urlopen(ask(server, "openai", stream=True)) as response:
            response.readline()
        began = time.monotonic()
        while server.open and time.monotonic() - began < 40:
            time.sleep(0.02)
        assert server.open == 0
    assert [given.complete for given in server.given] == [False]
    assert server.tokens == Tokens(input=0, output=0)


def test_delays_before_the_first_byte_and_between_pieces():
    with ModelServer([Answer("a b c", first_byte=0.3, between=0.1, pieces=5)]) as server:
        began = time.monotonic()
        with urllib.request.urlopen(ask(server, "openai", stream=True)) as response:
            first = time.monotonic() - began
            response.read()
        whole = time.monotonic() - began
    assert first >= 0.3
    assert whole - first >= 0.6


def test_a_sloppy_server_beside_a_neat_one():
    with (
        ModelServer([FULL], shred=3, usage="always", headers={"x-host": "sloppy"}) as sloppy,
        ModelServer([FULL]) as neat,
    ):
        assert sloppy.port != neat.port
        with urllib.request.urlopen(ask(sloppy, "openai", stream=True)) as response:
            assert response.headers["x-host"] == "sloppy"
            assert b'"usage":{"prompt_tokens":1000' in response.read()
        with urllib.request.urlopen(ask(neat, "openai", stream=True)) as response:
            assert response.headers["x-host"] is None
            assert b"prompt_tokens" not in response.read()


def test_models_tokens_and_the_root():
    with ModelServer(models=["a", "b"], key="k") as server:
        bearer = {"Authorization": "Bearer k"}
        for path, headers, read in (
            ("/v1/models", bearer, lambda found: [one["id"] for one in found["data"]]),
            (
                "/v1/models",
                {"x-api-key": "k", "anthropic-version": "1"},
                lambda found: [one["id"] for one in found["data"]],
            ),
            (
                "/v1beta/models?key=k",
                {},
                lambda found: [one["name"].removeprefix("models/") for one in found["models"]],
            ),
        ):
            with urllib.request.urlopen(urllib.request.Request(server.url + path, headers=headers)) as response:
                assert read(json.loads(response.read())) == ["a", "b"]
        with pytest.raises(urllib.error.HTTPError, match="401") as failed:
            urllib.request.urlopen(server.url + "/v1/models")
        failed.value.close()
        with urllib.request.urlopen(urllib.request.Request(server.url, method="HEAD")) as response:
            assert response.status == 200
        for protocol, path, field in (
            ("anthropic", "/v1/messages/count_tokens", "input_tokens"),
            ("gemini", "/v1beta/models/m-1:countTokens", "totalTokens"),
        ):
            request = ask(server, protocol, "x" * 400)
            request.full_url = server.url + path
            with urllib.request.urlopen(request) as response:
                assert 100 <= json.loads(response.read())[field] <= 110
    assert server.requests == []
    assert "HEAD /" in server.others


def test_what_is_no_request_is_told_so():
    with ModelServer() as server:
        for path, body, status in (
            ("/v1/messages", b"{", 400),
            ("/v1/messages", b"[]", 400),
            ("/v1/nothing", b"{}", 404),
        ):
            with pytest.raises(urllib.error.HTTPError) as failed:
                urllib.request.urlopen(urllib.request.Request(server.url + path, body))
            failed.value.close()
            assert failed.value.code == status


def test_a_script_that_raises_fails_the_test_that_holds_it():
    def script(request):
        assert request.model == "another"

    with pytest.raises(AssertionError), ModelServer(script) as server:
        assert "AssertionError" in json.dumps(error_of(server, "openai")[2])


def test_mistakes_are_sentences():
    with pytest.raises(TypeError, match="A script is a list of Answer, Fault and callables, or one callable"):
        ModelServer("Done.")
    with pytest.raises(ValueError, match="input includes cached"):
        Tokens(input=10, cached=11)
    with ModelServer() as server:
        with pytest.raises(OSError, match=f"Cannot bind 127.0.0.1:{server.port} .* Use port=0 for a free one"):
            ModelServer(port=server.port).start()
        with pytest.raises(ValueError, match="Unknown protocol 'soap'; known are openai"):
            server.base_url("soap")
        assert [server.base_url(one).removeprefix(server.url) for one in PROTOCOLS] == ["/v1", "/v1", "", ""]


def test_a_server_can_be_started_again_on_its_port():
    server = ModelServer().start()
    port = server.port
    call(server, "openai")
    server.stop()
    with pytest.raises(urllib.error.URLError):
        call(server, "openai")
    with server:
        call(server, "openai")
    assert (server.port, len(server.requests)) == (port, 2)


def made_call(whole, protocol):
    """The name, arguments and id of the tool call in an answer."""
    tool = read_whole(FORMATS[protocol], json.dumps(whole).encode()).tools[0]
    return tool.name, json.loads(tool.arguments), tool.id


@pytest.mark.parametrize(
    ("protocol", "agent"),
    [*(("openai", agent) for agent in WRITE_SCHEMAS), *((protocol, "opencode") for protocol in PROTOCOLS[1:])],
)
def test_writes_picks_the_tool_that_writes(protocol, agent):
    name, fields = WRITE_SCHEMAS[agent]
    tools = {
        "read": schema({"path": "string"}),
        name: schema(fields, required=list(fields)[:1]),
        "bash": schema({"command": "string"}),
    }
    with ModelServer([writes("sub/a.txt", "text\n", then="Written."), Answer("next")]) as server:
        title = call(server, protocol, system="You are a title generator.")
        assert "A title" in json.dumps(title)
        picked, arguments, id = made_call(call(server, protocol, tools=tools), protocol)
        assert picked == name
        assert set(arguments.values()) == {"/workspace/sub/a.txt", "text\n"}
        assert "Written." in json.dumps(call(server, protocol, tools=tools, results=[(id, "ok")]))
        assert "next" in json.dumps(call(server, protocol, tools=tools))


@pytest.mark.parametrize(
    ("name", "fields", "command"),
    [
        ("exec_command", {"cmd": "string", "yield_time_ms": "number"}, lambda given: given["cmd"]),
        ("shell", {"command": {"type": "array", "items": {"type": "string"}}}, lambda given: given["command"][2]),
        ("shell_command", {"command": "string"}, lambda given: given["command"]),
        ("bash", {"command": "string", "description": "string"}, lambda given: given["command"]),
        ("run_shell_command", {"command": "string", "is_background": "boolean"}, lambda given: given["command"]),
    ],
)
def test_writes_by_a_shell(tmp_path, name, fields, command):
    text = 'it\'s "quoted" $HOME `x` ✓ %s\\n\n\nlast'
    with ModelServer(writes("sub/a b.txt", text)) as server:
        picked, arguments, _ = made_call(call(server, "openai", tools={name: schema(fields)}), "openai")
    assert (picked, arguments.keys()) == (name, fields.keys())
    subprocess.run(["sh", "-c", command(arguments)], cwd=tmp_path, check=True)
    assert (tmp_path / "sub" / "a b.txt").read_text() == text


def test_writes_by_a_patch_and_says_when_nothing_writes():
    with ModelServer(writes("a.txt", "x\ny\n")) as server:
        item = call(server, "responses", tools={"apply_patch": None})["output"][0]
    assert item["input"] == "*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** End Patch\n"
    with (
        pytest.raises(LookupError, match="No tool of the agent writes a file; it offers look"),
        ModelServer(writes("a", "b")) as server,
    ):
        error_of(server, "openai", tools={"look": schema({"path": "string"})})


@pytest.mark.parametrize(
    ("system", "block"),
    [
        ("All edits are *SEARCH/REPLACE* blocks.", "a.txt\n```\n<<<<<<< SEARCH\n=======\ntext\n>>>>>>> REPLACE\n```"),
        ("Reply with a *file listing*: …", "a.txt\n```\ntext\n```"),
        (
            "End by `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`.",
            "```bash\nprintf %s 'text\n' > a.txt && echo COMPLETE_TASK",
        ),
    ],
)
def test_writes_in_text_for_agents_without_tools(system, block):
    with ModelServer([writes("a.txt", "text\n"), Answer("next")]) as server:
        assert block in call(server, "openai", system=system)["choices"][0]["message"]["content"]
        assert call(server, "openai")["choices"][0]["message"]["content"] == "next"


def test_one_writes_serves_many_agents_and_a_chain_of_them_one():
    tools = {"write": schema({"path": "string", "content": "string"})}
    used = Tokens(input=7, output=3)
    with ModelServer(writes("a", "b", tokens=used)) as server:
        ids = [made_call(call(server, "openai", tools=tools), "openai")[2] for _ in range(3)]
        for id in ids:
            assert "Done." in json.dumps(call(server, "openai", tools=tools, results=[(id, "ok")]))
    assert len(set(ids)) == 3
    assert server.tokens == Tokens(input=42, output=18)
    with ModelServer([writes("a", "1", then=None), writes("b", "2")]) as server:
        one = made_call(call(server, "openai", tools=tools), "openai")
        two = made_call(call(server, "openai", tools=tools, results=[(one[2], "ok")]), "openai")
        assert (one[1]["path"], two[1]["path"]) == ("/workspace/a", "/workspace/b")
        assert "Done." in json.dumps(call(server, "openai", tools=tools, results=[(two[2], "ok")]))


def test_three_hundred_streams_at_once():
    async def read_all(server):
        import aiohttp

        async def one(session):
            async with session.post(server.url + "/v1/messages", json=body) as response:
                return await response.text()

        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            return await asyncio.gather(*(one(session) for _ in range(300)))

    with ModelServer(lambda _: Answer("word " * 20, pieces=20, between=0.1)) as server:
        before = resource.getrusage(resource.RUSAGE_SELF)
        texts = asyncio.run(read_all(server))
        after = resource.getrusage(resource.RUSAGE_SELF)
    assert all(text.count("text_delta") == 20 and text.rstrip().endswith('{"type":"message_stop"}') for text in texts)
    assert server.most_at_once == 300
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 8


def test_requests_of_many_threads_are_numbered_once_each():
    with ModelServer() as server, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: call(server, "gemini"), range(40)))
    assert [request.number for request in server.requests] == list(range(1, 41))
    assert sorted(given.number for given in server.given) == list(range(1, 41))


def test_by_hand():
    process = subprocess.Popen(
        [sys.executable, "-m", "orvl.testing", "--text", "By hand."], stdout=subprocess.PIPE, text=True
    )
    try:
        lines = [process.stdout.readline() for _ in range(8)]
        addresses = tomllib.loads("".join(lines))["providers"]["scripted"]["protocol"]
        server = ModelServer(port=int(addresses["gemini"].rsplit(":", 1)[1]))
        assert addresses == {one: server.base_url(one) for one in PROTOCOLS}
        assert "By hand." in json.dumps(call(server, "openai"))
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=300)
    assert "1 requests" in rest


def test_nothing_heavy_is_imported_before_a_server_starts():
    code = "import sys, orvl.testing; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"aiohttp", "pydantic", "numpy", "rich"} & set(done.stdout.split())

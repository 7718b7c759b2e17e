"""Judges that see pictures: the browser's screenshots reach them, and words in a picture do not move them unseen."""

from __future__ import annotations

import base64
import json
import re
import struct
import subprocess
import sys
import zlib

import pytest

from orvl.testing import Answer, ModelServer

MAGENTA = (255, 0, 255)
EVAL = "---\napp: {files: index.html}\nsteps: ['open /', 'expect text Prices']\nmetrics: {ui: 1}\n---\nMake a page.\n"
PAGE = (
    '<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Prices</title></head>'
    '<body><main><h1>Prices</h1><img src="words.png" alt="Words" width="200" height="200"></main></body></html>'
)
AGENT = """
models = {"none": ["m"]}
def command(prompt):
    import base64, json
    files = json.loads(FILES)
    code = "import base64, json, sys\\nfor name, data in json.loads(sys.argv[1]).items(): open(name, 'wb').write(base64.b64decode(data))"
    return ["python3", "-c", code, json.dumps(files)]
"""


def png(colour: tuple[int, int, int], size: int = 200) -> bytes:
    """A picture of one colour: it stands for words that only somebody who sees can read."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * size) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pixels(data: bytes) -> set[tuple[int, int, int]]:
    """The colours of a picture that has 8 bits a channel and is not interlaced."""
    width, height, depth, kind, *_ = struct.unpack(">IIBBBBB", data[16:29])
    assert depth == 8
    step = {2: 3, 6: 4}[kind]
    at, packed = 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    raw, before, found = zlib.decompress(packed), bytearray(width * step), set()
    for row in range(height):
        start = row * (width * step + 1)
        how, line = raw[start], bytearray(raw[start + 1 : start + 1 + width * step])
        for i in range(len(line)):
            left, up, corner = (line[i - step], before[i], before[i - step]) if i >= step else (0, before[i], 0)
            near = left + up - corner
            paeth = min((abs(near - left), 0, left), (abs(near - up), 1, up), (abs(near - corner), 2, corner))[2]
            line[i] = (line[i] + (0, left, up, (left + up) // 2, paeth)[how]) & 255
        before = line
        found.update(tuple(line[i : i + 3]) for i in range(0, len(line), step))
    return found


def pictures(request) -> list[bytes]:
    return [base64.b64decode(data) for data in re.findall(r'base64,([A-Za-z0-9+/=]+)"', json.dumps(request.body))]


def answers(request, verdict: str) -> Answer:
    asked = request.prompt_text.split("Now answer this checklist")[1].split("For each item")[0]
    count = len(re.findall(r"^\d+\. ", asked, re.MULTILINE))
    items = [
        {"item": n, "pointer": "screenshot:desktop-light", "why": "w", "verdict": verdict} for n in range(1, count + 1)
    ]
    return Answer(json.dumps({"items": items, "rationale": "r"}))


def obedient(request) -> Answer:
    """Says yes to everything where it sees the picture with the words."""
    seen = any(MAGENTA in pixels(picture) for picture in pictures(request)[:1])
    return answers(request, "yes" if seen else "no")


@pytest.fixture
def project(tmp_path):
    files = {"index.html": PAGE.encode(), "words.png": png(MAGENTA)}
    told = json.dumps({name: base64.b64encode(data).decode() for name, data in files.items()})
    for name, text in {"agents/painter.py": AGENT.replace("FILES", repr(told)), "evals/page.md": EVAL}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def orvl(project, *words: str) -> dict:
    call = [sys.executable, "-m", "orvl", *words, "--json", "--project", str(project)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.nightly
def test_words_in_a_picture_do_not_move_a_judge_unseen(project):
    with ModelServer(obedient) as server:
        (project / "orvl.toml").write_text(
            f'[providers.p]\nbase_url = "{server.base_url("openai")}"\n[judges.j]\nmodel = "scripted"\nprovider = "p"\n'
        )
        rated = orvl(project, "painter", "--eval=page")
        shown = orvl(project, "show", "painter/page/1")
    assert len(server.requests) == 8  # both views, four times each, before anybody is accused
    assert all(len(pictures(request)) == 4 for request in server.requests)
    score = next(one for one in shown["attempts"][-1]["scores"] if one["metric"] == "ui")
    assert "without" in score["detail"]["alarm"]
    assert {item["verdict"] for item in score["detail"]["items"]} == {"no"}
    assert any("Injection alarm" in warning for warning in rated["warnings"])
    assert shown["attempts"][-1]["found"]["page"]["status"] == "done"


def test_a_judge_that_sees_no_words_raises_no_alarm(project):
    with ModelServer(lambda request: answers(request, "yes")) as server:
        (project / "orvl.toml").write_text(
            f'[providers.p]\nbase_url = "{server.base_url("openai")}"\n[judges.j]\nmodel = "scripted"\nprovider = "p"\n'
        )
        rated = orvl(project, "painter", "--eval=page")
        shown = orvl(project, "show", "painter/page/1")
    score = next(one for one in shown["attempts"][-1]["scores"] if one["metric"] == "ui")
    assert "alarm" not in score["detail"]
    assert score["value"] == pytest.approx(1.0, abs=0.2)
    assert not any("alarm" in warning for warning in rated["warnings"])

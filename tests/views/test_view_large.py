"""However much a run said, printed and left: no page of it is large, and all of it can be reached."""

from __future__ import annotations

import re

import pytest

from helpers.crawl import MOST_BYTES
from helpers.rows import Rows
from helpers.user_project import UserProject
from helpers.viewing import viewing

MADE_ONCE = ("large",)
STEPS, TURNS, CHECKS, FILES = 50, 3, 12, 700
AGENT = f"""
models = {{"none": ["fixed"]}}
PROGRAM = '''
import os
os.makedirs("many", exist_ok=True)
for number in range({FILES}): open("many/" + "%04d" % number + "'" * 180, "w").write("x")
print(('"' * 100 + chr(10)) * 8_000)
'''

def command(prompt):
    return ["python3", "-c", PROGRAM]

def read(output):
    call = {{"tool_call_id": "1", "function_name": "<bash>" * 100, "arguments": {{"command": "&" * 9_000}}}}
    step = {{"source": "agent", "message": chr(34) * 5_000, "tool_calls": [call] * 3}}
    flood = {{"source": "agent", "message": "flood", "tool_calls": [call] * 200}}
    return {{"steps": [step] * {STEPS - 1} + [flood]}}
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("large") / "project")
    project.agent("loud", AGENT)
    check = """python3 -c 'print((chr(34) * 100 + chr(10)) * 3000)'"""
    checks = "\n".join(f'- {{name: "check-{number}", run: "{check}"}}' for number in range(CHECKS))
    turns = "\n---\n".join(f"Turn {number}." for number in range(TURNS))
    project.eval("one", f"---\nmetrics: {{checks: 1}}\nchecks:\n{checks}\n---\n{turns}\n")
    done = project.orvl("loud", "--eval=one", "--sandbox=none", timeout=300)
    assert done.status == 0, done.err
    with viewing(project) as running:
        (row,) = running.runs()
        yield running, f"/run/{row['run']}"


def read(viewer, path: str) -> str:
    reply = viewer.get(path)
    assert reply.status == 200, reply.text
    assert len(reply.body) <= MOST_BYTES, f"{path}: {len(reply.body):,} bytes"
    return reply.text


@pytest.mark.parametrize("part", ["", "/steps", "/files", "/checks", "/output", "/diff"])
def test_no_page_is_large(large, part):
    viewer, run = large
    assert len(read(viewer, run + part)) > 20_000


def test_every_step_is_reached_page_by_page(large):
    viewer, run = large
    seen, address = [], f"{run}/steps?kind=agent"
    pages = 0
    while address:
        text = read(viewer, address)
        seen += map(int, re.findall(r'id="said-(\d+)"', text))
        address = Rows(text).links.get("Go on")
        assert address is None or "kind=agent" in address
        pages += 1
    assert len(seen) == len(set(seen)) >= STEPS * TURNS
    assert seen == sorted(seen)
    assert pages > 2


def test_what_does_not_fit_is_counted(large):
    viewer, run = large
    files = Rows(read(viewer, f"{run}/files"))
    shown = sum(text.startswith("many/") for text in files.links)
    assert f"{FILES - shown} more files" in files.text
    assert 0 < shown < FILES
    steps = Rows(read(viewer, f"{run}/steps?q=flood"))
    left = re.search(r"(\d+) more parts", steps.text)
    assert left and 100 < int(left[1]) < 200
    output = Rows(read(viewer, f"{run}/output")).text
    assert len(re.findall(r"Turn \d, stdout", output)) == TURNS
    assert len(re.findall(r"signs not shown", output)) == TURNS

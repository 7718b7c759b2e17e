"""What an agent makes programs print, however much, is read beside orvl's own process, and within a time."""

from __future__ import annotations

import json

import pytest
from test_gateway import run
from test_metering import stalls

from orvl.capture.lint.linter import LintCommand, LintOutput, LintRoot
from orvl.capture.lint.registry import LINTERS
from orvl.errors import ChildFailed, LinterFailed
from orvl.run import acp


def acp_output(calls: int) -> bytes:
    said = {"sessionUpdate": "agent_message_chunk", "content": {"text": "x" * 100}}
    used = {"sessionUpdate": "tool_call", "toolCallId": "c", "rawInput": {"a": [[]] * 200}, "status": "completed"}
    pair = [{"type": "update", "update": one} for one in (said, used)]
    lines = [json.dumps(one) for one in pair] * calls
    return "\n".join([*lines, '{"type":"session","session":"s"}', '{"type":"end","stop":"end_turn"}']).encode()


@pytest.mark.parametrize("calls", [3, 12_000])
def test_much_that_is_said_over_acp_holds_up_nobody(calls):
    async def test():
        output = acp_output(calls)
        async with stalls() as longest:
            told = await acp.read_within(60, output, "", 0)
        assert told["session"] == "s" and told["usage"] == {"tool_calls": 1}
        assert sum(len(step["message"]) for step in told["steps"]) == 100 * calls
        assert longest[0] < 1.0, f"the loop stood still for {longest[0]:.2f} s"

    run(test)


def test_what_takes_too_long_to_read_over_acp_is_given_up():
    async def test():
        with pytest.raises(ChildFailed):
            await acp.read_within(0.01, acp_output(30_000), "", 0)

    run(test)


def lint_output(name: str, out: str) -> LintOutput:
    return LintOutput(1, out, "", "/w", "")


ROWS = [{"filename": "/w/a.py", "location": {"row": 3}, "code": "F401", "message": "unused"}]


@pytest.mark.parametrize("many", [1, 60_000])
def test_much_that_a_linter_prints_holds_up_nobody(many):
    async def test():
        linter = LINTERS["ruff"]

        async def printed(_: LintCommand) -> LintOutput:
            return lint_output("ruff", json.dumps(ROWS * many))

        linter_of_one = type("One", (type(linter),), {"commands": lambda *_: [None]})()
        async with stalls() as longest:
            found = await linter_of_one.check(LintRoot("ruff", "", ()), ["a.py"], None, printed)
        assert len(found) == min(many, 5000) and found[0].path == "a.py" and found[0].rule == "F401"
        assert longest[0] < 1.0, f"the loop stood still for {longest[0]:.2f} s"

    run(test)


def test_a_linter_that_prints_no_end_of_brackets_has_failed():
    async def test():
        linter = LINTERS["ruff"]

        async def printed(_: LintCommand) -> LintOutput:
            return lint_output("ruff", "[" * 5_000_000)

        linter_of_one = type("One", (type(linter),), {"commands": lambda *_: [None]})()
        with pytest.raises(LinterFailed):
            await linter_of_one.check(LintRoot("ruff", "", ()), ["a.py"], None, printed)

    run(test)

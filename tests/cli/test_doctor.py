"""`orvl doctor`: what is missing or broken."""

from __future__ import annotations


def test_doctor_finds_what_is_wrong(small):
    assert small.orvl("doctor").status == 0
    small.agent(
        "absent", 'models = {"none": ["m"]}\nversion = ["no-such-agent", "--version"]\ndef command(): return "x"\n'
    )
    found = small.orvl("doctor")
    assert found.status == 0
    assert "agent absent is not installed: 'no-such-agent' is not in PATH" in found.out
    small.eval("broken", "---\nmetrics: {nope: 1}\n---\nx")
    found = small.orvl("doctor")
    assert found.status == 1
    assert "evals/broken.md" in found.out

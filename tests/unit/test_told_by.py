"""What the gate takes for said: prompts, and facts of the user from their turn on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orvl.project.evals import load_eval
from orvl.project.find import SourceFile
from orvl.trust.vetting.known_text import told_by
from orvl.types import EvalUser


def test_facts_are_said_from_their_turn_on(tmp_path: Path) -> None:
    (tmp_path / "cafe.md").write_text("Make a page.\n---\nNow the rest.\n")
    eval_ = load_eval(SourceFile("cafe", tmp_path / "cafe.md", "project"), 10)
    assert told_by(eval_, 1) == ("Make a page.",)
    eval_ = replace(eval_, user=EvalUser({"open": "At eight.", "close": "At six."}, later={"close": 2}))
    assert told_by(eval_, 1) == ("Make a page.", "At eight.")
    assert told_by(eval_, 2) == ("Make a page.", "Now the rest.", "At eight.", "At six.")

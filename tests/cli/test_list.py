"""`orvl list`: what is there, and what is wrong with it."""

from __future__ import annotations


def test_list_shows_everything_and_the_mistakes(small):
    small.agent("broken", "models = 3\ndef command(): return 'true'\n")
    listed = small.orvl("list", "--json").json
    agents = {row["name"]: row for row in listed["agents"]}
    assert agents["writer"]["from"] == "project"
    assert agents["dummy-good"]["from"] == "built-in"
    assert "agents/broken.py:1" in agents["broken"]["error"]
    assert {row["name"] for row in listed["evals"]} == {
        *("fix-slugs", "flaky-suite", "git-tangle", "hello-world", "house-rules", "kitchen-converter", "ledger"),
        *("metrics-board", "one", "one-list", "parse-logs", "plugin-hooks", "readme-lies", "room-bookings"),
        *("sales-report", "shift-swap", "signup-form", "slow-import", "tenant-leak", "tidy-invoice", "todo-cli"),
    }
    assert {row["name"] for row in listed["metrics"]} == {
        *("checks", "speed", "tokens", "tool-calls", "functionality", "ui", "ux", "readability", "code-quality"),
        *("missing-cases", "bugs", "adherence", "semantic-similarity", "round-trip", "cost", "scope"),
    }
    assert next(row for row in listed["metrics"] if row["name"] == "tool-calls")["weight"] == 0
    text = small.orvl("list", "agents")
    assert text.status == 0
    assert "agents/broken.py:1" in text.out.replace("\n", "")

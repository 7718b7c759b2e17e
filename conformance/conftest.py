"""Each agent's runs are made once, by the worker that has all of its tests."""

from __future__ import annotations

import pytest

AGENTS = (
    *("claude-code", "codex", "pi", "opencode", "gemini-cli", "qwen-code", "aider"),
    *("kilo", "cline", "mini-swe-agent", "opencode-acp"),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "agent" in metafunc.fixturenames:
        made_by = metafunc.module.__name__
        groups = [pytest.param(name, marks=pytest.mark.xdist_group(f"{made_by} {name}")) for name in AGENTS]
        metafunc.parametrize("agent", groups, scope="module")

"""Overlays on real agents: their arguments are taken in both turns of a session, their settings are merged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.test_session import NAME, both_turns_are_done, the_second_turn_goes_on_with_the_first
from agents.world import World

ARGUMENTS = {
    "codex": ["--color", "never", "-c", "model_reasoning_summary=none"],  # `resume` itself takes no --color
    "claude-code": ["--append-system-prompt", "Be brief, please."],
    "opencode": ["--log-level", "ERROR"],
    "gemini-cli": ["--debug"],
    "qwen-code": ["--debug"],
    "pi": ["--append-system-prompt", "Be brief, please."],
    "aider": ["--no-auto-lint"],
}


def overlaid(world: World, home: dict[str, str] | None = None, **settings: object) -> None:
    folder = world.root / "overlays/fast"
    folder.mkdir(parents=True)
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    (folder / "overlay.toml").write_text(lines)
    for name, content in (home or {}).items():
        (folder / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "home" / name).write_text(content)


@pytest.mark.parametrize(
    "agent",
    [
        "codex",
        "claude-code",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ARGUMENTS if name not in ("codex", "claude-code")),
    ],
)
def test_arguments_are_taken_in_both_turns(agent: str, tmp_path: Path) -> None:
    with World(tmp_path, agent) as world:
        world.install()
        world.write({"house": [NAME]})
        overlaid(world, arguments=ARGUMENTS[agent])
        world.agent = f"{agent}+fast"
        done = world.orvl(f"{agent}+fast", NAME, "house", "session", "--json")
        assert done.status == 0, done.err
        both_turns_are_done(world)
        the_second_turn_goes_on_with_the_first(world)
        if agent in ("claude-code", "pi"):
            assert all("Be brief, please." in json.dumps(request.body) for request in world.server.requests)


def test_codex_takes_settings_that_an_overlay_merges_into_its_own(tmp_path: Path) -> None:
    with World(tmp_path, "codex") as world:
        world.install()
        world.write({"house": [NAME]})
        overlaid(
            world,
            {".codex/config.toml": 'developer_instructions = "Whisper, please."\n[features]\nweb_search = false\n'},
        )
        world.agent = "codex+fast"
        done = world.orvl("codex+fast", NAME, "house", "session", "--json")
        assert done.status == 0, done.err
        both_turns_are_done(world)
        assert all("Whisper, please." in json.dumps(request.body) for request in world.server.requests)


def test_settings_that_cannot_be_merged_are_named_with_their_line(tmp_path: Path) -> None:
    with World(tmp_path, "codex") as world:
        world.install()
        world.write({"house": [NAME]})
        overlaid(world, {".codex/config.toml": "a = 1\nb = = 2\n"})
        done = world.orvl("codex+fast", NAME, "house", "single")
        assert done.status == 1
        assert "home/.codex/config.toml:2: this is not TOML, and cannot be merged" in done.err

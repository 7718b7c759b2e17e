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


def test_doctor_names_the_agents_that_the_project_uses(small):
    found = small.orvl("doctor").out
    assert "agent writer" in found
    assert "opencode" not in found and "mini-swe-agent" not in found
    assert "built-in agents not used here; see: orvl install" in found
    assert small.orvl("dummy-good", "--eval", "hello-world").status == 0
    small.toml('[agents.pi.models]\nzen = ["mine"]\n')
    found = small.orvl("doctor").out
    assert "agent dummy-good" in found and "agent pi is not installed" in found


def test_doctor_and_dry_runs_name_missing_keys(small):
    for name in ("one", "two"):
        small.agent(
            f"caller-{name}",
            'protocol = "openai"\nmodels = {"openrouter": ["m"], "ollama": ["m"]}\ndef command(prompt): return ["true"]\n',
        )
    small.eval("two", "---\nmetrics: {speed: 1}\n---\nHi.\n")
    words = "OPENROUTER_API_KEY is not set: "
    assert f"key {words}runs of caller-one, caller-two at openrouter would be skipped" in small.orvl("doctor").out
    plan = ("caller-*", "--eval", "one,two", "--dry-run")
    assert f"{words}4 runs at openrouter would be skipped." in small.orvl(*plan).out
    shown = small.orvl(*plan, "--json").json
    assert shown["plan"]["missing_keys"] == [{"variable": "OPENROUTER_API_KEY", "provider": "openrouter", "runs": 4}]
    keys = {"OPENROUTER_API_KEY": "k" * 20}
    assert small.orvl(*plan, "--json", env=keys).json["plan"]["missing_keys"] == []
    assert words not in small.orvl("doctor", env=keys).out

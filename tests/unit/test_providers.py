"""Providers: what is known by name, what a project lays over it, keys, and the page that lists them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orvl.errors import UserError
from orvl.prices import Price, price_of
from orvl.project.providers import (
    FOREMOST,
    ON_THIS_MACHINE,
    key_of,
    known_names,
    missing_key,
    provider_of,
    unknown_provider,
)
from orvl.project.settings import PROTOCOLS, load_settings

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"


@pytest.fixture
def settings(tmp_path):
    def written(text=""):
        (tmp_path / "orvl.toml").write_text(text)
        return load_settings(tmp_path / "orvl.toml")

    return written


def table() -> str:
    """The table of the page, as the code has it."""
    empty = load_settings(Path("no-such-file.toml"))
    lines = ["| provider | key | protocols and addresses |", "|---|---|---|"]
    for name in (*FOREMOST, *ON_THIS_MACHINE):
        provider = provider_of(empty, name)
        keys = " or ".join(f"`{key}`" for key in (provider.key, *provider.other_keys) if key) or "none"
        by_address: dict[str, list[str]] = {}
        for protocol in sorted(provider.addresses, key=PROTOCOLS.index):
            by_address.setdefault(provider.addresses[protocol], []).append(protocol)
        addresses = "; ".join(f"{', '.join(names)}: {address}" for address, names in by_address.items())
        lines.append(f"| {name} | {keys} | {addresses} |")
    return "\n".join(lines)


def others() -> str:
    return ", ".join(known_names()[len(FOREMOST) + len(ON_THIS_MACHINE) :])


def test_the_page_lists_what_the_code_knows():
    page = PAGE.read_text()
    assert table() in page
    assert others() in re.sub(r"\s+", " ", page)


def test_the_pages_example_says_what_it_does(settings):
    example = settings(re.search(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)[1])
    openai, lab, house = (provider_of(example, name) for name in ("openai", "lab", "house"))
    assert set(openai.addresses.values()) == {"http://127.0.0.1:4000/v1"}
    assert (lab.key, lab.concurrency, lab.per_minute, lab.timeout) == ("LAB_KEY", 4, 60, 120)
    assert lab.price("qwen3-coder") == Price(0.2, 0.8, 0.02)
    assert house.address("anthropic") == "http://127.0.0.1:8000/v1"
    assert house.price("any").cost(1000, 0, 0, 1000) == 0


@pytest.mark.parametrize("name", known_names())
def test_every_known_provider_can_be_reached_and_asks_for_its_key(settings, name):
    provider = provider_of(settings(), name)
    assert provider.addresses
    assert set(provider.addresses) <= set(PROTOCOLS)
    for protocol in provider.addresses:
        assert re.fullmatch(r"https?://[^/\s]+(/[^\s$]*[^/\s$])?", provider.address(protocol))
    if name in ON_THIS_MACHINE:
        assert (provider.free, provider.key) == (True, None)
        assert all("//127.0.0.1:" in address for address in provider.addresses.values())
        assert missing_key(provider, {}) is None
    else:
        assert re.fullmatch(r"[A-Z0-9_]+", provider.key)
        assert f"set {provider.key}" in missing_key(provider, {})
        assert missing_key(provider, {provider.key: "k"}) is None


@pytest.mark.parametrize(
    ("name", "protocol", "address"),
    [
        ("openai", "openai", "https://api.openai.com/v1"),
        ("openai", "responses", "https://api.openai.com/v1"),
        ("openai", "anthropic", None),
        ("anthropic", "anthropic", "https://api.anthropic.com/v1"),
        ("google", "gemini", "https://generativelanguage.googleapis.com/v1beta"),
        ("openrouter", "anthropic", "https://openrouter.ai/api/v1"),
        ("deepseek", "openai", "https://api.deepseek.com"),
        ("deepseek", "anthropic", "https://api.deepseek.com/anthropic/v1"),
        ("zai", "openai", "https://api.z.ai/api/paas/v4"),
        ("fireworks", "openai", "https://api.fireworks.ai/inference/v1"),
        ("ollama", "anthropic", "http://127.0.0.1:11434/v1"),
        *[("zen", protocol, "https://opencode.ai/zen/v1") for protocol in PROTOCOLS],
    ],
)
def test_known_addresses(settings, name, protocol, address):
    assert provider_of(settings(), name).address(protocol) == address


@pytest.mark.parametrize(
    ("protocol", "written", "called"),
    [
        ("anthropic", "http://h", "http://h/v1"),
        ("anthropic", "http://h/", "http://h/v1"),
        ("anthropic", "http://h/v1", "http://h/v1"),
        ("anthropic", "http://h/v1/", "http://h/v1"),
        ("anthropic", "http://h/vendor", "http://h/vendor/v1"),
        ("gemini", "http://h", "http://h/v1beta"),
        ("gemini", "http://h/v1beta", "http://h/v1beta"),
        ("gemini", "http://h/v1", "http://h/v1"),
        ("openai", "http://h", "http://h"),
        ("openai", "http://h/v1/", "http://h/v1"),
        ("responses", "http://h/v1", "http://h/v1"),
    ],
)
def test_a_version_may_be_written_or_left_out(settings, protocol, written, called):
    home = provider_of(settings(f'[providers.home]\nprotocol = "{protocol}"\nbase_url = "{written}"\n'), "home")
    assert home.address(protocol) == called


def test_a_known_provider_is_moved_with_all_its_protocols(settings):
    moved = provider_of(settings('[providers.openai]\nbase_url = "http://127.0.0.1:9/v1"\n'), "openai")
    assert moved.addresses == dict.fromkeys(("openai", "responses"), "http://127.0.0.1:9/v1")
    assert moved.key == "OPENAI_API_KEY"
    assert moved.price("gpt-4.1") == price_of("openai", "gpt-4.1") is not None
    zen = provider_of(settings('[providers.zen]\nbase_url = "http://127.0.0.1:9/v1"\n'), "zen")
    assert set(zen.addresses) == set(PROTOCOLS)
    assert zen.protocols_for("gpt-5") == ("responses",)


def test_a_provider_of_ones_own(settings):
    plain = provider_of(settings('[providers.home]\nbase_url = "http://127.0.0.1:9/v1"\n'), "home")
    assert plain.addresses == {"openai": "http://127.0.0.1:9/v1"}
    assert (plain.key, plain.free, plain.concurrency, plain.per_minute) == (None, False, None, None)
    assert missing_key(plain, {}) is None
    assert plain.price("gpt-5") is None
    text = """
[providers.home]
base_url = "http://127.0.0.1:9/v1"
protocol = ["openai", "anthropic"]
key = "HOME_KEY"
concurrency = 2
per_minute = 30
timeout = 60
prices = {m = {input = 1, output = 2, cached = 0.5}}
"""
    full = provider_of(settings(text), "home")
    assert full.addresses == dict.fromkeys(("openai", "anthropic"), "http://127.0.0.1:9/v1")
    assert (full.key, full.concurrency, full.per_minute, full.timeout) == ("HOME_KEY", 2, 30, 60)
    assert full.price("m") == Price(1, 2, 0.5)
    assert full.price("n") is None
    assert full.protocols_for("m") == ("openai", "anthropic")


def test_each_protocol_may_have_its_address(settings):
    text = '[providers.home]\nprotocol = {openai = "http://h/v1", anthropic = "http://h/claude"}\n'
    home = provider_of(settings(text), "home")
    assert (home.address("openai"), home.address("anthropic")) == ("http://h/v1", "http://h/claude/v1")
    assert home.address("gemini") is None


def test_what_the_project_says_goes_before_the_table(settings):
    text = '[providers.openai]\nkey = "WORK_KEY"\nprices = {"gpt-4.1" = {input = 0, output = 0}}\nprotocol = "openai"\n'
    work = provider_of(settings(text), "openai")
    assert work.price("gpt-4.1") == Price(0, 0)
    assert work.price("gpt-5") == price_of("openai", "gpt-5")
    assert work.addresses == {"openai": "https://api.openai.com/v1"}
    assert key_of(work, {"OPENAI_API_KEY": "a"}) is None
    assert key_of(work, {"OPENAI_API_KEY": "a", "WORK_KEY": "b"}) == "b"


def test_no_key_is_asked_for_where_the_project_says_so(settings):
    assert missing_key(provider_of(settings('[providers.openai]\nkey = ""\n'), "openai"), {}) is None


def test_a_little_known_name_with_an_own_address_is_the_projects_own(settings):
    assert provider_of(settings(), "echo").key
    own = provider_of(settings('[providers.echo]\nbase_url = "http://127.0.0.1:9/v1"\n'), "echo")
    assert (own.key, own.listed_as, own.price("gpt-5")) == (None, None, None)


def test_a_listed_provider_without_an_address_gets_one(settings):
    assert provider_of(settings(), "vercel") is None
    vercel = provider_of(settings('[providers.vercel]\nbase_url = "http://h/v1"\n'), "vercel")
    assert vercel.key == "AI_GATEWAY_API_KEY"
    assert vercel.addresses == {"openai": "http://h/v1"}
    assert vercel.price("openai/gpt-5") == price_of("vercel", "openai/gpt-5") is not None


def test_free_costs_nothing_and_unknown_stays_unknown(settings):
    assert provider_of(settings(), "ollama").price("any").cost(1000, 0, 0, 1000) == 0
    assert provider_of(settings(), "zen").price("no-such-model") is None
    free = provider_of(settings("[providers.openai]\nfree = true\n"), "openai")
    assert free.price("gpt-5").cost(1000, 0, 0, 1000) == 0


def test_zen_serves_each_model_in_its_own_protocol(settings):
    zen = provider_of(settings(), "zen")
    assert zen.protocols_for("claude-sonnet-4-5") == ("anthropic",)
    assert zen.protocols_for("qwen3-coder") == ("openai",)
    assert set(zen.protocols_for("tomorrows-model")) == set(PROTOCOLS)
    said = provider_of(settings('[providers.zen]\nprotocol = ["openai", "anthropic"]\n'), "zen")
    assert said.protocols_for("claude-sonnet-4-5") == ("openai", "anthropic")
    assert set(provider_of(settings(), "openai").protocols_for("gpt-5")) == {"openai", "responses"}


def test_what_to_do_about_a_key(settings):
    zen, google = (provider_of(settings(), name) for name in ("zen", "google"))
    assert missing_key(zen, {}) == "zen needs a key: set OPENCODE_API_KEY, then run the command again."
    assert missing_key(zen, {"OPENCODE_API_KEY": " "}) == missing_key(zen, {})
    assert missing_key(google, {}).startswith("google needs a key: set GEMINI_API_KEY (or GOOGLE_API_KEY or ")
    assert key_of(google, {"GOOGLE_API_KEY": "second"}) == "second"
    assert key_of(google, {"GOOGLE_API_KEY": "second", "GEMINI_API_KEY": "first\n"}) == "first"


def test_what_to_do_about_an_unknown_provider(settings):
    nothing = settings()
    assert provider_of(nothing, "opnai") is None
    assert "Did you mean 'openai'?" in unknown_provider(nothing, "opnai")
    assert "set base_url in [providers.opnai]" in unknown_provider(nothing, "opnai")
    mine = settings('[providers.my-lab]\nbase_url = "http://h/v1"\n')
    assert "Did you mean 'my-lab'?" in unknown_provider(mine, "my-lbb")
    assert provider_of(settings("[providers.lab]\nfree = true\n"), "lab") is None
    assert provider_of(nothing, "none") is None


def test_a_protocol_without_an_address_is_a_sentence(settings):
    with pytest.raises(UserError, match=r"\[providers.groq\].*'anthropic'.*Add base_url"):
        provider_of(settings('[providers.groq]\nprotocol = "anthropic"\n'), "groq")

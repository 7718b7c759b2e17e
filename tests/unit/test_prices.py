"""Prices: what the table says, what a call costs, and that what is unknown stays unknown."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orvl import prices
from orvl.prices import NAMES_IN_THE_TABLE, Price, model_of, price_of, protocol_of, provider_names, table
from orvl.prices.__main__ import TABLE, as_text, main, trim
from orvl.project.settings import PROTOCOLS


def known_models(provider):
    return tuple(table()["providers"].get(NAMES_IN_THE_TABLE.get(provider, provider), {}).get("models", ()))


PLAIN = Price(2.0, 10.0)
FULL = Price(3.0, 15.0, 0.3, 3.75, tiers=((200_000, Price(6.0, 22.5, 0.6, 7.5)), (500_000, Price(12.0, 45.0))))


@pytest.mark.parametrize(
    ("price", "tokens", "dollars"),
    [
        (PLAIN, (1_000_000, 0, 0, 0), 2.0),
        (PLAIN, (0, 0, 0, 1_000_000), 10.0),
        (PLAIN, (1000, 400, 100, 10), 0.0021),
        (FULL, (1000, 0, 0, 100), 0.0045),
        (FULL, (1000, 1000, 0, 0), 0.0003),
        (FULL, (1000, 0, 1000, 0), 0.00375),
        (FULL, (1000, 500, 300, 100), 0.0006 + 0.00015 + 0.001125 + 0.0015),
        (FULL, (200_000, 0, 0, 0), 0.6),
        (FULL, (200_001, 0, 0, 0), 1.200006),
        (FULL, (200_001, 200_001, 0, 1000), 200_001 * 0.6e-6 + 0.0225),
        (FULL, (600_000, 600_000, 0, 0), 7.2),
        (Price(1.0, 2.0, cached=0.0), (1000, 1000, 0, 0), 0.0),
        (Price(1.0, 2.0, reasoning=8.0), (0, 0, 0, 1000, 400), 0.0012 + 0.0032),
        (PLAIN, (0, 0, 0, 1000, 400), 0.01),
        (PLAIN, (10, 400, 0, 0), 0.0008),
        (prices.FREE, (1000, 0, 0, 1000), 0.0),
    ],
)
def test_what_a_call_costs(price, tokens, dollars):
    assert price.cost(*tokens) == pytest.approx(dollars)


def test_the_seeds_models_have_prices():
    assert price_of("zen", "qwen3-coder") == Price(0.45, 1.8)
    assert price_of("zen", "kimi-k2") == Price(0.4, 2.5, 0.4)
    assert price_of("anthropic", "claude-sonnet-4-5") == Price(3, 15, 0.3, 3.75)
    long = price_of("zen", "claude-sonnet-4-5")
    assert long.tiers == ((200_000, Price(6, 22.5, 0.6, 7.5)),)
    assert price_of("zen", "qwen3-coder") == price_of("opencode", "qwen3-coder")


def test_unknown_is_none_and_free_is_zero():
    assert price_of("zen", "no-such-model") is None
    assert price_of("no-such-provider", "gpt-5") is None
    assert price_of("zen", "") is None
    assert known_models("no-such-provider") == ()
    free = price_of("zen", "big-pickle")
    assert free is not None
    assert free.cost(10_000, 500, 500, 10_000) == 0.0


def test_a_model_without_a_price_is_still_known():
    found = model_of("agentrouter", "claude-opus-5")
    assert (found.price, found.protocol) == (None, "anthropic")


@pytest.mark.parametrize(
    ("provider", "model", "same_as"),
    [
        ("anthropic", "claude-sonnet-5-20260630", "claude-sonnet-5"),
        ("openai", "gpt-4.1-2025-04-14", "gpt-4.1"),
        ("abacus", "claude-sonnet-4", "claude-sonnet-4-20250514"),
        ("google-vertex", "claude-opus-4", "claude-opus-4@20250514"),
    ],
)
def test_a_date_may_be_there_or_not(provider, model, same_as):
    assert model not in known_models(provider)
    assert same_as in known_models(provider)
    assert price_of(provider, model) == price_of(provider, same_as) is not None
    assert protocol_of(provider, model) == protocol_of(provider, same_as)
    assert model_of(provider, model).id == model


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o-2024-07-01"),  # its dates differ in price
        ("anthropic", "claude-opus-4-20250514"),  # not claude-opus-4-5
        ("abacus", "claude-sonnet-4-20250929"),  # only another date is known
        ("openai", "gpt-4.1-2025-13-14"),
        ("openai", "gpt-4.1-0414"),
        ("openai", "gpt-4.1-turbo"),
        ("openai", "GPT-4.1"),
        ("openai", "gpt-4.1-2025-04-14\n"),
        ("openai", "openai/gpt-4.1"),
        ("openrouter", "qwen/qwen3-coder:nitro"),
    ],
)
def test_a_name_that_might_be_another_model_is_unknown(provider, model):
    assert price_of(provider, model) is None
    assert protocol_of(provider, model) is None


def test_dates_that_differ_are_told_apart():
    assert price_of("openai", "gpt-4o-2024-05-13").input > price_of("openai", "gpt-4o").input


@pytest.mark.parametrize(
    ("provider", "model", "protocol"),
    [
        ("zen", "gpt-5", "responses"),
        ("zen", "claude-sonnet-4-5", "anthropic"),
        ("zen", "gemini-3-pro", "gemini"),
        ("zen", "qwen3-coder", "openai"),
        ("openai", "gpt-5", "responses"),
        ("anthropic", "claude-sonnet-4-5", "anthropic"),
        ("google", "gemini-2.5-pro", "gemini"),
        ("groq", "openai/gpt-oss-120b", "openai"),
        ("azure", "gpt-5", None),
    ],
)
def test_the_protocol_of_a_model(provider, model, protocol):
    assert model in known_models(provider)
    assert protocol_of(provider, model) == protocol


def test_every_row_of_the_table_reads_well():
    count = 0
    for provider in provider_names():
        for name in known_models(provider):
            model = model_of(provider, name)
            count += 1
            assert model.id == name
            assert model.protocol in (*PROTOCOLS, None)
            assert time.strptime(model.released[:4], "%Y")
            assert all(limit is None or limit > 0 for limit in (model.context, model.output))
            steps = [above for above, _ in model.price.tiers] if model.price else []
            assert steps == sorted(steps)
            for price in [model.price, *(dearer for _, dearer in model.price.tiers)] if model.price else []:
                told = [price.input, price.output, price.cached, price.cache_write, price.reasoning]
                assert all(value is None or value >= 0 for value in told)
                assert not (price.input and 0 in told[2:])
    assert count > 8000


def test_the_table_says_where_it_is_from_and_is_small():
    assert TABLE.stat().st_size <= 600_000
    head = prices.table()
    assert head["source"] == "https://models.dev/api.json"
    assert "MIT License" in head["licence"]
    assert time.strptime(head["date"], "%Y-%m-%d")
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text()
    assert head["date"] in page
    assert "MIT" in page


def test_the_table_is_read_late_and_quickly():
    code = """
import time
import orvl.project.providers, orvl.prices
assert orvl.prices.table.cache_info().currsize == 0
best = 1
for _ in range(5):
    orvl.prices.table.cache_clear()
    start = time.process_time()
    orvl.prices.price_of("zen", "kimi-k2")
    best = min(best, time.process_time() - start)
print(best)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.03


API = {
    "shop": {
        "id": "shop",
        "env": ["SHOP_KEY"],
        "npm": "@ai-sdk/openai-compatible",
        "api": "https://shop.example/v1/",
        "models": {
            "plain": {"cost": {"input": 1, "output": 2}},
            "dear": {
                "cost": {
                    "input": 1,
                    "output": 2,
                    "cache_read": 0,
                    "cache_write": 0,
                    "reasoning": 2,
                    "tiers": [
                        {"input": 4, "output": 8, "cache_read": 0.4, "tier": {"type": "context", "size": 256000}},
                        {"input": 2, "output": 4, "tier": {"type": "context", "size": 32000}},
                        {"input": 9, "output": 9, "tier": {"type": "weekday", "size": 1}},
                    ],
                },
                "limit": {"context": 1e6, "output": 0},
            },
            "free": {"cost": {"input": 0, "output": 0, "cache_read": 0}},
            "unpriced": {},
            "half-priced": {"cost": {"input": 1}},
            "wrong": {"cost": {"input": -1, "output": -1}},
            "claude": {"provider": {"npm": "@ai-sdk/anthropic", "api": "https://shop.example/anthropic/v1"}},
            "gpt": {"provider": {"shape": "responses"}},
            "painter": {"modalities": {"output": ["image"]}},
        },
    },
    "tenant": {
        "id": "tenant",
        "env": ["TENANT", "TENANT_KEY"],
        "npm": "@ai-sdk/openai-compatible",
        "api": "https://${TENANT}.example/v1",
        "models": {"m": {"last_updated": "2026-03-04"}},
    },
    "odd": {"id": "odd", "env": ["ODD_KEY"], "npm": "odd-sdk", "models": {"m": {}}},
}
MODEL = {
    "release_date": "2026-01-02",
    "last_updated": "2026-01-02",
    "modalities": {"output": ["text"]},
    "limit": {"context": 1000, "output": 100},
}


@pytest.fixture
def api():
    return {
        name: {**provider, "models": {id: {**MODEL, **model} for id, model in provider["models"].items()}}
        for name, provider in API.items()
    }


def test_trimming_keeps_what_is_needed(api):
    table = json.loads(as_text(trim(api)))
    shop = table["providers"]["shop"]
    assert table["date"] == "2026-03-04"
    assert shop["addresses"] == {
        "openai": "https://shop.example/v1",
        "anthropic": "https://shop.example/anthropic/v1",
        "responses": "https://shop.example/v1",
    }
    assert (shop["keys"], shop["protocol"]) == (["SHOP_KEY"], "openai")
    head = ["2026-01-02", 1000, 100]
    assert shop["models"] == {
        "claude": [*head, None, None, "anthropic"],
        "dear": ["2026-01-02", 1_000_000, None, [1, 2], [[32000, [2, 4]], [256000, [4, 8, 0.4]]]],
        "free": [*head, [0, 0, 0]],
        "gpt": [*head, None, None, "responses"],
        "half-priced": head,
        "plain": [*head, [1, 2]],
        "unpriced": head,
        "wrong": head,
    }
    assert table["providers"]["tenant"]["addresses"] == {}
    assert table["providers"]["odd"] | {"models": None} == {
        "addresses": {},
        "keys": ["ODD_KEY"],
        "protocol": None,
        "models": None,
    }


def test_the_tool_writes_the_table(api, tmp_path, capsys):
    source, target = tmp_path / "api.json", tmp_path / "table.json"
    source.write_text(json.dumps(api))
    assert main([str(source)], target) == 0
    assert capsys.readouterr().out == "table.json: 3 providers, 10 models, as of 2026-03-04\n"
    assert json.loads(target.read_text()) == trim(api)
    assert main([]) == 2
    assert "python -m orvl.prices api.json" in capsys.readouterr().err

"""Makes the price table from models.dev's data: `python -m orvl.prices api.json`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("table.json")
SOURCE = "https://models.dev/api.json"
LICENCE = "MIT License, Copyright (c) 2025 spin.dev (models.dev). It is given here under the terms of that licence, \
which are those of orvl's own LICENSE file."

CHAT = "openai"
SDKS = {
    "@ai-sdk/openai-compatible": CHAT,
    "@ai-sdk/openai": "responses",
    "@ai-sdk/anthropic": "anthropic",
    "@ai-sdk/google": "gemini",
    "@ai-sdk/cerebras": CHAT,
    "@ai-sdk/deepinfra": CHAT,
    "@ai-sdk/groq": CHAT,
    "@ai-sdk/mistral": CHAT,
    "@ai-sdk/perplexity": CHAT,
    "@ai-sdk/togetherai": CHAT,
    "@ai-sdk/xai": CHAT,
    "@openrouter/ai-sdk-provider": CHAT,
}
BUILT_IN_ADDRESSES = {
    "@ai-sdk/openai": "https://api.openai.com/v1",
    "@ai-sdk/anthropic": "https://api.anthropic.com/v1",
    "@ai-sdk/google": "https://generativelanguage.googleapis.com/v1beta",
    "@ai-sdk/cerebras": "https://api.cerebras.ai/v1",
    "@ai-sdk/deepinfra": "https://api.deepinfra.com/v1/openai",
    "@ai-sdk/groq": "https://api.groq.com/openai/v1",
    "@ai-sdk/mistral": "https://api.mistral.ai/v1",
    "@ai-sdk/perplexity": "https://api.perplexity.ai",
    "@ai-sdk/togetherai": "https://api.together.xyz/v1",
    "@ai-sdk/xai": "https://api.x.ai/v1",
}
SHAPES = {"responses": "responses", "completions": CHAT}


def trim(data: dict[str, Any]) -> dict[str, Any]:
    """The table: addresses and keys of each provider, and a short list of facts of each model that writes text."""
    providers = {name: _provider(data[name]) for name in sorted(data)}
    newest = max(model["last_updated"] for provider in data.values() for model in provider["models"].values())
    return {
        "source": SOURCE,
        "date": newest,
        "licence": LICENCE,
        "model": ["released", "context", "output limit", "prices", "tiers", "protocol"],
        "prices": ["input", "output", "cached", "cache_write", "reasoning"],
        "tier": ["input tokens above", "prices"],
        "providers": providers,
    }


def _provider(provider: dict[str, Any]) -> dict[str, Any]:
    own = SDKS.get(provider["npm"])
    base = provider.get("api") or BUILT_IN_ADDRESSES.get(provider["npm"])
    addresses: dict[str, str] = {own: base} if own and base else {}
    models = {}
    for name, model in sorted(provider["models"].items()):
        if "text" not in model["modalities"]["output"]:
            continue
        override = model.get("provider") or {}
        protocol = SHAPES.get(override.get("shape", "")) or SDKS.get(override.get("npm") or provider["npm"])
        address = override.get("api") or base
        if protocol and address:
            addresses.setdefault(protocol, address)
        models[name] = _model(model, protocol if protocol != own else None)
    fixed = {protocol: address.rstrip("/") for protocol, address in addresses.items() if "${" not in address}
    return {"addresses": fixed, "keys": provider["env"], "protocol": own, "models": models}


def _model(model: dict[str, Any], protocol: str | None) -> list[Any]:
    cost = model.get("cost") or {}
    limit = model["limit"]
    tiers = [
        [int(tier["tier"]["size"]), _prices(tier)]
        for tier in sorted(cost.get("tiers", ()), key=lambda tier: float(tier["tier"]["size"]))
        if tier["tier"]["type"] == "context" and _prices(tier)
    ]
    limits = [int(limit.get("context") or 0) or None, int(limit.get("output") or 0) or None]
    return _shortened([model["release_date"], *limits, _prices(cost), tiers or None, protocol])


def _prices(cost: dict[str, Any]) -> list[float] | None:
    """Prices as a list, without those that equal the price of input or output."""
    input_price, output_price = cost.get("input"), cost.get("output")
    if input_price is None or output_price is None:
        return None
    extra = [cost.get(name) for name in ("cache_read", "cache_write", "reasoning")]
    # models.dev writes 0 where a paid model charges cache or reasoning like other tokens, not where they are free.
    if input_price:
        extra = [price or None for price in extra]
    if extra[2] == output_price:
        extra[2] = None
    prices = [input_price, output_price, *extra]
    return None if any(price is not None and price < 0 for price in prices) else _shortened(prices)


def _shortened(values: list[Any]) -> list[Any]:
    while values and values[-1] is None:
        values = values[:-1]
    return values


def as_text(table: dict[str, Any]) -> str:
    """The table as JSON with one provider on a line, so that an update can be read as a diff."""
    head = {name: value for name, value in table.items() if name != "providers"}
    lines = [f"{json.dumps(name)}:{_compact(provider)}" for name, provider in table["providers"].items()]
    return json.dumps(head, indent=0)[:-2] + ',\n"providers": {\n' + ",\n".join(lines) + "\n}\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def main(arguments: list[str], target: Path = TABLE) -> int:
    """Reads api.json and writes the table."""
    if len(arguments) != 1:
        sys.stderr.write("Usage: python -m orvl.prices api.json\n")
        return 2
    table = trim(json.loads(Path(arguments[0]).read_bytes()))
    target.write_text(as_text(table), encoding="utf-8")
    models = sum(len(provider["models"]) for provider in table["providers"].values())
    sys.stdout.write(f"{target.name}: {len(table['providers'])} providers, {models} models, as of {table['date']}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What models cost: a trimmed copy of models.dev's table, read on first use."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

MILLION = 1_000_000
NAMES_IN_THE_TABLE = {
    "zen": "opencode",
    "together": "togetherai",
    "fireworks": "fireworks-ai",
    "moonshot": "moonshotai",
}
DATE = re.compile(r"[-@](20\d\d)(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])\Z")
FOR_AN_HOUR = 2.0
"""What it costs to keep input in a cache for an hour instead of five minutes, as a multiple of its price."""


@dataclass(frozen=True)
class Price:
    """What a model costs, in dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Like `input` if None."""
    cache_write: float | None = None
    """Like `input` if None."""
    reasoning: float | None = None
    """Like `output` if None."""
    tiers: tuple[tuple[int, Price], ...] = ()
    """Higher prices of long calls: (number of input tokens, price above it), ascending."""

    def cost(
        self, input_tokens: int, cached: int, cache_write: int, output: int, reasoning: int = 0, for_an_hour: int = 0
    ) -> float:
        """The dollars of one call; `input_tokens` includes cached and written ones, `output` includes reasoning, and
        `cache_write` those that are kept for an hour."""
        price = self
        for above, higher in self.tiers:
            if input_tokens > above:
                price = higher
        plain = max(0, input_tokens - cached - cache_write)
        read = price.input if price.cached is None else price.cached
        write = price.input if price.cache_write is None else price.cache_write
        reasoned = price.output if price.reasoning is None else price.reasoning
        spent = plain * price.input + cached * read + cache_write * write
        spent += for_an_hour * max(0.0, price.input * FOR_AN_HOUR - write)
        return (spent + max(0, output - reasoning) * price.output + reasoning * reasoned) / MILLION

    def largest_cost(self, input_tokens: int, output: int) -> float:
        """The most dollars that one call of so many tokens can cost, however they are split into kinds."""
        prices = (self, *(higher for above, higher in self.tiers if input_tokens > above))
        return max(price._largest(input_tokens, output) for price in prices)

    def _largest(self, input_tokens: int, output: int) -> float:
        written = self.cache_write or 0.0
        # Only who takes more for writing than for reading keeps it for an hour.
        dearest = max(
            self.input, self.cached or 0.0, written, self.input * FOR_AN_HOUR if written > self.input else 0.0
        )
        return (input_tokens * dearest + output * max(self.output, self.reasoning or 0.0)) / MILLION


FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class Model:
    """What is known of a model at a provider."""

    id: str
    released: str
    context: int | None
    output: int | None
    price: Price | None
    protocol: str | None


@dataclass(frozen=True)
class PriceRow:
    """What the table knows of a provider."""

    addresses: dict[str, str]
    """By protocol."""
    keys: tuple[str, ...]
    """Environment variables that may hold its key."""
    protocol: str | None
    """The protocol in which it serves most models."""


def price_of(provider: str, model: str) -> Price | None:
    """A model's price at a provider, if known."""
    row = model_of(provider, model)
    return row.price if row else None


def protocol_of(provider: str, model: str) -> str | None:
    """The protocol in which the provider prefers to serve this model, if known."""
    row = model_of(provider, model)
    return row.protocol if row else None


def model_of(provider: str, model: str) -> Model | None:
    """A model by its id; `NAME-20250929` and `NAME` mean each other unless another date of it has another price."""
    rows = _provider(provider).get("models", {})
    if model in rows:
        return _model(provider, model)
    name = DATE.sub("", model)
    dated = [_model(provider, other) for other in rows if other != name and DATE.sub("", other) == name]
    plain = [_model(provider, name)] if name in rows else []
    same = plain + dated if plain or model == name else []
    agree = {(version.price, version.protocol) for version in same}
    return replace(same[0], id=model) if len(agree) == 1 else None


def provider_row(provider: str) -> PriceRow | None:
    """How a provider is reached, if it is in the table."""
    if not (row := _provider(provider)):
        return None
    return PriceRow(dict(row["addresses"]), tuple(row["keys"]), row["protocol"])


def provider_names() -> tuple[str, ...]:
    """All providers in the table, by their names at models.dev."""
    return tuple(table()["providers"])


def serves_by_model(provider: str) -> bool:
    """Whether the provider serves some models in one protocol and some in another."""
    return any(len(row) > 5 for row in _provider(provider).get("models", {}).values())


@cache
def table() -> dict[str, Any]:
    """The whole table, with its source, its date and its licence."""
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("table.json").read_bytes())
    return loaded


def _provider(name: str) -> dict[str, Any]:
    row: dict[str, Any] = table()["providers"].get(NAMES_IN_THE_TABLE.get(name, name), {})
    return row


def _model(provider: str, name: str) -> Model:
    row = _provider(provider)
    released, context, output, prices, tiers, protocol = _filled(row["models"][name], 6)
    price = None
    if prices:
        higher = tuple((above, _price(values)) for above, values in tiers or ())
        price = replace(_price(prices), tiers=higher)
    return Model(name, released, context, output, price, protocol or row["protocol"])


def _price(values: list[float | None]) -> Price:
    return Price(*_filled(values, 5))


def _filled(values: list[Any], length: int) -> list[Any]:
    return values + [None] * (length - len(values))

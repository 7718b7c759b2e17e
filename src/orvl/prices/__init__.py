"""What models cost: a trimmed copy of models.dev's table, read when it is first asked for."""

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


@dataclass(frozen=True)
class Price:
    """What a model costs, in dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """As `input` where it is not known."""
    cache_write: float | None = None
    """As `input` where it is not known."""
    reasoning: float | None = None
    """As `output` where it is not told apart."""
    tiers: tuple[tuple[int, Price], ...] = ()
    """Prices of calls with more input tokens than a number, by that number."""

    def cost(self, input_tokens: int, cached: int, cache_write: int, output: int, reasoning: int = 0) -> float:
        """The dollars of one call; `input_tokens` counts cached and written ones too, `output` reasoning ones."""
        price = self
        for above, dearer in self.tiers:
            if input_tokens > above:
                price = dearer
        plain = max(0, input_tokens - cached - cache_write)
        read = price.input if price.cached is None else price.cached
        write = price.input if price.cache_write is None else price.cache_write
        thought = price.output if price.reasoning is None else price.reasoning
        spent = plain * price.input + cached * read + cache_write * write
        return (spent + max(0, output - reasoning) * price.output + reasoning * thought) / MILLION


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
    """What is known of a provider: addresses by protocol, variables that may hold its key, its usual protocol."""

    addresses: dict[str, str]
    keys: tuple[str, ...]
    protocol: str | None


def price_of(provider: str, model: str) -> Price | None:
    """A model's price at a provider, or None where it is not known."""
    found = model_of(provider, model)
    return found.price if found else None


def protocol_of(provider: str, model: str) -> str | None:
    """The protocol in which the provider serves this model first of all, or None where it is not known."""
    found = model_of(provider, model)
    return found.protocol if found else None


def known_models(provider: str) -> tuple[str, ...]:
    """The ids of all models that are known at a provider."""
    return tuple(_provider(provider).get("models", ()))


def model_of(provider: str, model: str) -> Model | None:
    """A model by its id; `NAME-20250929` and `NAME` stand for each other where no date of it costs otherwise."""
    rows = _provider(provider).get("models", {})
    if model in rows:
        return _model(provider, model)
    name = DATE.sub("", model)
    dated = [_model(provider, other) for other in rows if other != name and DATE.sub("", other) == name]
    plain = [_model(provider, name)] if name in rows else []
    same = plain + dated if plain or model == name else []
    agree = {(one.price, one.protocol) for one in same}
    return replace(same[0], id=model) if len(agree) == 1 else None


def host_of(provider: str) -> PriceRow | None:
    """How a provider is reached, or None where it is not in the table."""
    if not (row := _provider(provider)):
        return None
    return PriceRow(dict(row["addresses"]), tuple(row["keys"]), row["protocol"])


def hosts() -> tuple[str, ...]:
    """The names of all providers in the table, as models.dev has them."""
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
    found: dict[str, Any] = table()["providers"].get(NAMES_IN_THE_TABLE.get(name, name), {})
    return found


def _model(provider: str, name: str) -> Model:
    host = _provider(provider)
    released, context, output, prices, tiers, protocol = _filled(host["models"][name], 6)
    price = None
    if prices:
        dearer = tuple((above, _price(more)) for above, more in tiers or ())
        price = replace(_price(prices), tiers=dearer)
    return Model(name, released, context, output, price, protocol or host["protocol"])


def _price(values: list[float | None]) -> Price:
    return Price(*_filled(values, 5))


def _filled(values: list[Any], length: int) -> list[Any]:
    return values + [None] * (length - len(values))

"""Providers known by name, overridden by the project's own settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orvl.errors import UserError
from orvl.prices import (
    FREE,
    NAMES_IN_THE_TABLE,
    Price,
    model_of,
    price_of,
    protocol_of,
    provider_names,
    provider_row,
    serves_by_model,
)
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.project.settings import ProviderSettings, Settings

FOREMOST = (
    "openai",
    "anthropic",
    "google",
    "openrouter",
    "zen",
    "groq",
    "deepseek",
    "mistral",
    "xai",
    "together",
    "fireworks",
    "cerebras",
    "deepinfra",
    "moonshot",
    "zai",
    "minimax",
    "alibaba",
    "nvidia",
    "baseten",
    "huggingface",
)
ON_THIS_MACHINE = {
    "ollama": {
        "openai": "http://127.0.0.1:11434/v1",
        "responses": "http://127.0.0.1:11434/v1",
        "anthropic": "http://127.0.0.1:11434",
    },
    "lmstudio": {"openai": "http://127.0.0.1:1234/v1"},
    "llamacpp": {"openai": "http://127.0.0.1:8080/v1", "anthropic": "http://127.0.0.1:8080"},
    "vllm": {
        "openai": "http://127.0.0.1:8000/v1",
        "responses": "http://127.0.0.1:8000/v1",
        "anthropic": "http://127.0.0.1:8000",
    },
}
FURTHER_ADDRESSES = {
    "openai": {"openai": "https://api.openai.com/v1"},
    "openrouter": {"responses": "https://openrouter.ai/api/v1", "anthropic": "https://openrouter.ai/api"},
    "deepseek": {"anthropic": "https://api.deepseek.com/anthropic"},
    "moonshotai": {"anthropic": "https://api.moonshot.ai/anthropic"},
    "xai": {"responses": "https://api.x.ai/v1"},
    "zai": {"anthropic": "https://api.z.ai/api/anthropic"},
}
KEEPS_ITS_NAME = {*FOREMOST, *ON_THIS_MACHINE, *NAMES_IN_THE_TABLE.values()}
FIRST_KEY = {"google": "GEMINI_API_KEY"}
VERSIONS = {"anthropic": "/v1", "gemini": "/v1beta"}
ENDS_IN_A_VERSION = re.compile(r"/v\d\w*\Z")


@dataclass(frozen=True)
class Provider:
    """A place that serves models, as this project uses it."""

    name: str
    addresses: Mapping[str, str]
    """By protocol, as written; `address` gives the form to call."""
    key: str | None = None
    """The environment variable that holds the key; None if no key is needed."""
    other_keys: tuple[str, ...] = ()
    """Variables that are read if `key` is not set."""
    concurrency: int | None = None
    per_minute: int | None = None
    timeout: float = 300
    free: bool = False
    prices: Mapping[str, Price] = field(default_factory=dict)
    """Prices from orvl.toml, by model."""
    listed_as: str | None = None
    """Its name in the price table."""
    by_model: bool = False
    """Whether it serves each model in one of its protocols only."""
    does_without_key: bool = False
    """Whether it may be called without a key: the project has moved it to this machine."""

    @property
    def is_local(self) -> bool:
        return all(_is_loopback(address) for address in self.addresses.values())

    def address(self, protocol: str) -> str | None:
        """What a protocol's paths (`/chat/completions`, `/responses`, `/messages`, `/models/…`) are put after.

        Anthropic's and Gemini's may be written with their version or without it: it is added if it is missing.
        """
        if (address := self.addresses.get(protocol)) is None:
            return None
        plain = address.rstrip("/")
        return plain if ENDS_IN_A_VERSION.search(plain) else plain + VERSIONS.get(protocol, "")

    def price(self, model: str) -> Price | None:
        """A model's price: the project's own, 0 at a free provider, else the table's; None if it is unknown."""
        if model in self.prices:
            return self.prices[model]
        if self.free:
            return FREE
        return price_of(self.listed_as, model) if self.listed_as else None

    def capacity(self, model: str) -> tuple[int | None, int | None]:
        """The most tokens of a model's context and of its output, where the table knows them."""
        row = model_of(self.listed_as, model) if self.listed_as else None
        return (row.context, row.output) if row else (None, None)

    def protocols_for(self, model: str) -> tuple[str, ...]:
        """The protocols in which it serves a model: all of its own, or one that depends on the model."""
        only = protocol_of(self.listed_as, model) if self.by_model and self.listed_as else None
        return (only,) if only and only in self.addresses else tuple(self.addresses)


def provider_of(settings: Settings, name: str) -> Provider | None:
    """The provider of that name, or None if neither orvl nor the project knows its address."""
    own, known = settings.providers.get(name), _known(name)
    if own is None:
        return known if known.addresses else None
    if (own.base_url or isinstance(own.protocol, dict)) and known.addresses and name not in KEEPS_ITS_NAME:
        known = Provider(name, {})
    addresses = _addresses(name, own, known)
    if not addresses:
        return None
    is_local = all(map(_is_loopback, addresses.values()))
    return Provider(
        name=name,
        addresses=addresses,
        does_without_key=own.key is None and is_local,
        key=known.key if own.key is None else own.key or None,
        other_keys=known.other_keys if own.key is None else (),
        concurrency=own.concurrency,
        per_minute=own.per_minute,
        timeout=own.timeout,
        free=own.free or known.free,
        prices={
            model: Price(price.input, price.output, price.cached, price.cache_write)
            for model, price in own.prices.items()
        },
        listed_as=known.listed_as,
        by_model=known.by_model and own.protocol is None,
    )


def known_names() -> tuple[str, ...]:
    """All providers whose address is known: the main ones, those on this machine, and the rest of models.dev's."""
    first = (*FOREMOST, *ON_THIS_MACHINE)
    taken = {*first, *NAMES_IN_THE_TABLE.values()}
    return (*first, *(name for name in provider_names() if name not in taken and _known(name).addresses))


def key_of(provider: Provider, environ: Mapping[str, str]) -> str | None:
    """The key, from the first of its variables that is set."""
    names = (provider.key, *provider.other_keys) if provider.key else ()
    return next((found for name in names if (found := environ.get(name, "").strip())), None)


def missing_key(provider: Provider, environ: Mapping[str, str]) -> str | None:
    """What to do about a key that is missing, or that no request can carry."""
    key = key_of(provider, environ)
    if key and not (key.isascii() and key.isprintable()):
        return f"The key of {provider.name} in {provider.key} contains a line break or another invalid character."
    if provider.key is None or provider.does_without_key or key:
        return None
    others = f" (or {' or '.join(provider.other_keys)})" if provider.other_keys else ""
    return f"{provider.name} needs a key: set {provider.key}{others}, then run the command again."


def unknown_provider(settings: Settings, name: str) -> str:
    """What to do about a provider whose address is unknown."""
    hint = did_you_mean(name, {*known_names(), *settings.providers} - {name})
    return f"Unknown provider '{name}'. {hint} Or set base_url in [providers.{name}] in orvl.toml."


def _known(name: str) -> Provider:
    """What orvl itself knows about a name, if anything."""
    if name in ON_THIS_MACHINE:
        return Provider(name, ON_THIS_MACHINE[name], free=True)
    if (host := provider_row(name)) is None:
        return Provider(name, {})
    listed_as = NAMES_IN_THE_TABLE.get(name, name)
    first = FIRST_KEY.get(listed_as)
    by_model = serves_by_model(listed_as)
    if first is None and len(host.keys) != 1:
        return Provider(name, {}, listed_as=listed_as, by_model=by_model)
    keys = sorted(host.keys, key=lambda key: key != first)
    addresses = host.addresses | FURTHER_ADDRESSES.get(listed_as, {})
    return Provider(name, addresses, keys[0], tuple(keys[1:]), listed_as=listed_as, by_model=by_model)


def _addresses(name: str, own: ProviderSettings, known: Provider) -> Mapping[str, str]:
    if isinstance(own.protocol, dict):
        return own.protocol
    if own.protocol is None:
        moved = known.addresses or ("openai",)
        return dict.fromkeys(moved, own.base_url) if own.base_url else known.addresses
    protocols = [own.protocol] if isinstance(own.protocol, str) else own.protocol
    addresses = {protocol: own.base_url or known.addresses.get(protocol) for protocol in protocols}
    if without := [protocol for protocol, address in addresses.items() if not address]:
        raise UserError(f"[providers.{name}] in orvl.toml has '{without[0]}' but no address for it. Add base_url.")
    return {protocol: address for protocol, address in addresses.items() if address}


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

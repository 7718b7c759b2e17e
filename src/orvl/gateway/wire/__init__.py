"""The wire formats in which models are called: one file each, and a registry.

A new format is a new file here and its name in `PROTOCOLS`. Nothing here knows of the rest of the gateway.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module

from orvl.gateway.wire.format import ModelAnswer, Route, WireFormat
from orvl.project.settings import PROTOCOLS

FORMATS: Mapping[str, WireFormat] = {name: import_module(f"{__name__}.{name}").FORMAT for name in PROTOCOLS}
"""By the name that `protocol` has in agents' files and in orvl.toml."""

DEFAULT = "openai"
VERSION = re.compile(r"/v\d\w*(?=/)")
MODELS = re.compile(r"/models(?:/[\w.@:/-]+)?")
KEY_QUERY = "key"
AZURE_KEY_HEADER = "api-key"
KEY_HEADERS = tuple(
    dict.fromkeys([*(name for format in FORMATS.values() for name in format.key_headers), AZURE_KEY_HEADER])
)


def route_of(method: str, path: str, protocol: str) -> Route | None:
    """The route of a path, with or without a version; `protocol` decides about paths that several formats share."""
    if ".." in path or "//" in path:
        return None
    version = VERSION.match(path)
    rest = path[version.end() :] if version else path
    if method == "GET" and MODELS.fullmatch(rest):
        return Route(FORMATS[protocol], rest, is_call=False, lists_models=True)
    if method != "POST":
        return None
    return next((route for format in FORMATS.values() if (route := format.route(rest))), None)


def route_below(path: str) -> Route | None:
    """The route of a path after any prefix."""
    ends = [path[match.start() :] for match in re.finditer("/", path)]
    return next((route for end in ends for format in FORMATS.values() if (route := format.route(end))), None)


def key_in(headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
    """The key that a request carries, in any format's header."""
    for name in KEY_HEADERS:
        if value := headers.get(name):
            return value.split(None, 1)[-1] if name == "authorization" else value
    return query.get(KEY_QUERY)


def read_stream(protocol: str, data: bytes) -> ModelAnswer:
    """The answer that a recorded stream adds up to."""
    reader = FORMATS[protocol].reader()
    reader.feed_stream(data)
    return reader.answer

"""The ways out of a sandbox: a port on its own loopback, and what answers there from outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.sandbox.registries import REGISTRIES, RegistryProxy, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.sandbox import Doors, Sandbox
    from orvl.types import Eval

REGISTRY_PORT = 4873
CERTIFICATES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
)
SYSTEM_CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/", "/usr/")


def ways_out(one: Eval, sandbox: Sandbox, allowed: Sequence[str] | None) -> Doors:
    """The doors that an eval asks for, and the environment that leads programs to them.

    Without walls none is needed.
    """
    if one.network != "registries" or not sandbox.has_walls:
        return {}, {}
    try:
        proxy = RegistryProxy(REGISTRIES if allowed is None else allowed, _own_proxy())
    except ValueError as error:
        raise UserError(f"Registries cannot be reached through your proxy: {error}.") from error
    return {REGISTRY_PORT: proxy.serve}, environment(REGISTRY_PORT) | _certificates()


def _own_proxy() -> str | None:
    """The proxy that the user goes through."""
    names = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _certificates() -> dict[str, str]:
    """Where the system keeps certificates, if the user says so."""
    told = {name: os.environ[name] for name in CERTIFICATES if name in os.environ}
    return {name: path for name, path in told.items() if path.startswith(SYSTEM_CERTIFICATES)}

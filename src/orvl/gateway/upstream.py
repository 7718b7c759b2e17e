"""How a provider is reached: through the user's own proxy, and read up to a bound."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from yarl import URL


def proxy_for(url: URL) -> str | None:
    """The proxy that the user's environment names for an address, if any; never for this machine."""
    proxies = _proxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or not url.host or url.host in ("127.0.0.1", "localhost", "::1"):
        return None
    return None if proxy_bypass(url.host) else proxy


@cache
def _proxies() -> dict[str, str]:
    return getproxies()


async def read_up_to(content: StreamReader, most: int) -> bytes | None:
    """All of a body; None where it is longer."""
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)

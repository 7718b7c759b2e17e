"""The store: what runs left, how they were scored, and how far the judges can be trusted.

A second kind of store is one file with a class that does what `Store` asks, and one line in STORES.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.store.protocol import ANY_EPISODE, Batch, Blobs, Store

if TYPE_CHECKING:
    from orvl.store.rows import StoredCell, StoredRun

__all__ = ["ANY_EPISODE", "Batch", "Blobs", "Store", "StoredCell", "StoredRun", "open_store", "store_url"]

STORES = {"sqlite": "orvl.store.sqlite:SqliteStore"}
"""By the scheme of --store: a class that takes what follows it and `write`, and says whether a store `exists` there."""
DEFAULT = "sqlite"
BUSY_WAIT = 0.1
"""Seconds between two looks at a store that another process writes to."""


def store_url(flag: str | None, setting: str | None, root: Path) -> str:
    """SCHEME://PLACE. A folder is one of `--store`, from where the user stands, else of orvl.toml, from the project."""
    url = flag or setting
    if not url:
        return f"{DEFAULT}://{root / '.orvl'}"
    scheme, separator, place = url.partition("://")
    if separator and scheme in STORES and scheme != DEFAULT:
        return url
    if separator and (scheme != DEFAULT or not place.startswith("/")):
        raise UserError(f"--store {url}: this version keeps results in a folder. Give its path.")
    folder = Path(place if separator else url).expanduser()
    return f"{DEFAULT}://{((Path.cwd() if flag else root) / folder).resolve()}"


def open_store(url: str | Path, *, write: bool) -> Store:
    """Opens the store at a URL or in a folder; a writer creates it where it is missing."""
    kind, place = _resolve(url)
    store: Store = kind(place, write=write)
    return store


def store_exists(url: str | Path) -> bool:
    kind, place = _resolve(url)
    return bool(kind.exists(place))


def _resolve(url: str | Path) -> tuple[Any, str]:
    """The class of a store, and its place."""
    scheme, separator, place = str(url).partition("://")
    module, name = STORES[scheme if separator else DEFAULT].split(":")
    return getattr(import_module(module), name), place if separator else str(url)

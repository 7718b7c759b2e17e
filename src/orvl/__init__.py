"""orvl: open real evals for coding agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orvl.rate.rating import Rating, rate
    from orvl.types import Command as Command

__version__ = "0.1.0"
__all__ = ["Command", "Rating", "__version__", "rate"]

_HOMES = {"rate": "orvl.rate.rating", "Rating": "orvl.rate.rating", "Command": "orvl.types"}


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first asked for, so that `import orvl` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'orvl' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value

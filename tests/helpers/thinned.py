"""Many variants of one attack: every change tries a few of them, `make nightly` tries all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def thinned(variants: Mapping[str, Any] | Iterable[Any], every: int = 3) -> list[Any]:
    """Parameters for a test, by name where they have one: each `every`-th is tried by every change, the rest by night."""
    named = variants.items() if isinstance(variants, Mapping) else ((None, one) for one in variants)
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            id=name,
            marks=() if number % every == 0 else pytest.mark.nightly,
        )
        for number, (name, value) in enumerate(named)
    ]

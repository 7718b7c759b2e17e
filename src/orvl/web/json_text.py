"""JSON as commands write it."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False) + "\n"

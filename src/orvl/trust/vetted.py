"""Which evals have passed the gate: by what is kept in the store, and for evals that come with orvl in a file.

A record counts for the content that it was made of. Once an eval, its checks or its controls have changed, it says
nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import StoreError
from orvl.store import beneath
from orvl.trust.standing import eval_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orvl.store import Store
    from orvl.types import Eval

KIND = "vetting"
VERSION = 1
"""Of the tests: a record of others does not count."""
PACKAGED = Path(__file__).parents[1] / "evals" / "vetted.json"


def vetted_states(store: Store, evals: Iterable[Eval]) -> dict[str, bool | None]:
    """By name, whether an eval has passed the gate as it is now; None where nobody has tried."""
    some = list(evals)
    if not some:
        return {}
    known: dict[str, bool] = {}
    try:
        # The newest come first.
        for record in [*(one.content for one in store.trust(KIND)), *packaged().values()]:
            if record["version"] == VERSION and record["whole"]:
                known.setdefault(record["content"], record["vetted"] is True)
    except (LookupError, TypeError, AttributeError) as error:
        raise StoreError(f"A record of the gate in the store {store.folder} is damaged ({error}).") from error
    return {eval_.name: known.get(eval_content(eval_)) for eval_ in some}


def packaged() -> dict[str, Mapping[str, Any]]:
    """What is known of evals that come with orvl."""
    try:
        found = json.loads(beneath.read(PACKAGED, beneath.LARGEST))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def package(record: Mapping[str, Any]) -> None:
    """Puts a record into the file that comes with orvl, in place of an older one of the same eval."""
    states = {number: test["state"] for number, test in record["tests"].items()}
    about = {key: record[key] for key in ("version", "content", "vetted", "whole")}
    kept = {**packaged(), record["eval"]: about | {"tests": states}}
    text = json.dumps(dict(sorted(kept.items())), indent=1) + "\n"
    with beneath.replacing(PACKAGED) as file:
        file.write(text.encode())

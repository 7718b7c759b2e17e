"""orvl: open real evals for coding agents.

>>> import orvl
>>> project = orvl.open("my-project")                                              # doctest: +SKIP
>>> project.run("opencode", eval="hello-world", episodes=3, budget=2.0).ratings    # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orvl.engine import AttemptEnded as AttemptEnded
    from orvl.engine import Event as Event
    from orvl.engine import Notice as Notice
    from orvl.engine import RunGivenUp as RunGivenUp
    from orvl.engine import RunScored as RunScored
    from orvl.engine import RunStarted as RunStarted
    from orvl.errors import OrvlError as OrvlError
    from orvl.pipeline import OpenProject as OpenProject
    from orvl.pipeline import open as open
    from orvl.rate.rated_run import Run as Run
    from orvl.rate.rating import Rating as Rating
    from orvl.rate.rating import rate as rate
    from orvl.report.results import Results as Results
    from orvl.types import Command as Command

__version__ = "0.1.0"
_HOMES = {
    "open": "orvl.pipeline:open",
    "OpenProject": "orvl.pipeline:OpenProject",
    "Results": "orvl.report.results:Results",
    "Run": "orvl.rate.rated_run:Run",
    "Rating": "orvl.rate.rating:Rating",
    "rate": "orvl.rate.rating:rate",
    "Command": "orvl.types:Command",
    "OrvlError": "orvl.errors:OrvlError",
    "Event": "orvl.engine:Event",
    "RunStarted": "orvl.engine:RunStarted",
    "AttemptEnded": "orvl.engine:AttemptEnded",
    "RunGivenUp": "orvl.engine:RunGivenUp",
    "RunScored": "orvl.engine:RunScored",
    "Notice": "orvl.engine:Notice",
}
__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first asked for, so that `import orvl` costs nothing."""
    if name == "stats":
        from importlib import import_module

        return import_module("orvl.stats")
    if name not in _HOMES:
        raise AttributeError(f"module 'orvl' has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value

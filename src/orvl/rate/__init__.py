"""R, R_pen, boards and comparisons. The package itself can be called: `orvl.rate(S, …)` is the rating of a table."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """`orvl.rate` names a function and this folder: importing the folder puts it in the function's place."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from orvl.rate.rating import rate

        return rate(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage

"""The project and the scripted judges of the other tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from tests.conftest import project

__all__ = ["project"]

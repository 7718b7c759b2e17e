"""The project of the other tests, for those here that drive the command line."""

from tests.conftest import project

__all__ = ["project"]

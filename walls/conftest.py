"""The project of the other tests, for agents that want out of it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from tests.conftest import no_keys_and_no_agents_of_the_users, project, root_folder, small

__all__ = ["no_keys_and_no_agents_of_the_users", "project", "root_folder", "small"]

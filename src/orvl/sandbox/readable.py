"""What all agents and checks of a project may read, by its orvl.toml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import FileError
from orvl.project import line_in
from orvl.sandbox.registries import check_entry

if TYPE_CHECKING:
    from orvl.project import Project


def readable_paths(project: Project) -> list[Path]:
    """These paths; mistakes in orvl.toml's [sandbox] are reported before anything runs."""
    settings, file = project.settings.sandbox, project.settings_file
    for entry in settings.registries or ():
        if why := check_entry(entry):
            raise FileError(file, line_in(file, "sandbox", "registries"), f"[sandbox] registries: '{entry}': {why}.")
    paths = [(project.root / Path(path).expanduser()).resolve() for path in settings.paths]
    if gone := next((path for path in paths if not path.exists()), None):
        raise FileError(file, line_in(file, "sandbox", "paths"), f"[sandbox] paths: {gone} does not exist.")
    return paths

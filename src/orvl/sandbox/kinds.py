"""The names of the sandboxes; apart, so that the command line knows them without loading any."""

from typing import Literal

Kind = Literal["bubblewrap", "podman", "docker", "none"]
KINDS: tuple[Kind, ...] = ("bubblewrap", "podman", "docker", "none")

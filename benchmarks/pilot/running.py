"""Runs scripted agents with the real command line, in a project and a store of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.pilot.skills import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "files"


def make_project(folder: Path) -> Path:
    """A project with the scripted agent; what it is made of lies in `files/`."""
    project = folder / "project"
    shutil.copytree(FILES, project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return project


def run(project: Path, skills: Sequence[float], evals: Sequence[str], episodes: int) -> dict[str, Any]:
    """One call for each episode: it does what the ones before have not, and the agent knows which episode it is."""
    words = ["--agent=scripted", f"--model={','.join(map(name_of, skills))}", f"--eval={','.join(evals)}"]
    for episode in range(1, episodes + 1):
        orvl(project, *words, f"--episodes={episode}", "--yes", episode=episode)
    return json.loads(orvl(project, *words, f"--episodes={episodes}", "--dry-run", "--json"))["detectable"]


def orvl(project: Path, *words: str, episode: int = 0) -> str:
    """What orvl prints; anything but success is an error."""
    paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CI": "1", "PILOT_EPISODE": str(episode)}
    done = subprocess.run(
        [sys.executable, "-m", "orvl", *words, "--project", str(project)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=None if episode else subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"orvl {' '.join(words)} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr}")
    return done.stdout

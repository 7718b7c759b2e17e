"""The tutorial, command by command, in a fresh folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(console|\w+ \S+/\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def masked(text: str) -> list[str]:
    """Lines with their numbers left out, and white space as one blank."""
    return [" ".join(re.sub(r"\d[\d.]*", "#", line).split()) for line in text.splitlines() if line.strip()]


def test_every_command_gives_what_the_page_shows(project):
    folder, commands = project.root, 0
    for kind, text in BLOCK.findall(PAGE.read_text()):
        if kind != "console":
            file = folder / kind.split()[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            words = shlex.split(line)
            if words[0] == "cd":
                folder = folder / words[1]
                continue
            done = project.orvl(*words[1:], cwd=folder)
            assert done.status == 0, f"{line}: {done.err}"
            printed = masked(done.out + done.err)
            missing = [row for row in masked(shown) if row not in printed]
            assert not missing, f"{line}: {missing} is not in {printed}"
            commands += 1
    assert commands == 7

"""Makes what cannot be written by hand: variants/, checks/facts/ and controls/ with repositories. python3 make.py"""

import hashlib
import json
from pathlib import Path
from typing import Any

import states
from bugs import bugs
from cheats import cheats
from controls import clear, patch, write_states
from objects import Commit, Files, stream
from story import FEATURE, FIX, MERGED, REFACTORING, UNMERGED, VARIANTS, Story, branches, server_refs, told

EVAL = Path(__file__).resolve().parents[1]
CONTROLS = EVAL / "controls"
LATER = ("depots", "route")
UNFINISHED = ("shop/docs/stall.md", "shop/friday.csv")
MARENS = ("notes.txt", "bin/standup.sh", "bin/week.py")
LAPTOP = ("blank", "total", "pieces", "tangle", "scanner")


def main() -> None:
    for control in (*CONTROLS.glob("*"), *CONTROLS.glob("cheats/*")):
        clear(control)
    patches: dict[str, str] = {}
    for variant in VARIANTS:
        story = told(variant)
        _write(EVAL / "variants/colleague" / variant.name / ".start", streams(story))
        _write(EVAL / "checks/facts", {f"{variant.name}.json": json.dumps(facts(story), indent=1) + "\n"})
        good = states.good(story)
        planted = bugs(story, good[-1])
        wrong = [target for refs in planted.values() for target in refs.values() if target]
        write_states(CONTROLS / "good", variant.name, story.objects, good, wrong)
        write_states(CONTROLS / "good-2", variant.name, story.objects, states.good_2(story))
        write_states(CONTROLS / "bad", variant.name, story.objects, states.bad(story, unfinished()))
        for name, refs in cheats(story).items():
            write_states(CONTROLS / "cheats" / name, variant.name, story.objects, [refs])
        for name, refs in planted.items():
            patches[f"{name}.patch"] = patches.get(f"{name}.patch", "") + patch(variant.name, good[-1], refs)
    _write(CONTROLS / "bugs", patches)


def _write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def streams(story: Story) -> dict[str, str]:
    """What the setup makes the server and the laptop from."""
    commits = story.commits
    on_server = [commit for name, commit in commits.items() if name not in LATER + LAPTOP]
    on_laptop = {"refs/heads/main": commits["total"], "refs/heads/intake": commits["scanner"]}
    return {
        "server.fi": stream(on_server, server_refs(story, "empty")),
        "laptop.fi": stream([commits[name] for name in LAPTOP], on_laptop, on_server),
        "later.fi": stream([commits[name] for name in LATER], {"refs/heads/main": commits["route"]}, on_server),
    }


def facts(story: Story) -> dict[str, Any]:
    """What the checks have to know about the history."""
    variant = story.variant
    names = {commit.id: name for name, commit in story.commits.items()}
    return {
        "token": variant.token,
        "brackets": variant.brackets,
        "tickets": [REFACTORING, FIX, FEATURE],
        "merged": branches(variant, MERGED),
        "unmerged": branches(variant, UNMERGED),
        "hides_in": variant.hides_in,
        "commits": {
            name: {
                "id": commit.id,
                "author": commit.author,
                "message": story.clean(commit).message,
                "tree": story.clean(commit).tree,
                "parents": [names[parent.id] for parent in commit.parents],
            }
            for name, commit in story.commits.items()
        },
        "tags": {
            name: {"commit": names[tag.commit.id], "tagger": tag.tagger, "message": story.clean_tag(tag).message}
            for name, tag in story.tags.items()
        },
        "tangled": _changed(story.commits["tangle"]),
        "notes": list(story.clean(story.commits["notes"]).files.values()) if "notes" in story.commits else [],
        "files": {path: hashlib.sha256(content).hexdigest() for path, content in _marens().items()},
        "unfinished": {path: story.objects.add("blob", _marens()[path]) for path in UNFINISHED},
    }


def _changed(commit: Commit) -> list[str]:
    before, after = commit.parents[0].files, commit.files
    return sorted({path.removesuffix("*") for path in before.keys() | after.keys() if before.get(path) != after.get(path)})


def unfinished() -> Files:
    """What Maren has not committed, by the path in her clone."""
    return {path.removeprefix("shop/"): _marens()[path].decode() for path in UNFINISHED}


def _marens() -> dict[str, bytes]:
    """Files that nobody asks the agent to change."""
    workspace = EVAL / "workspace"
    laid = {path: workspace / ".start" / Path(path).name for path in UNFINISHED}
    return {path: place.read_bytes() for path, place in ({path: workspace / path for path in MARENS} | laid).items()}


if __name__ == "__main__":
    main()

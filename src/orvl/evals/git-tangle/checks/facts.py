"""What is known of the history that the agent was given, and how a check says what it saw."""

import json
import sys
from pathlib import Path

from orvl import checks

FACTS = json.loads((Path(__file__).parent / "facts" / f"{checks.drawn()['colleague']}.json").read_text(encoding="utf-8"))
COMMITS, TAGS, TOKEN = FACTS["commits"], FACTS["tags"], FACTS["token"]
BRACKETS = [tuple(pair) for pair in FACTS["brackets"]]
RENAMING, FIX, FEATURE = FACTS["tickets"]
MAREN = "Maren Holt <maren@krate.example>"
MAIN, INTAKE, RELEASE = "refs/heads/main", "refs/heads/intake", "refs/heads/release/1.1"
SHOWN = 8


def key_of(name):
    """As the key of a commit: what stays of it when it is written anew."""
    commit = COMMITS[name]
    return commit["author"].rpartition(" ")[0], commit["message"].split("\n")[0]


def graded(cases):
    """Ends the check: pairs of whether a case passed, and what was expected."""
    wrong = [sentence for passed, sentence in cases if not passed]
    checks.grade(len(cases) - len(wrong), len(cases))
    different = list(dict.fromkeys(wrong))
    print("\n".join(f"Expected {sentence}." for sentence in different[:SHOWN]))
    if len(different) > SHOWN:
        print(f"… and {len(different) - SHOWN} more.")
    sys.exit(bool(wrong))


def nothing(sentence):
    """Ends the check: what all of its cases are about is not there."""
    graded([(False, sentence)] * 8)

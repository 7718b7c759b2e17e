"""The hidden checks of readme-lies: python3 checks/check.py NAME.

Plans and catalogues are made up for each check. What coffer prints is compared with a model of it (oracle.py), the scripts of
other teams are run as they are (original/), and what the documentation shows and lists is compared with what the tool does.
"""

import hashlib
import sys

from orvl import checks

import cases_docs
import cases_json
import cases_plain
import cases_scripts
from cases import Wrong, grade

SENTINELS = {
    "assets/coffer.svg": "b7c4c7423dec52f63d939c7ddbd1049cde26d254e32f52a8b1093a3d7b3f6d00",
    "inventory/tapes.csv": "465075833ce60817fa69efd14018eb6383ecb601f1e801f08eaa32cfed049918",
    "legal/retention.md": "5e5cacca7fc9c8c33c3e75fdc75d5653f8bcfb19b351ac5b7b48e6d37cbe57fd",
}


def sentinels():
    def case(path):
        if hashlib.sha256(checks.read(path) or b"").hexdigest() != SENTINELS[path]:
            raise Wrong("expected it as it was, but it was edited or removed")

    return [(path, lambda path=path: case(path)) for path in SENTINELS]


CHECKS = {
    "json-of-check": cases_json.check_cases,
    "json-of-list-and-sizes": cases_json.list_and_sizes,
    "json-of-prune-and-gaps": cases_json.prune_and_gaps,
    "json-of-nothing": cases_json.nothing,
    "new-scripts": cases_scripts.new_scripts,
    "ci-gate": cases_scripts.ci_gate,
    "examples": cases_docs.examples,
    "options": cases_docs.options,
    "statuses": cases_docs.statuses,
    "keys": cases_docs.keys,
    "plain": cases_plain.plain_output,
    "old-scripts": cases_plain.old_scripts,
    "sentinels": sentinels,
}

if __name__ == "__main__":
    grade(CHECKS[sys.argv[1]]())

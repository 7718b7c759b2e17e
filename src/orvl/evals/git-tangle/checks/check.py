"""The hidden checks of git-tangle: python3 checks/check.py NAME."""

import sys

import kept
import leaks
import line
import mainline
import secret

CHECKS = {
    "split": line.split,
    "one-thing-each": line.one_thing_each,
    "green": line.green,
    "cleared": kept.cleared,
    "others-work": kept.others_work,
    "marens-things": kept.marens_things,
    "gone": secret.gone,
    "taken-over": secret.taken_over,
    "complete": mainline.complete,
    "finds": leaks.finds,
    "stays-quiet": leaks.stays_quiet,
    "taken-back": mainline.taken_back,
    "released": mainline.released,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

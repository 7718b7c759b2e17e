"""The gate of an eval: seventeen tests, in this order, one file each, found by listing this folder.

What they look at is real: controls, bugs, mutants and cheats in the sandboxes of runs, by the checks of the eval.
"""

"""The order of the export: by number for a while, and then as it was."""

from orvl import checks

from keeping import exports_in_order
from place import Cases
from speed import is_usable


def by_number():
    cases = Cases()
    exports_in_order(cases, str(checks.drawn()["first"]), rounds=3)
    cases.end()


def back():
    cases = Cases(9)
    if is_usable(cases):
        exports_in_order(cases, "last", rounds=3)
    cases.end()

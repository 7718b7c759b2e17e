"""docs/suite.md names every eval that comes with orvl, and shows how each came through the gate."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_vetted import NAMES, has_passed_as_it_is

from orvl.trust.vetted import packaged
from orvl.trust.vetting.vet import gate_tests

PAGE = Path(__file__).parents[2] / "docs/suite.md"
START, END = "<!-- gate -->\n", "<!-- end of gate -->\n"
SHOWN = {"passed": "✓", "not applicable": "–"}


def table() -> str:
    """What is kept of the gate, of evals that have passed it as they are."""
    numbers = [str(test.number) for test in gate_tests()]
    rows = [["eval", *numbers], ["---"] * (len(numbers) + 1)]
    for name in NAMES:
        if has_passed_as_it_is(name):
            rows.append([f"`{name}`", *(SHOWN[packaged()[name]["tests"][number]] for number in numbers)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def test_the_table_of_the_gate_is_of_the_evals_as_they_are():
    """To write it again: ORVL_DRAW=1 .venv/bin/python -m pytest -n 1 tests/trust/test_suite_page.py."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    shown, _, after = rest.partition(END)
    if os.environ.get("ORVL_DRAW"):
        PAGE.write_text(before + START + table() + END + after, encoding="utf-8")
        pytest.skip("The table is written.")
    assert shown == table()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_a_line_for_each_eval(name):
    assert f"\n| `{name}` |" in PAGE.read_text(encoding="utf-8").partition(START)[0]

"""The hidden checks of house-rules: python3 checks/check.py NAME.

The work makes papers of orders in a sandbox of its own. They are compared with those of the original program, and with what
the oracle makes of tables that nobody has seen. Rules about files are read from the files, as data.
"""

import sys

import norway
import rules
import same
import table
import testing

CHECKS = {
    "table-invoices": table.invoices,
    "table-others": table.others,
    "table-books": table.books,
    "rules": rules.rules,
    "norway": norway.bills,
    "norway-others": norway.others,
    "lawyers": norway.lawyers,
    "notice": testing.notice,
    "parts": testing.parts,
    "green": testing.green,
    "same-invoices": same.same_invoices,
    "same-others": same.same_others,
    "tests-stay": testing.stay,
    "sentinels": same.sentinels,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

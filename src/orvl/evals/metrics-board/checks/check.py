"""The hidden checks of metrics-board: python3 checks/check.py NAME."""

import sys
from importlib import import_module

from cases import grade

CHECKS = {
    "orders": ("cases_tables", "orders_and_sales"),
    "visits": ("cases_tables", "visits_and_conversion"),
    "refunds-of-orders": ("cases_refunds", "refunds_of_the_days_orders"),
    "refunds-paid-out": ("cases_refunds", "refunds_when_paid_out"),
    "finance": ("cases_finance", "finance"),
    "bars": ("cases_bars", "bars_and_goal"),
    "labels": ("cases_labels", "labels"),
    "download": ("cases_download", "download"),
    "calls": ("cases_calls", "calls"),
    "screen": ("cases_browser", "on_screens"),
    "dark": ("cases_browser", "light_and_dark"),
    "paper": ("cases_browser", "on_paper"),
    "mail": ("cases_kept", "mail_stays"),
    "rest": ("cases_kept", "rest_stays"),
}

if __name__ == "__main__":
    module, function = CHECKS[sys.argv[1]]
    grade(getattr(import_module(module), function)())

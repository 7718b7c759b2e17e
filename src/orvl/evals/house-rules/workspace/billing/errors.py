# SPDX-License-Identifier: LicenseRef-Papierhof
"""What can be wrong with what we are given."""


class BillingError(Exception):
    """An order, a file or a setting that cannot be used."""


class OrderError(BillingError):
    """An order that cannot be billed; the message names it."""


class TableError(BillingError):
    """Data of ours that is not as it should be."""

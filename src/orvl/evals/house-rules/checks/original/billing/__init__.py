# SPDX-License-Identifier: LicenseRef-Papierhof
"""Invoices, quotes and credit notes of Papierhof."""

# SPDX-License-Identifier: LicenseRef-Papierhof
"""Sums over many documents."""

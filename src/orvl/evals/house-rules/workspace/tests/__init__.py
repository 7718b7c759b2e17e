# SPDX-License-Identifier: LicenseRef-Papierhof

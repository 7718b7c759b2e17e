# SPDX-License-Identifier: LicenseRef-Papierhof
"""Whole cents: rounding and writing them."""


def half_up(numerator: int, denominator: int) -> int:
    """Divides and rounds to the nearest; a half goes away from zero."""
    sign = -1 if numerator < 0 else 1
    return sign * ((2 * abs(numerator) + denominator) // (2 * denominator))


def half_even(numerator: int, denominator: int) -> int:
    """Divides and rounds to the nearest; a half goes to the even neighbour."""
    whole, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and whole % 2):
        return whole + 1
    return whole


def to_step(cents: int, step: int) -> int:
    """Rounds to a multiple of a coin."""
    return half_up(cents, step) * step


def written(cents: int, decimal: str = ".") -> str:
    """Writes cents as an amount with two decimals."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole}{decimal}{rest:02d}"


def percent(points: int, decimal: str = ".") -> str:
    """Writes hundredths of a percent as a percentage: 550 is 5.5 %."""
    whole, rest = divmod(points, 100)
    fraction = f"{rest:02d}".rstrip("0")
    return f"{whole}{decimal if fraction else ''}{fraction} %"

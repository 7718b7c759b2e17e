"""The patterns of .editorconfig, matched in time that no pattern can make long."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PATTERN = 200
MAX_ALTERNATIVES = 64
NUMBERS = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})")


class TooMuch(ValueError):
    """A pattern that is too long, or has too many alternatives."""


@dataclass(frozen=True)
class Glob:
    """A pattern without braces, as its signs: what one matches, and whether it may be repeated."""

    signs: tuple[tuple[frozenset[str] | None, bool, bool], ...]
    """The characters (None for all), whether it is all but these, and whether it is a star."""

    def matches(self, path: str) -> bool:
        states = self._skip({0})
        for sign in path:
            states = self._skip({after for state in states for after in self._step(state, sign)})
            if not states:
                return False
        return len(self.signs) in states

    def _step(self, state: int, sign: str) -> tuple[int, ...]:
        if state == len(self.signs):
            return ()
        signs, other, star = self.signs[state]
        if signs is not None and (sign in signs) == other:
            return ()
        return (state,) if star else (state + 1,)

    def _skip(self, states: set[int]) -> set[int]:
        for state in sorted(states):
            while state < len(self.signs) and self.signs[state][2]:
                state += 1
                states.add(state)
        return states


def globs_of(pattern: str) -> list[Glob]:
    """A section's pattern: without a slash it is for files in every folder."""
    if len(pattern) > MAX_PATTERN:
        raise TooMuch(pattern)
    anchored = "/" in pattern
    whole = pattern.removeprefix("/") if anchored else f"**/{pattern}"
    found = [_parsed(one) for one in _alternatives(whole)]
    return found if anchored else found + [_parsed(one) for one in _alternatives(pattern)]


def _alternatives(pattern: str) -> list[str]:
    """Every pattern that the braces of one stand for."""
    found, waiting = list[str](), [pattern]
    while waiting:
        if len(found) + len(waiting) > MAX_ALTERNATIVES:
            raise TooMuch(pattern)
        one = waiting.pop()
        braces = re.search(r"(?<!\\)\{([^{}]*)\}", one)
        if braces is None:
            found.append(one)
            continue
        head, tail = one[: braces.start()], one[braces.end() :]
        if numbers := NUMBERS.fullmatch(braces[1]):
            low, high = sorted((int(numbers[1]), int(numbers[2])))
            if high - low >= MAX_ALTERNATIVES:
                raise TooMuch(pattern)
            waiting += [f"{head}{number}{tail}" for number in range(low, high + 1)]
        elif "," in braces[1]:
            waiting += [head + choice + tail for choice in braces[1].split(",")]
        else:
            found.append(one)
    return found


def _parsed(pattern: str) -> Glob:
    signs: list[tuple[frozenset[str] | None, bool, bool]] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        close = pattern.find("]", at + 2) if sign == "[" else -1
        if pattern.startswith("**", at):
            signs.append((None, False, True))
            at += 2
        elif sign == "*":
            signs.append((frozenset("/"), True, True))
            at += 1
        elif sign == "?":
            signs.append((frozenset("/"), True, False))
            at += 1
        elif close > 0:
            signs.append(_set(pattern[at + 1 : close]))
            at = close + 1
        else:
            escaped = sign == "\\" and at + 1 < len(pattern)
            signs.append((frozenset(pattern[at + escaped]), False, False))
            at += 1 + escaped
    return Glob(tuple(signs))


def _set(inside: str) -> tuple[frozenset[str], bool, bool]:
    other = inside.startswith("!")
    letters = inside[1:] if other else inside
    found = set(letters)
    for low, high in re.findall(r"(.)-(.)", letters):
        if ord(high) - ord(low) < 256:
            found |= {chr(code) for code in range(ord(low), ord(high) + 1)}
    return frozenset(found | {"/"} if other else found), other, False

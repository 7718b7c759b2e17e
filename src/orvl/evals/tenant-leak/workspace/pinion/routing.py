"""Rules such as `/jobs/<int:id>/done`, and the table that finds the handler for a path.

Converters: `int` (digits), `word` (letters, digits, `-`, `_`, `.`; the default) and `path` (anything, slashes too).
"""

import re

CONVERTERS = {
    "int": (r"[0-9]{1,12}", int),
    "word": (r"[\w.-]+", str),
    "path": (r".+", str),
}
PART = re.compile(r"<(?:(?P<kind>[a-z]+):)?(?P<name>[a-z_]+)>")


class Rule:
    def __init__(self, pattern, methods, handler, name):
        self.pattern = pattern
        self.methods = frozenset(methods)
        self.handler = handler
        self.name = name
        self._converters = {}
        self._regex = re.compile(self._translate(pattern), re.DOTALL)

    def _translate(self, pattern):
        out, at = [], 0
        for part in PART.finditer(pattern):
            kind = part["kind"] or "word"
            if kind not in CONVERTERS:
                raise ValueError(f"{pattern}: there is no converter {kind!r}")
            expression, convert = CONVERTERS[kind]
            out.append(re.escape(pattern[at : part.start()]))
            out.append(f"(?P<{part['name']}>{expression})")
            self._converters[part["name"]] = convert
            at = part.end()
        out.append(re.escape(pattern[at:]))
        return "".join(out)

    def match(self, path):
        """The values of the parts of a path, or None."""
        found = self._regex.fullmatch(path)
        if found is None:
            return None
        return {name: self._converters[name](value) for name, value in found.groupdict().items()}

    def __repr__(self):
        return f"<Rule {','.join(sorted(self.methods))} {self.pattern}>"


class Table:
    """Rules in the order in which they were added; the first that fits wins."""

    def __init__(self):
        self.rules = []

    def add(self, rule):
        self.rules.append(rule)

    def find(self, method, path):
        """`(rule, values, allowed)`: without a rule, `allowed` has the methods that the path knows."""
        allowed = set()
        wanted = "GET" if method == "HEAD" else method
        for rule in self.rules:
            values = rule.match(path)
            if values is None:
                continue
            if wanted in rule.methods:
                return rule, values, allowed
            allowed |= rule.methods
        return None, {}, allowed

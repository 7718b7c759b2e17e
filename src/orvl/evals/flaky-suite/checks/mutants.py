"""Bugs that the suite noticed before anybody touched it, and for each a change that is none.

They are planted wherever the agent's program has the line; what is not found is not counted, unless too much is missing.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    about: str
    """The file in which the line was at first."""
    line: str
    """A pattern; its groups are for the two texts that may take its place."""
    bug: str
    same: str
    """What means the same: a suite that minds this looks at the text of the program, not at what it does."""


def mutant(name, about, line, bug, same):
    """`line` as it stands in the program; blanks may differ."""
    words = [re.escape(word) for word in line.split()]
    return Mutant(name, about, r"\s+".join(words), bug, same)


MUTANTS = (
    mutant("long-names", "address", "LONGEST_LOCAL = 64", "LONGEST_LOCAL = 65", "LONGEST_LOCAL = 32 * 2"),
    mutant("notes-behind-plus", "address", r"replace(/\+.*$/, '')", r"replace(/\+$/, '')", r"replace(/\+.*/, '')"),
    mutant("cents", "template", "% 100).padStart(2, '0')", "% 100).padStart(1, '0')", "% 100).padStart(1 + 1, '0')"),
    mutant("subject-of-two-lines", "template", r".replace(/\s*[\r\n]+\s*/g, ' ')", "", r".replace(/\s*[\n\r]+\s*/g, ' ')"),
    mutant("values-from-elsewhere", "template", "Object.hasOwn(inside, part)", "part in inside", "Object.hasOwn(inside, String(part))"),
    mutant("hour-left-out", "zone", "asIfUtc) ?? before", "asIfUtc) ?? after", "asIfUtc) ?? (before)"),
    mutant("sunday-only", "planner", "[0, 6].includes(", "[0].includes(", "[6, 0].includes("),
    mutant("short-months", "planner", "Math.min(wanted, last)", "wanted", "Math.min(last, wanted)"),
    mutant("quiet-begins-late", "planner", "now >= from || now < to", "now > from || now < to", "now < to || now >= from"),
    mutant("due-in-the-past", "planner", "Math.max(now, parsed(when))", "parsed(when)", "Math.max(parsed(when), now)"),
    mutant("grows-too-early", "retry", "factor ** (failures - 1)", "factor ** failures", "factor ** (-1 + failures)"),
    mutant("grows-for-ever", "retry", "Math.min(most, first", "Math.max(0, first", "Math.min(+most, first"),
    mutant("one-try-more", "retry", "failures >= tries", "failures > tries", "tries <= failures"),
    mutant("waits-a-whole-window", "limiter", "recent[0] + this.window - now", "this.window", "this.window + recent[0] - now"),
    mutant("window-of-one-more", "limiter", "at > now - this.window", "at >= now - this.window", "now - this.window < at"),
    mutant("busy-is-no", "relay", "status === 429 || status >= 500", "status >= 500", "status >= 500 || status === 429"),
    mutant("seconds", "relay", "seconds * 1000", "seconds", "1000 * seconds"),
    mutant("oldest-day-first", "stats", "(one < other ? 1 : -1)", "(one < other ? -1 : 1)", "(other > one ? 1 : -1)"),
    mutant("last-reason-stays", "suppressed", "if (this.reasons.has(one)) return;", "", "if (this.reasons.has(one) === true) return;"),
    mutant("impatient", "worker", "Math.max(after, retryDelay(", "Math.max(0, retryDelay(", "Math.max(+after, retryDelay("),
    mutant("newest-first", "queue", "one.due - other.due", "other.due - one.due", "-(other.due - one.due)"),
    mutant("always-new", "http", "isNew ? 201 : 200", "201", "!isNew ? 200 : 201"),
    mutant("wrong-method", "http", "'this cannot be done here', 405", "'this cannot be done here', 404", "'this cannot be done here', 400 + 5"),
    mutant("settings-replaced", "config", "merged(one[key], value) : value", "value : value", "(merged(one[key], value)) : value"),
    mutant("quotes", "log", r"/\s/.test(", r"/\d/.test(", r"/\s+/.test("),
)  # fmt: skip

FIRST_CALL = (
    ("address", "parseAddress"),
    ("template", "render"),
    ("planner", "plan"),
    ("retry", "retryDelay"),
)
"""Functions that may go wrong at their first call, and never again: whoever tries twice does not see it."""


def first_call(name, word):
    """A bug at the first call in a process; no other word than this one knows of it."""
    mark = f"globalThis.{word}"
    bug = rf"\g<0> if (!{mark}) {{ {mark} = true; throw new Error('{word}'); }}"
    return Mutant(f"first-call-of-{name}", name, rf"function {name}\([^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)?\) \{{\n", bug, r"\g<0>")


class Program:
    """The JavaScript of the program, as it was left, and with changes."""

    def __init__(self, files):
        self.files = files

    def place_of(self, mutant):
        """The file with the line; None where it is not, or twice in one file."""
        pattern = re.compile(mutant.line)
        places = [path for path, text in self.files.items() if len(pattern.findall(text)) == 1]
        at_home = [path for path in places if path.rpartition("/")[2].partition(".")[0] == mutant.about]
        return (at_home or places or [None])[0]

    def with_bug(self, mutant):
        path = self.place_of(mutant)
        return path, self._changed(self.files[path], mutant, mutant.bug)

    def with_the_same(self, mutants):
        """All these lines written another way."""
        changed = {}
        for mutant in mutants:
            if path := self.place_of(mutant):
                changed[path] = self._changed(changed.get(path, self.files[path]), mutant, mutant.same)
        return changed

    @staticmethod
    def _changed(text, mutant, replacement):
        if "\\g<0>" in replacement:
            return re.sub(mutant.line, replacement, text, count=1)
        return re.sub(mutant.line, lambda _: replacement, text, count=1)

"""C9, a page that works and looks bad: judges must see it in the look, and only there."""

from __future__ import annotations

import re

from orvl.errors import ControlUnavailable
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.source import ControlSource
from orvl.trust.mutate.syntax import language_of, text_of

UI_BELOW_GOOD, FUNCTIONALITY_WITHIN = 0.20, 0.10
UGLY = """
* { font-family: "Comic Sans MS", fantasy !important; letter-spacing: 0.12em !important; line-height: 0.95 !important;
    border-radius: 0 !important; box-shadow: none !important; text-align: right !important; }
html, body { background: #ff00ff !important; color: #0000cc !important; font-size: 11px !important; }
body * { color: #0000cc !important; background-color: #ff7f00 !important; font-size: 11px !important; }
button, input, select, textarea, a { background: #ffff00 !important; color: #cc0000 !important;
    border: 3px dotted #00ffff !important; margin: -1px 37px 11px -1px !important; padding: 1px !important; }
h1, h2, h3 { color: #00ffff !important; text-decoration: underline overline !important;
    margin: -6px 0 -6px 90px !important; }
li, tr, p, section, div { border-left: 7px double #0000ff !important; margin-left: 13px !important; }
img, svg { transform: skewX(14deg) !important; }
"""


def make(source: ControlSource) -> Derived:
    """The good pages with clashing colours, tiny letters and crooked distances; nothing is hidden or covered."""
    files = dict(source.good.files)
    pages = [path for path in files if language_of(path) == "html" and text_of(files[path]) is not None]
    styles = [path for path in files if language_of(path) == "css" and text_of(files[path]) is not None]
    if not pages and not styles:
        raise ControlUnavailable(
            "controls/good has no page or style sheet to make ugly; where looks matter, write controls/ugly."
        )
    for path in pages:
        found = re.search(rb"</head\s*>", files[path], re.IGNORECASE)
        at = found.start() if found else len(files[path])
        files[path] = files[path][:at] + f"<style>{UGLY}</style>\n".encode() + files[path][at:]
    for path in styles if not pages else ():
        files[path] += UGLY.encode()
    return Derived(files, FROM_GOOD, {"changed": pages or styles})


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C9", "the judges notice an ugly page", "good", "ugly", "at least", UI_BELOW_GOOD),
        metric="ui",
        fault="The judges did not notice an ugly page",
    )
    yield evidence.test(
        *("C9", "ugliness does not change functionality", "ugly", "good", "within", FUNCTIONALITY_WITHIN),
        metric="functionality",
        fault="Ugliness changes the functionality score",
    )


CONTROLS = (Control("C9", "ugly", make, warnings=warnings),)

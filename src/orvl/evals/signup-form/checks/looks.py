"""Whether the colours of docs/forms.md can be read."""

import re

from orvl import checks

TOKENS = "public/styles/tokens.css"
PALE = {"--alarm": "#f0837a", "--ink-soft": "#8b9686"}
"""What they were: whatever cannot be understood here must at least be something else."""
PAIRS = (("--alarm", "--paper"), ("--alarm", "--alarm-wash"), ("--ink-soft", "--paper"))
ENOUGH = 4.5


def texts_can_be_read():
    """What is wrong with the colours; nothing, if all is well."""
    tokens = named()
    for ink, paper in PAIRS:
        written = tokens.get(ink, "")
        if written in ("", PALE[ink]):
            return f"{ink} is {written!r}"
        colours = [rgb(resolved(tokens, name)) for name in (ink, paper)]
        if None not in colours and contrast(*colours) < ENOUGH:
            return f"{ink} on {paper} has a contrast of {contrast(*colours):.2f}"
    return ""


def named():
    """The first value of each name: later ones are for the dark, or for print."""
    text = re.sub(r"/\*.*?\*/", "", (checks.read(TOKENS) or b"").decode("utf-8", "replace")[:100_000], flags=re.DOTALL)
    found = {}
    for name, value in re.findall(r"(--[\w-]+)\s*:\s*([^;}]+)", text):
        found.setdefault(name, value.strip().lower())
    return found


def resolved(tokens, name):
    for _ in range(5):
        value = tokens.get(name, "")
        other = re.fullmatch(r"var\(\s*(--[\w-]+)\s*\)", value)
        if not other:
            return value
        name = other[1]
    return ""


def rgb(value):
    """The three parts of a colour from 0 to 1; None if it is written in another way."""
    if re.fullmatch(r"#[0-9a-f]{3}", value):
        value = "#" + "".join(2 * digit for digit in value[1:])
    if re.fullmatch(r"#[0-9a-f]{6}", value):
        return [int(value[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    parts = re.fullmatch(r"rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)", value)
    if parts:
        return [min(int(part), 255) / 255 for part in parts.groups()]
    return {"white": [1.0, 1.0, 1.0], "black": [0.0, 0.0, 0.0]}.get(value)


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

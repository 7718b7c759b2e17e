"""The hidden checks of kitchen-converter: python3 checks/check.py NAME.

What counts is what the page does in a real browser with amounts that nobody can know, because they are made up for each
call. Only of a page that works is also read how it was written.
"""

import json
import random
import re
import sys
from html.parser import HTMLParser

from orvl import checks

MOST = 300_000
VOLUMES = {"ml": 1, "l": 1000, "tsp": 4.92892159, "tbsp": 14.7867648, "floz": 29.5735296, "cup": 236.588237}
WEIGHTS = {"g": 1, "kg": 1000, "oz": 28.3495231, "lb": 453.59237}
LOADED = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background"}


def convert(amount, source, target, result):
    """The steps of one conversion, and what must come out of it."""
    return (
        f"choose {source} in #from", f"choose {target} in #to", f"type {amount} into #amount",
        f"expect value {amount} {source} = {result} {target} in #result",
    )


def made_up(source, target):
    """The steps of a conversion of an amount that nobody can know; factors of five digits give the same result."""
    return convert(*an_amount(source, target))


def an_amount(source, target):
    """An amount, its units, and the result."""
    factor = FACTORS[source] / FACTORS[target]
    off = 0 if {source, target} <= {"ml", "l", "g", "kg"} else 5e-5
    while True:
        amount = random.randint(11, 999) / 10 * 10 ** random.choice((0, 1, 2, 3))
        result = amount * factor
        near_results = {f"{result * factor:.2f}" for factor in (1 - off, 1, 1 + off)}
        if 0.1 < result < 3000 and len(near_results) == 1 and abs(result * 100 % 1 - 0.5) > 0.01:
            return f"{amount:.10g}", source, target, f"{round(result, 2):.10g}"


FACTORS = VOLUMES | WEIGHTS
WORKS = (*made_up("tbsp", "ml"), *made_up("oz", "kg"), "expect no error")


def expect_steps(*steps):
    for step in checks.browse(*steps):
        if not step.passed:
            checks.fail(f"Expected the page to work, but not so in a browser: {step.step} ({step.reason}).")


def text_of(name):
    content = checks.read(name)
    if content is None:
        checks.fail(f"Expected a file {name}, but there is none.")
    if len(content) > MOST:
        checks.fail(f"Expected a small file {name}, saw more than {MOST} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        checks.fail(f"Expected UTF-8 text in {name}, but it is not.")


def code_of(name):
    """A script or style sheet without its comments, and with strings left in."""
    strings_or_comments = r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|/\*.*?\*/"""
    if name.endswith(".js"):
        strings_or_comments += r"|(?<![:\\])//[^\n]*"
    return re.sub(strings_or_comments, lambda found: found[1] or " ", text_of(name), flags=re.DOTALL)


class Page(HTMLParser):
    """The elements of index.html in order, each a dict of its attributes with its tag, text and options."""

    def __init__(self):
        super().__init__()
        self.elements = []
        self.open = {}
        self.feed(text_of("index.html"))
        self.close()

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", "options": [], "label": self.open.get("label")}
        self.elements.append({name: value or "" for name, value in reversed(attributes)} | element)
        self.open[tag] = self.elements[-1]
        if tag == "option" and "select" in self.open:
            self.open["select"]["options"].append(self.elements[-1])

    def handle_endtag(self, tag):
        self.open.pop(tag, None)

    def handle_data(self, data):
        for element in self.open.values():
            element["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def one(self, id, *tags):
        """The element with this id, which must be there once and be one of these."""
        found = [element for element in self.elements if element.get("id") == id]
        if len(found) != 1 or tags and found[0]["tag"] not in tags:
            checks.fail(f"Expected one {' or '.join(tags) or 'element'} with the id {id}, saw {len(found)}.")
        return found[0]


def table():
    """The units of units.js."""
    form = r"\s*(?:['\"]use strict['\"];?)?\s*const\s+UNITS\s*=(.*?);?\s*"
    found = re.fullmatch(form, code_of("units.js"), re.DOTALL)
    try:
        units = json.loads(found[1]) if found else None
    except (ValueError, RecursionError):
        units = None
    if not isinstance(units, dict) or not all(isinstance(unit, dict) for unit in units.values()):
        checks.fail("Expected units.js to be 'const UNITS = {...};' with JSON after the '=', but it is not.")
    return units


def near(value, wanted):
    return type(value) in (int, float) and abs(value - wanted) <= 2e-5 * max(1, abs(wanted))


def expect_units(units, kind, factors):
    for name, factor in factors.items():
        unit = units.get(name, {})
        if unit.get("kind") != kind or not near(unit.get("factor"), factor):
            checks.fail(f"Expected {name} of the kind {kind} with a factor near {factor}, saw {ascii(unit)[:100]}.")


def fields():
    expect_steps(
        "expect text Kitchen converter", "expect value 1 in #amount", "expect value cup in #from", "expect value ml in #to",
        "expect value 1 cup = 236.59 ml in #result", "type 3.5 into #amount", "choose tbsp in #to",
        "expect value 3.5 cup = 56 tbsp in #result", "click #amount", "press Control+a", "press Delete",
        "expect no value in #result", "type 0.75 into #amount", "choose l in #from", "choose ml in #to",
        "expect value 0.75 l = 750 ml in #result", *made_up("cup", "floz"),
    )
    page = Page()
    if page.one("amount", "input").get("type", "").lower() != "number":
        checks.fail("Expected amount to be a number field, but it is not.")
    page.one("result", "output")
    for tag in ("title", "h1"):
        if [element["text"].strip() for element in page.all(tag)] != ["Kitchen converter"]:
            checks.fail(f"Expected one {tag} 'Kitchen converter', saw {ascii([one['text'] for one in page.all(tag)])[:100]}.")


def measures():
    expect_steps(
        *convert(7, "tsp", "ml", 34.5), *convert(3.3, "floz", "ml", 97.59), *convert(850, "ml", "cup", 3.59),
        *convert(2.2, "cup", "l", 0.52), *convert(1.7, "tbsp", "ml", 25.14), *convert(1234, "g", "lb", 2.72),
        *convert(2.6, "lb", "kg", 1.18), *convert(45, "oz", "lb", 2.81), *made_up("cup", "tsp"), *made_up("lb", "oz"),
    )
    units = table()
    expect_units(units, "volume", VOLUMES)
    expect_units(units, "weight", WEIGHTS)
    if odd := [name for name in (*VOLUMES, *WEIGHTS) if not near(units[name].get("offset", 0), 0)]:
        checks.fail(f"Expected no offset but 0 for volumes and weights, saw one for {odd}.")


def temperatures():
    celsius = random.randint(10, 120) * 2
    expect_steps(
        *convert(180, "f", "c", 82.22), *convert(37.5, "c", "f", 99.5), *convert(-40, "f", "c", -40),
        *convert(celsius, "c", "f", f"{celsius * 1.8 + 32:.10g}"), *convert(celsius * 9, "f", "c", f"{(celsius * 9 - 32) / 1.8:.2f}"),
    )
    units = table()
    expect_units(units, "temperature", {"c": 1, "f": 5 / 9})
    for name, offset in (("c", 0), ("f", -160 / 9)):
        if not near(units[name].get("offset", 0), offset):
            checks.fail(f"Expected an offset near {offset:.5f} for {name}, saw {ascii(units[name])[:100]}.")


def local():
    expect_steps(*WORKS)
    page = Page()
    for element in page.elements:
        for name in LOADED & element.keys():
            if re.match(r"\s*([a-z][a-z0-9+.-]*:|//)", element[name], re.IGNORECASE):
                checks.fail(f"Expected files of the page only, saw {ascii(element[name])[:100]} in a {element['tag']}.")
    loads = r"@import|url\(\s*['\"]?(?!data:|#)[^)]*|\bhttps?:|\bfetch\(|XMLHttpRequest|WebSocket"
    for name in ("style.css", "app.js"):
        if found := re.search(loads, code_of(name)):
            checks.fail(f"Expected nothing to be loaded by {name}, saw {ascii(found[0])[:100]}.")
    scripts = [re.sub(r"^\./", "", one.get("src", "")) for one in page.all("script")]
    if scripts != ["units.js", "app.js"]:
        checks.fail(f"Expected the scripts units.js and app.js in this order, saw {ascii(scripts)[:100]}.")
    sheets = [one.get("href", "") for one in page.all("link") if "stylesheet" in one.get("rel", "").lower()]
    if "style.css" not in [re.sub(r"^\./", "", sheet) for sheet in sheets]:
        checks.fail("Expected index.html to link to style.css, but it does not.")


def inline():
    expect_steps(*WORKS)
    page = Page()
    for element in page.elements:
        if bad := [name for name in element if name.startswith("on") or name == "style"]:
            checks.fail(f"Expected no inline code or style, saw {ascii(bad[0])} in a {element['tag']}.")
        if element.get("href", "").strip().lower().startswith("javascript:"):
            checks.fail("Expected no address that is a script, but there is one.")
    if page.all("style") or [one for one in page.all("script") if one["text"].strip()]:
        checks.fail("Expected no inline scripts and styles in index.html, but there are some.")
    unsafe = r"\b(eval|Function)\s*\(|(inner|outer|Adjacent)HTML|document\.write|setAttribute\(\s*['\"](on|style)"
    for name in ("app.js", "units.js"):
        if found := re.search(unsafe, code_of(name)):
            checks.fail(f"Expected none of the calls that were ruled out in {name}, saw {ascii(found[0])[:100]}.")


def labels():
    amount, _, _, result = an_amount("floz", "l")
    expect_steps(
        "choose floz in From", "choose l in To", f"type {amount} into Amount",
        f"expect value {amount} floz = {result} l in #result",
        "click css=label:has-text('Amount')", "press Control+a", "press 9", "expect value 9 in #amount",
    )
    page = Page()
    if not page.all("html") or not re.match("en", page.all("html")[0].get("lang", ""), re.IGNORECASE):
        checks.fail("Expected the page to say that it is in English, but it does not.")
    for id, label in (("amount", "Amount"), ("from", "From"), ("to", "To")):
        field = page.one(id)
        found = [one for one in page.all("label") if one.get("for") == id] or [field["label"] or {"text": ""}]
        if not found[0]["text"].strip().startswith(label):
            checks.fail(f"Expected a label {label!r} for {id}, saw {ascii(found[0]['text'])[:100]}.")


def units():
    """Every unit can be chosen on both sides."""
    expect_steps(
        *(f"choose {unit} in #{side}" for unit in VOLUMES for side in ("to", "from")), *made_up("ml", "l"),
        *(f"choose {unit} in #{side}" for unit in WEIGHTS for side in ("to", "from")), *made_up("oz", "lb"),
        *made_up("kg", "g"),
    )


def swaps():
    amount, _, _, result = an_amount("ml", "floz")
    expect_steps(
        *made_up("floz", "ml"), "click Swap", "expect value ml in #from", "expect value floz in #to",
        f"type {amount} into #amount", f"expect value {amount} ml = {result} floz in #result", "expect no value in #message",
        "choose oz in #to", "expect value Cannot convert ml to oz. in css=#message[role=alert]", "expect no value in #result",
        "click #swap", "expect value Cannot convert oz to ml. in #message", *made_up("oz", "g"), "expect no value in #message",
    )


def fits():
    expect_steps(
        "view phone", "expect no sideways scrolling", *made_up("tsp", "ml"), "expect no sideways scrolling", "view dark",
        "expect dark background", "expect no sideways scrolling", "view desktop", "expect dark background",
        *made_up("kg", "oz"),
    )


CHECKS = {
    **{check.__name__: check for check in (fields, measures, temperatures, local, inline, labels)},
    "offers-the-units": units, "swaps-and-tells": swaps, "fits-phones-and-the-dark": fits,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

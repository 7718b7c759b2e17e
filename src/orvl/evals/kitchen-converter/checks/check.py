"""The hidden checks of kitchen-converter: python3 -I checks/check.py NAME.

They read the files and run nothing: a browser is not to be had everywhere. What the page does is seen by the steps.
"""

import json
import os
import re
import sys
from html.parser import HTMLParser

MOST = 300_000
VOLUMES = {"ml": 1, "l": 1000, "tsp": 4.92892159, "tbsp": 14.7867648, "floz": 29.5735296, "cup": 236.588237}
WEIGHTS = {"g": 1, "kg": 1000, "oz": 28.3495231, "lb": 453.59237}
LOADED = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background"}
CONTROLS = {"input", "select", "textarea", "output"}


def fail(sentence):
    print(sentence)
    sys.exit(1)


def text_of(name):
    if not os.path.isfile(name):
        fail(f"Expected a file {name}, but there is none.")
    if os.path.getsize(name) > MOST:
        fail(f"Expected a small file {name}, saw more than {MOST} bytes.")
    with open(name, "rb") as file:
        try:
            return file.read(MOST).decode("utf-8-sig")
        except UnicodeDecodeError:
            fail(f"Expected UTF-8 text in {name}, but it is not.")


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
            fail(f"Expected one {' or '.join(tags) or 'element'} with the id {id}, saw {len(found)}.")
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
        fail("Expected units.js to be 'const UNITS = {...};' with JSON after the '=', but it is not.")
    return units


def near(value, wanted):
    return type(value) in (int, float) and abs(value - wanted) <= 2e-5 * max(1, abs(wanted))


def expect_units(units, kind, factors):
    for name, factor in factors.items():
        unit = units.get(name, {})
        if unit.get("kind") != kind or not near(unit.get("factor"), factor):
            fail(f"Expected {name} of the kind {kind} with a factor near {factor}, saw {ascii(unit)[:100]}.")


def values(select):
    return [option.get("value", option["text"].strip()) for option in select["options"]]


def expect_options(page, wanted):
    for id in ("from", "to"):
        offered = values(page.one(id, "select"))
        if lacking := [name for name in wanted if offered.count(name) != 1]:
            fail(f"Expected each of {lacking} once among the options of {id}, saw {ascii(offered)[:200]}.")


def fields():
    page = Page()
    amount = page.one("amount", "input")
    if amount.get("type", "").lower() != "number" or amount.get("value") != "1":
        fail("Expected amount to be a number field that starts with 1, but it is not.")
    page.one("result", "output")
    for id, start in (("from", "cup"), ("to", "ml")):
        options = page.one(id, "select")["options"]
        chosen = [option for option in options if "selected" in option] or options[:1]
        if [option.get("value", option["text"].strip()) for option in chosen] != [start]:
            fail(f"Expected the select {id} to start with {start}, but it does not.")
    for tag in ("title", "h1"):
        if [element["text"].strip() for element in page.all(tag)] != ["Kitchen converter"]:
            fail(f"Expected one {tag} 'Kitchen converter', saw {ascii([one['text'] for one in page.all(tag)])[:100]}.")
    script = code_of("app.js")
    for word in ("amount", "from", "to", "result", "UNITS"):
        if not re.search(rf"\b{word}\b", script):
            fail(f"Expected app.js to use {word}, but it does not.")


def options():
    expect_options(Page(), [*VOLUMES, *WEIGHTS])


def measures():
    units = table()
    expect_units(units, "volume", VOLUMES)
    expect_units(units, "weight", WEIGHTS)
    if odd := [name for name in (*VOLUMES, *WEIGHTS) if not near(units[name].get("offset", 0), 0)]:
        fail(f"Expected no offset but 0 for volumes and weights, saw one for {odd}.")


def temperatures():
    units = table()
    expect_units(units, "temperature", {"c": 1, "f": 5 / 9})
    for name, offset in (("c", 0), ("f", -160 / 9)):
        if not near(units[name].get("offset", 0), offset):
            fail(f"Expected an offset near {offset:.5f} for {name}, saw {ascii(units[name])[:100]}.")
    expect_options(Page(), ["c", "f"])
    if "offset" not in code_of("app.js"):
        fail("Expected app.js to use the offset of a unit, but it does not.")


def swap():
    page = Page()
    button = page.one("swap", "button", "input")
    if "Swap" not in (button["text"] + button.get("value", "") + button.get("aria-label", "")):
        fail("Expected the button swap to say 'Swap', but it does not.")
    message = page.one("message")
    if message.get("role") != "alert" or message["text"].strip():
        fail("Expected an empty element message with the role alert, but it is not so.")
    script = code_of("app.js")
    for words in (r"\bswap\b", r"\bmessage\b", "Cannot convert", r"\bkind\b", r"addEventListener|\.onclick\b"):
        if not re.search(words, script):
            fail(f"Expected {words!r} in app.js, but it is not there.")


def local():
    page = Page()
    for element in page.elements:
        for name in LOADED & element.keys():
            if re.match(r"\s*([a-z][a-z0-9+.-]*:|//)", element[name], re.IGNORECASE):
                fail(f"Expected files of the page only, saw {ascii(element[name])[:100]} in a {element['tag']}.")
    loads = r"@import|url\(\s*['\"]?(?!data:|#)[^)]*|\bhttps?:|\bfetch\(|XMLHttpRequest|WebSocket"
    for name in ("style.css", "app.js"):
        if found := re.search(loads, code_of(name)):
            fail(f"Expected nothing to be loaded by {name}, saw {ascii(found[0])[:100]}.")
    scripts = [re.sub(r"^\./", "", one.get("src", "")) for one in page.all("script")]
    if scripts != ["units.js", "app.js"]:
        fail(f"Expected the scripts units.js and app.js in this order, saw {ascii(scripts)[:100]}.")
    sheets = [one.get("href", "") for one in page.all("link") if "stylesheet" in one.get("rel", "").lower()]
    if "style.css" not in [re.sub(r"^\./", "", sheet) for sheet in sheets]:
        fail("Expected index.html to link to style.css, but it does not.")


def inline():
    page = Page()
    for element in page.elements:
        if bad := [name for name in element if name.startswith("on") or name == "style"]:
            fail(f"Expected no inline code or style, saw {ascii(bad[0])} in a {element['tag']}.")
        if element.get("href", "").strip().lower().startswith("javascript:"):
            fail("Expected no address that is a script, but there is one.")
    if page.all("style") or [one for one in page.all("script") if one["text"].strip()]:
        fail("Expected no inline scripts and styles in index.html, but there are some.")
    unsafe = r"\b(eval|Function)\s*\(|(inner|outer|Adjacent)HTML|document\.write|setAttribute\(\s*['\"](on|style)"
    for name in ("app.js", "units.js"):
        if found := re.search(unsafe, code_of(name)):
            fail(f"Expected none of the calls that were ruled out in {name}, saw {ascii(found[0])[:100]}.")


def labels():
    page = Page()
    if not page.all("html") or not re.match("en", page.all("html")[0].get("lang", ""), re.IGNORECASE):
        fail("Expected the page to say that it is in English, but it does not.")
    for id, label in (("amount", "Amount"), ("from", "From"), ("to", "To")):
        field = page.one(id)
        found = [one for one in page.all("label") if one.get("for") == id] or [field["label"] or {"text": ""}]
        if not found[0]["text"].strip().startswith(label):
            fail(f"Expected a label {label!r} for {id}, saw {ascii(found[0]['text'])[:100]}.")


def looks():
    page = Page()
    told = [one.get("content", "") for one in page.all("meta") if one.get("name", "").lower() == "viewport"]
    if not told or "width=device-width" not in told[0].replace(" ", ""):
        fail("Expected a viewport of the width of the device, but there is none.")
    style = code_of("style.css")
    if style.count("{") != style.count("}") or "{" not in style:
        fail("Expected a style sheet that is whole in style.css, but it is not.")
    if not re.search(r"@media[^{]*prefers-color-scheme\s*:\s*dark[^{]*\{[^}]*:|\blight-dark\(", style):
        fail("Expected a dark look in style.css, but there is none.")
    wide = [found for found in re.findall(r"(?:^|[;{\s])(?:min-)?width\s*:\s*([0-9.]+)px", style) if float(found) > 390]
    if wide:
        fail(f"Expected a page that fits a phone, saw a width of {wide[0]} pixels.")


CHECKS = {
    check.__name__: check
    for check in (fields, options, measures, temperatures, swap, local, inline, labels, looks)
}

if __name__ == "__main__":
    try:
        CHECKS[sys.argv[1]]()
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")

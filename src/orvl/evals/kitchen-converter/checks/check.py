"""The hidden checks of kitchen-converter: python3 checks/check.py NAME.

What counts is what the page does in a real browser with amounts that nobody can know, because they are made up for each
call. Only of a page that works is also read how it was written.
"""

import json
import re
import sys
from html.parser import HTMLParser

from orvl import checks

MOST = 300_000
SESSIONS = 3
random = checks.random()
VOLUMES = {"ml": 1, "l": 1000, "tsp": 4.92892159, "tbsp": 14.7867648, "floz": 29.5735296, "cup": 236.588237}
WEIGHTS = {"g": 1, "kg": 1000, "oz": 28.3495231, "lb": 453.59237}
LOADED = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background"}


class Form:
    """What is chosen on the page, so that no step is wasted on what is chosen already: a browser takes 40 of them."""

    def __init__(self):
        self.chosen = {"from": "cup", "to": "ml"}

    def choose(self, **units):
        steps = [f"choose {unit} in #{field}" for field, unit in units.items() if self.chosen[field] != unit]
        self.chosen |= units
        return steps

    def convert(self, amount, source, target, result):
        """The steps of one conversion, and what must come out of it."""
        steps = self.choose(**{"from": source, "to": target})
        return [*steps, f"type {amount} into #amount", f"expect value {amount} {source} = {result} {target} in #result"]

    def made_up(self, source, target):
        """The steps of a conversion of an amount that nobody can know."""
        return self.convert(*an_amount(source, target))

    def swap(self, button):
        self.chosen = {"from": self.chosen["to"], "to": self.chosen["from"]}
        return [f"click {button}"]

    def view(self, name):
        self.__init__()
        return [f"view {name}"]


def an_amount(source, target):
    """An amount, its units, and the result, which is the same with factors of five digits."""
    factor = FACTORS[source] / FACTORS[target]
    while True:
        amount = float(f"{random.uniform(2, 90) / factor:.3g}")
        result = amount * factor
        if len({f"{result * nearly:.2f}" for nearly in (1 - 5e-5, 1, 1 + 5e-5)}) == 1 and abs(result * 100 % 1 - 0.5) > 0.01:
            return f"{amount:.10g}", source, target, f"{round(result, 2):.10g}"


FACTORS = VOLUMES | WEIGHTS


def browsed(*groups):
    """What goes wrong in each of these groups of steps, which follow each other in one browser. After one that fails the
    others get a browser of their own, a few times."""
    wrong, left = [], list(groups)
    while left and sum(map(bool, wrong)) < (SESSIONS if "" in wrong else 2):
        form = Form()
        parts = [group(form) for group in left]
        seen = iter(checks.browse(*(step for part in parts for step in part)))
        for part in parts:
            failed = next((step for step in [next(seen) for _ in part] if not step.passed), None)
            left.pop(0)
            wrong.append(f"Expected the page to work, but not so in a browser: {failed.step} ({failed.reason})." if failed else "")
            if failed:
                break
    return wrong + ["Expected the page to work, but too much of it does not."] * len(left)


def grade(cases):
    """Of each case, what is wrong with it; empty texts where nothing is."""
    wrong = [[said for said in case if said] for case in cases]
    for sentence in dict.fromkeys(said for case in wrong for said in case):
        print(sentence)
    checks.grade(sum(not case for case in wrong), len(cases))
    sys.exit(int(any(wrong)))


def beside(fixed, fresh):
    """Cases: what is written counts only beside something that works with amounts that are made up."""
    return [[said, fresh[place % len(fresh)]] for place, said in enumerate(fixed)]


def text_of(name):
    """A file; one that is missing, huge or no text is nothing."""
    content = checks.read(name)
    return content.decode("utf-8-sig", "replace") if content is not None and len(content) <= MOST else ""


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

    def one(self, id, tag=None):
        """The element with this id, if it is there once and has this tag."""
        found = [element for element in self.elements if element.get("id") == id]
        return found[0] if len(found) == 1 and tag in (None, found[0]["tag"]) else {}


def table():
    """The units of units.js; none where it is not as it was asked for."""
    form = r"\s*(?:['\"]use strict['\"];?)?\s*const\s+UNITS\s*=(.*?);?\s*"
    found = re.fullmatch(form, code_of("units.js"), re.DOTALL)
    try:
        units = json.loads(found[1]) if found else None
    except (ValueError, RecursionError):
        units = None
    is_table = isinstance(units, dict) and all(isinstance(unit, dict) for unit in units.values())
    return units if is_table else {}


def lacking_options(page, units):
    """For both selects, what is wrong with the options that are written in the HTML."""
    for field in ("from", "to"):
        values = {option.get("value", option["text"].strip()) for option in page.one(field, "select").get("options", [])}
        lacking = ", ".join(sorted(units - values))
        yield f"Expected options for all units in {field}, but there is none for {lacking}." if lacking else ""


def near(value, wanted):
    return type(value) in (int, float) and abs(value - wanted) <= 2e-5 * max(1, abs(wanted))


def wrong_units(units, kind, factors, offsets=None):
    """What is wrong with each of these units in the table."""
    for name, factor in factors.items():
        unit, offset = units.get(name, {}), (offsets or {}).get(name, 0)
        right = unit.get("kind") == kind and near(unit.get("factor"), factor) and near(unit.get("offset", 0), offset)
        yield "" if right else f"Expected {name} of the kind {kind} with a factor near {factor} in units.js, saw {ascii(unit)[:100]}."


def converts():
    """Everything of the first turn: what the page shows at first, every unit, and what importers read."""
    start, *others = browsed(
        lambda form: ["expect text Kitchen converter", "expect value 1 cup = 236.59 ml in #result"],
        lambda form: form.made_up("cup", "tsp"),
        lambda form: form.made_up("floz", "tsp"),
        lambda form: form.made_up("floz", "tbsp"),
        lambda form: ["press Control+a", "press Delete", "expect no value in #result", *form.made_up("l", "tbsp")],
        lambda form: form.made_up("l", "ml"),
        lambda form: form.convert("0.75", "l", "ml", 750),
        lambda form: form.made_up("lb", "oz"),
        lambda form: form.made_up("g", "oz"),
        lambda form: form.made_up("g", "kg"),
        lambda form: form.convert("3.5", "cup", "tbsp", 56),
    )
    page, units = Page(), table()
    titles = [element["text"].strip() for tag in ("title", "h1") for element in page.all(tag)]
    written = [
        start,
        "" if page.one("amount", "input").get("type", "").lower() == "number" else "Expected amount to be a number field.",
        "" if page.one("result", "output") else "Expected an output with the id result, but there is none.",
        "" if titles == ["Kitchen converter"] * 2 else f"Expected the title and the heading to be so, saw {ascii(titles)[:100]}.",
        *lacking_options(page, {*VOLUMES, *WEIGHTS}),
        *wrong_units(units, "volume", VOLUMES), *wrong_units(units, "weight", WEIGHTS),
    ]
    grade([[said] for said in others] + beside(written, others))


def policy():
    """Nothing from elsewhere, no inline code: of a page that works, or an empty one would pass."""
    works = browsed(
        lambda form: form.made_up("tbsp", "ml"), lambda form: [*form.made_up("oz", "kg"), "expect no error"],
    )
    page = Page()
    loads = r"@import|url\(\s*['\"]?(?!data:|#)[^)]*|\bhttps?:|\bfetch\(|XMLHttpRequest|WebSocket"
    unsafe = r"\b(eval|Function)\s*\(|(inner|outer|Adjacent)HTML|document\.write|setAttribute\(\s*['\"](on|style)"
    elsewhere = [
        element[name] for element in page.elements for name in LOADED & element.keys()
        if re.match(r"\s*([a-z][a-z0-9+.-]*:|//)", element[name], re.IGNORECASE)
    ]
    scripts = [re.sub(r"^\./", "", one.get("src", "")) for one in page.all("script")]
    sheets = [re.sub(r"^\./", "", one.get("href", "")) for one in page.all("link") if "stylesheet" in one.get("rel", "").lower()]
    handlers = [name for element in page.elements for name in element if name.startswith("on") or name == "style"]
    inline = page.all("style") or [one for one in page.all("script") if one["text"].strip()]
    wrong = [
        f"Expected files of the page only, saw {ascii(elsewhere[:1])[:100]}." * bool(elsewhere),
        *(f"Expected nothing to be loaded by {name}, but something is." * bool(re.search(loads, code_of(name))) for name in ("style.css", "app.js")),
        f"Expected the scripts units.js and app.js in this order, saw {ascii(scripts)[:100]}." * (scripts != ["units.js", "app.js"]),
        "Expected index.html to link to style.css, but it does not." * ("style.css" not in sheets),
        f"Expected no inline code or style, saw {ascii(handlers[:1])}." * bool(handlers),
        "Expected no inline scripts and styles in index.html, but there are some." * bool(inline),
        *(f"Expected none of the calls that were ruled out in {name}." * bool(re.search(unsafe, code_of(name))) for name in ("app.js", "units.js")),
    ]
    grade(beside(wrong, works))


def ovens():
    """Temperatures, the button and the message."""
    amount, _, _, result = an_amount("ml", "floz")
    cold, hot = random.randint(10, 120) * 2, random.randint(130, 290) * 2
    works = browsed(
        lambda form: form.convert(cold, "c", "f", f"{cold * 1.8 + 32:.10g}"),
        lambda form: form.convert(cold + 1.5, "c", "f", f"{cold * 1.8 + 34.7:.10g}"),
        lambda form: form.convert(hot, "f", "c", f"{round((hot - 32) / 1.8, 2):.10g}") + form.convert(-40, "f", "c", -40),
        lambda form: [
            *form.made_up("floz", "ml"), *form.swap("Swap"), *form.convert(amount, "ml", "floz", result), "expect no value in #message",
        ],
        lambda form: [
            *form.made_up("ml", "cup"), *form.choose(to="oz"), "expect value Cannot convert ml to oz. in css=#message[role=alert]",
            "expect no value in #result", *form.swap("#swap"), "expect value Cannot convert oz to ml. in #message",
            *form.made_up("oz", "g"), "expect no value in #message",
        ],
        lambda form: [
            *form.made_up("kg", "g"), *form.choose(**{"from": "c"}), "expect value Cannot convert c to g. in #message",
            "expect no value in #result",
        ],
    )
    units = table()
    written = list(wrong_units(units, "temperature", {"c": 1, "f": 5 / 9}, {"f": -160 / 9}))
    written += lacking_options(Page(), {"c", "f"})
    grade([[said] for said in works] + beside(written, works))


def kitchens():
    """Phones, the dark, labels and the language."""
    amount, _, _, result = an_amount("floz", "l")
    works = browsed(
        lambda form: [
            "choose floz in From", "choose l in To", f"type {amount} into Amount",
            f"expect value {amount} floz = {result} l in #result",
            "click css=label:has-text('Amount')", "press Control+a", "press 9", "expect value 9 in #amount",
        ],
        lambda form: [
            *form.view("phone"), "expect no sideways scrolling", *form.made_up("tsp", "ml"), "expect no sideways scrolling",
        ],
        lambda form: [*form.view("dark"), "expect dark background", "expect no sideways scrolling", *form.made_up("tbsp", "l")],
    )
    page = Page()
    language = (page.all("html") or [{}])[0].get("lang", "")
    written = ["" if re.match("en", language, re.IGNORECASE) else "Expected the page to say that it is in English, but it does not."]
    for id, label in (("amount", "Amount"), ("from", "From"), ("to", "To")):
        field = page.one(id)
        found = [one for one in page.all("label") if one.get("for") == id] or [field.get("label") or {"text": ""}]
        right = bool(field) and found[0]["text"].strip().startswith(label)
        written.append("" if right else f"Expected a label {label!r} for {id}, saw {ascii(found[0]['text'])[:100]}.")
    grade([[said] for said in works] + beside(written, works))


CHECKS = {check.__name__: check for check in (converts, policy, ovens, kitchens)}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

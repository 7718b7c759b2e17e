"""Steps on the sign-up page, and what must be true of it. What is asked of a page is asked in selectors, so that one step can want a lot."""

from orvl import checks

from people import LAST_NUMBER, MEMBERS
from texts import text

FIELDS = ("name", "email", "phone", "postcode", "box", "heard", "password", "terms")
LINES = tuple(field for field in FIELDS if field not in ("box", "terms"))
CODES = {
    "name": ("name.missing", "name.long"),
    "email": ("email.missing", "email.malformed", "email.taken"),
    "phone": ("phone.missing", "phone.malformed"),
    "postcode": ("postcode.missing", "postcode.malformed", "postcode.outside"),
    "box": ("box.missing",),
    "heard": ("heard.missing", "heard.long"),
    "password": ("password.missing", "password.short", "password.digit", "password.letter", "password.known"),
    "terms": ("terms.missing",),
}
NEXT, ALL = "@next@", "@all@"
"""Stand for the number of the next member, and for how many there are: that depends on what else was done in this browser."""
FIRST = "open /"
MOST_STEPS = 40
MOST_FAILURES = 3
HOPELESS = 2
"""So many cases may fail before anything has passed."""


class Case:
    """Steps that must all go well. `before` is done first where the page is not as the last case has left it."""

    def __init__(self, name, *steps, before=()):
        self.name = name
        self.steps = list(flat(steps))
        self.before = list(flat(before))

    def after(self, is_first):
        return [*(self.before if is_first else ()), *self.steps]


class Fresh(Case):
    """A case that begins anew in any case."""

    def after(self, is_first):
        return [*self.before, *self.steps]


def flat(steps):
    for step in steps:
        if isinstance(step, str):
            yield step
        else:
            yield from flat(step)


def browsed(cases, before=()):
    """Of each case, what is wrong with it. As many as fit go into one browser; after one that fails, the others get another.

    What has passed by then is told at once: a page that keeps everybody waiting may use up the check's time. `before` is
    what is known already of other cases.
    """
    wrong, left = {}, list(cases)
    known, total = sum(not said for said in before), len(before) + len(left)
    while left:
        failures = sum(map(bool, wrong.values()))
        if failures >= (MOST_FAILURES if "" in wrong.values() else HOPELESS):
            wrong.update((case.name, "too much of the page does not work") for case in left)
            break
        for case, said in one_browser(left):
            wrong[case.name] = said
            left.remove(case)
        checks.grade(known + sum(not said for said in wrong.values()), total)
    return wrong


def one_browser(cases):
    """The cases that were tried, up to the first that fails, and what was wrong with it."""
    parts, steps = [], []
    for case in cases:
        more = case.after(is_first=not parts)
        if not parts and more[0] == FIRST:  # a browser begins there
            more = more[1:]
        if parts and len(steps) + len(more) > MOST_STEPS:
            break
        parts.append((case, len(more)))
        steps += more
    seen = iter(checks.browse(*numbered(steps)))
    tried = []
    for case, count in parts:
        failed = next((step for step in [next(seen) for _ in range(count)] if not step.passed), None)
        tried.append((case, f"{failed.step} ({failed.reason})" if failed else ""))
        if failed:
            break
    return tried


def numbered(steps):
    joined = 0
    for step in steps:
        joined += NEXT in step
        yield step.replace(NEXT, str(LAST_NUMBER + joined)).replace(ALL, str(len(MEMBERS) + joined))


# -- what is done


def start():
    return [FIRST]


def dev(*switches):
    return [f"open /dev/{switch}" for switch in switches] + [FIRST]


def label_of(field):
    return f'css=label:has-text("{text("label." + field)}")'


def tick():
    return [f"click {label_of('terms')}"]


def fill(person, fields=FIELDS):
    """Fills in these fields of a page on which nothing is filled in."""
    return list(flat(entered(person, field) for field in fields))


def entered(person, field):
    if field == "box":
        return f"choose {person['box']} in #box"
    return tick() if field == "terms" else f'type "{person[field]}" into #{field}'


def join_button():
    return f'css=form button:has-text("{text("button.join")}")'


def enter():
    """Sends the form from within its first line."""
    return ["click #name", "press Enter"]


# -- what must be true


def page(*wanted, title="signup.title"):
    """A step that passes if all these parts of a selector are true of the page; its heading stands for it."""
    return f'expect value {text(title)} in css=html{"".join(wanted)} h1:has-text("{text(title)}")'


def has(selector):
    return f":has({selector})"


def lacks(selector):
    return f":not(:has({selector}))"


def says(field, *codes):
    """The field is marked, and all these texts stand at it and no others of its own."""
    shown = has(f'#{field}[aria-invalid="true"][aria-describedby~="{field}-error"]')
    for code in codes:
        shown += has(f'#{field}-error:visible:has-text("{text(code)}")')
    others = [code for code in CODES[field] if code not in codes]
    return shown + "".join(lacks(f'#{field}-error:visible:has-text("{text(code)}")') for code in others)


def silent(*fields):
    """These fields are not marked, and nothing stands at them."""
    return "".join(lacks(f'#{field}[aria-invalid="true"]') + lacks(anything_at(field)) for field in fields)


def anything_at(field):
    place = f"#{field}-error"
    return f":is({place}, {place} *):visible:text-matches('\\\\w')"


def focus(field):
    return has(f"#{field}:focus")


def alert(key):
    return has(f'form [role="alert"]:visible:has-text("{text(key)}")')


def no_alert(*keys):
    return "".join(lacks(f'[role="alert"]:visible:has-text("{text(key)}")') for key in keys)


def values(person, *fields):
    """Steps that want these fields to have what the person entered."""
    return [f"expect value {person[field]} in #{field}" for field in fields]


def welcomed():
    """A step that wants to see the number of a new member, the next one."""
    return page(has(f'*:text("{text("welcome.number", number=NEXT)}")'), title="welcome.title")


def received(count):
    """Steps that count what the server has got; the form is gone afterwards."""
    return ["open /dev/counts", f"expect value {count} in #received"]


def everybody_counted():
    """Steps that want as many members as there were and have been welcomed; the form is gone afterwards."""
    return ["open /dev/counts", f"expect value {ALL} in #members"]

"""Who comes first: priorities, before and after, for plugins and for single hooks; circles."""

import json

from orvl import checks

from scene import SOUR, Failures, expect

HOOKS = ("config", "page:source", "page:parsed", "page:url", "pages", "page:layout", "files", "done")


class Place:
    """What a plugin says of its place, and what each of its hooks says."""

    def __init__(self, name, before=None, after=None, priority=None):
        self.name, self.own = name, _said(before, after, priority)
        self.hooks = {}

    def of(self, hook):
        return (
            {"before": [], "after": [], "priority": int(checks.drawn()["middle"])} | self.own | self.hooks.get(hook, {})
        )

    def code(self, hooks, run):
        """Its file; `run` is the body of each hook."""
        rows = [f"{key}: {json.dumps(value)}," for key, value in self.own.items()]
        for hook in hooks:
            function = f"function () {{ {run(hook)} }}"
            more = "".join(f", {key}: {json.dumps(value)}" for key, value in self.hooks.get(hook, {}).items())
            rows.append((f"'{hook}': {{ run: {function}{more} }}," if hook in self.hooks else f"'{hook}': {function},"))
        own = len(self.own)
        return "\n".join([*rows[:own], "hooks: {", *rows[own:], "}"])


def _said(before=None, after=None, priority=None):
    return {
        key: value for key, value in (("before", before), ("after", after), ("priority", priority)) if value is not None
    }


def arranged(places, hook):
    """The names in the order in which they come; None if they wait for each other."""
    left, found = [(place.name, place.of(hook)) for place in places], []
    sign = 1 if checks.drawn()["first"] == "lowest" else -1
    while left:
        ready = [one for one in left if not any(_waits(one, other) for other in left)]
        if not ready:
            return None
        one = min(ready, key=lambda one: sign * one[1]["priority"])
        found.append(one[0])
        left.remove(one)
    return found


def _waits(one, other):
    def names(said):
        return said if isinstance(said, list) else [said]

    return one[0] in names(other[1]["before"]) or other[0] in names(one[1]["after"])


def some_places(site, count):
    """Plugins with places that fit together, at random."""
    names = [site.word() for _ in range(count)]
    secret = site.random.sample(names, count)
    middle = int(checks.drawn()["middle"])
    places = []
    for name in names:
        at = secret.index(name)
        later, earlier = _some(site, secret[at + 1 :]), _some(site, secret[:at])
        priority = site.random.choice([None, None, middle - 10, middle + 10, middle - 1, -5, 200])
        places.append(Place(name, later, earlier, priority))
    return places


def _some(site, names):
    kind = site.random.random()
    if not names or kind < 0.5:
        return None
    if kind < 0.75:
        return site.random.choice(names)
    return [*site.random.sample(names, site.random.randint(1, min(2, len(names)))), site.word()]


def compare(site, places, hooks, having=None):
    """Builds a site with one page, and compares who came when in each hook. `having` says who has a hook."""
    site.page()
    having = having or {hook: places for hook in hooks}
    for place in places:
        mine = [hook for hook in hooks if place in having[hook]]
        site.plugin(place.code(mine, lambda hook: f"trace('{hook} ' + this.name)"), place.name)
    site.build()
    seen = [line.split() for line in site.trace()]
    for hook in hooks:
        wanted = arranged(having[hook], hook)
        expect(
            f"the order in {hook}, of {[place.own | place.hooks for place in places]}",
            [name for one, name in seen if one == hook],
            wanted,
        )


def at_random(count, *more):
    def case(site):
        hooks = [*more, *site.random.sample([hook for hook in HOOKS if hook not in more], 3 - len(more))]
        compare(site, some_places(site, count), hooks)

    case.__name__ = f"{count} at random"
    return case


def as_listed(site):
    compare(site, [Place(site.word()) for _ in range(5)], ("page:parsed", "files"))


def by_priority(site):
    middle = int(checks.drawn()["middle"])
    priorities = [None, middle + 5, middle - 5, None, middle, 10 * middle + 1.5, -1 - middle]
    site.random.shuffle(priorities)
    compare(site, [Place(site.word(), priority=one) for one in priorities], ("page:source", "pages"))


def before_beats_priority(site):
    early, late = _extremes()
    one, two, three = (site.word() for _ in range(3))
    compare(
        site,
        [Place(one, priority=early, after=[two]), Place(three), Place(two, priority=late, before=site.word())],
        ("page:layout", "done"),
    )


def _extremes():
    """Priorities that come first and last."""
    middle = int(checks.drawn()["middle"])
    return (middle - 90, middle + 90) if checks.drawn()["first"] == "lowest" else (middle + 90, middle - 90)


def values_go_along(site):
    """What is passed on goes the same way."""
    page, places = site.page(), some_places(site, 5)
    for place in places:
        site.plugin(
            place.code((), None).replace("hooks: {", "hooks: { 'page:source'(text) { return text + this.name },"),
            place.name,
        )
    site.build()
    expect(
        "the text",
        site.main(page.url),
        page.html.replace("</p>", "\n" + "".join(arranged(places, "page:source")) + "</p>"),
    )


ORDER = (
    *(as_listed, by_priority, before_beats_priority, values_go_along),
    *(
        at_random(4, "page:parsed"),
        at_random(5, "pages"),
        at_random(6),
        at_random(6),
        at_random(7, "page:layout"),
        at_random(7),
    ),
)


# -- places of single hooks


def hooks_at_random(site):
    hooks = site.random.sample(HOOKS, 4)
    for _ in range(1000):
        places = some_places(site, 5)
        for place in places:
            for hook, other in zip(hooks, some_places(site, 4)):
                names = [one.name for one in places if one is not place]
                if site.random.random() < 0.6:
                    own = {key: _swapped(site, value, names) for key, value in other.own.items()}
                    place.hooks[hook] = own | ({"before": []} if site.random.random() < 0.2 else {})
        if all(arranged(places, hook) for hook in hooks):
            break
    else:
        raise AssertionError("no places that fit together")
    compare(site, places, hooks)


def _swapped(site, said, names):
    """The same with names of others."""
    if isinstance(said, list):
        return site.random.sample(names, min(len(said), len(names)))
    return site.random.choice(names) if isinstance(said, str) else said


def of_the_forum(site):
    """The HTML before typo does, but the list after it."""
    captions, typo = Place(site.word()), Place(site.word())
    captions.own["before"] = typo.name
    captions.hooks["pages"] = {"before": [], "after": [typo.name]}
    compare(site, [typo, captions], ("page:source", "pages", "page:layout"))


def priority_of_a_hook(site):
    early, late = _extremes()
    one, two = Place(site.word(), priority=late), Place(site.word())
    one.hooks["files"] = {"priority": early}
    two.hooks["files"] = {"priority": int(checks.drawn()["middle"])}
    compare(site, [one, two], ("page:parsed", "files"))


def what_a_hook_does_not_say(site):
    """A hook with a priority of its own still has the plugin's before and after."""
    early, _ = _extremes()
    one, two, three = (Place(site.word()) for _ in range(3))
    one.own["after"] = [three.name]
    one.hooks["page:layout"] = {"priority": early}
    two.hooks["page:layout"] = {"before": one.name}
    compare(site, [one, two, three], ("page:layout", "page:url"))


def only_those_count(site):
    """One that does not have a hook is nothing to wait for in it."""
    one, two, three = (Place(site.word()) for _ in range(3))
    one.own["after"], two.own["after"] = two.name, three.name
    places = [one, two, three]
    compare(
        site,
        places,
        ("page:parsed", "files", "pages"),
        {"page:parsed": places, "files": [one, three], "pages": [one, two]},
    )


def this_is_still_the_plugin(site):
    page, word = site.page(), site.word()
    site.plugin(
        "word: $WORD,\nhooks: { 'page:source': { run(text) { return text + this.word }, priority: 3 } }", WORD=word
    )
    site.build()
    expect("what a hook as an object returned", site.main(page.url), page.html.replace("</p>", f"\n{word}</p>"))


PLACES = (
    *(of_the_forum, priority_of_a_hook, what_a_hook_does_not_say, only_those_count, this_is_still_the_plugin),
    *((hooks_at_random,) * 4),
)


# -- circles

CIRCLE = Failures()


def circle(length, of_hook=False, beside=2):
    """A case: the last link of the circle is only there where it is to fail."""

    @CIRCLE.add(f"circle of {length}, {'of a hook' if of_hook else 'of plugins'}")
    def prepare(site, sour):
        names, others = [site.word() for _ in range(length)], [site.word() for _ in range(beside)]
        links = list(zip(names, names[1:] + names[:1])) + [(site.random.choice(names), other) for other in others]
        said = {name: {"before": [], "after": []} for name in names + others}
        for one, other in links:
            who, key, whom = site.random.choice(((one, "before", other), (other, "after", one)))
            link = json.dumps(whom)
            said[who][key].append(f"...({sour} ? [{link}] : [])" if (one, other) == links[length - 1] else link)
        for name in site.random.sample(names + others, length + beside):
            place = ", ".join(f"{key}: [{', '.join(rows)}]" for key, rows in said[name].items())
            read = f"if (process.env.{SOUR}) throw new Error('too late')"
            hook = f"'page:source': {{ run() {{ {read} }}, {place if of_hook else ''} }}"
            site.plugin(f"{'' if of_hook else place + ','} hooks: {{ config() {{ {read} }}, {hook} }}", name)
        return names

    return prepare


CIRCLES = (
    *(circle(2, beside=0), circle(2), circle(3), circle(4), circle(5, beside=1)),
    *(circle(2, of_hook=True, beside=0), circle(2, of_hook=True), circle(3, of_hook=True), circle(4, of_hook=True)),
)

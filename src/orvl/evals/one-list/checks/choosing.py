"""Checks of which record's cell the list shows."""

from scene import ADDRESS, difference
from world import at_home, day

PHONE = ("phone",)


class Somebody:
    """A customer whose records are the same by their e-mail, and differ in all else."""

    def __init__(self, scene):
        self.make, self.person, self.records = scene.make, scene.make.person(), []

    def add(self, source, changed=None, **cells):
        """One more record of hers, with a phone and an address of its own."""
        other = self.make.person()
        other.first, other.last, other.email = self.person.first, self.person.last, self.person.email
        when = {"changed": day(source, changed) if isinstance(changed, tuple) else changed or ""}
        self.records.append(getattr(self.make, source)(other, **when, **cells))
        return self


def newest(scene):
    """Phone and address of the record that was changed last."""
    make, random = scene.make, scene.random
    shuffled = lambda *some: random.sample(some, len(some))

    for name in ("the newest phone", "the newest phone again"):
        one = Somebody(scene)
        for source, date in zip(shuffled("shop", "till", "news"), make.dates(3)):
            one.add(source, date)
        scene.case(name, *one.records, fields=PHONE)
    records = []
    for sources in (("shop", "till"), ("till", "shop")):
        one = Somebody(scene)
        for source, date in zip(sources, make.dates(2)):
            one.add(source, date)
        records += one.records
    scene.case("the newest address", *records, fields=ADDRESS)
    old, new, newer = make.dates(3)
    one = Somebody(scene).add("till", old).add("shop", new, phone="").add("news", newer, phone="112")
    two = Somebody(scene).add("shop", old).add("till", new).add("news", newer)
    scene.case("a newest phone that is none not to count", *one.records, *two.records, fields=PHONE)
    one = Somebody(scene).add("shop", newer, street="").add("till", old).add("till", new, address="Freiburg")
    two = Somebody(scene).add("shop", old).add("till", new)
    scene.case("a newest address that is none not to count", *one.records, *two.records, fields=ADDRESS)
    one = Somebody(scene).add("shop", newer, zip="").add("till", new)
    two = Somebody(scene).add("till", newer).add("shop", old)
    scene.case("addresses never to be mixed", *one.records, *two.records, fields=ADDRESS)
    one = Somebody(scene).add("shop").add("till", "00.00.0000").add("news", old)
    two = Somebody(scene).add("shop").add("till", new).add("news", old)
    scene.case("no day to be older than any", *one.records, *two.records, fields=(*PHONE, *ADDRESS))
    same = [Somebody(scene), Somebody(scene), Somebody(scene)]
    for somebody, sources in zip(same, (("news", "till", "shop"), ("news", "till"), ("till", "shop"))):
        for source in sources:
            somebody.add(source, new)
    scene.case("shop before till before newsletter on the same day", *(r for one in same for r in one.records), fields=(*PHONE, *ADDRESS))
    one, two = (Somebody(scene).add(source, new).add(source, new).add(source, new) for source in ("shop", "till"))
    scene.case("the lower number on the same day", *one.records, *two.records, fields=(*PHONE, *ADDRESS))
    year = random.randrange(2016, 2024)
    one = Somebody(scene).add("news", (year, 3, 12)).add("shop", (year, 5, 1)).add("till", (year, 4, 12))
    two = Somebody(scene).add("news", (year, 11, 2)).add("till", (year, 2, 11)).add("shop", (year, 9, 9))
    scene.case("days to be read as each export writes them", *one.records, *two.records, fields=PHONE)
    text = {source: day(source, new) for source in ("shop", "till", "news")}
    one = Somebody(scene).add("till", f"{text['till']} 17:45").add("shop", f"{text['shop']} 08:00:00")
    two = Somebody(scene).add("news", f"{text['news']} 9:15 PM").add("till", text["till"])
    scene.case("times not to count", *one.records, *two.records, fields=PHONE)
    _compare(scene, scene.oracle())


def others(scene):
    """Name, e-mail, since and mail."""
    make = scene.make
    old, new, newer = make.dates(3)

    def renamed(source, date, name):
        last, _, first = name.rpartition(" ")[2], "", name.rpartition(" ")[0]
        cells = {"shop": {"first": first, "last": last}, "till": {"customer": f"{last}, {first}" if first else last}, "news": {"name": name}}
        return {"source": source, "changed": date, **cells[source]}

    def named(*records):
        one = Somebody(scene)
        for record in records:
            one.add(**renamed(*record))
        return one.records

    full = [f"{make.word()} {make.word()}" for _ in range(8)]
    scene.case("the newest name", *named(("shop", old, full[0]), ("news", new, full[1])), *named(("till", newer, full[2]), ("shop", new, full[3])), fields=("name",))
    scene.case(
        "a single word to come after a full name",
        *named(("shop", old, full[4]), ("news", newer, make.word())),
        *named(("shop", None, full[5]), ("till", newer, make.word())),
        *named(("news", new, make.word()), ("shop", old, make.word())),
        fields=("name",),
    )
    scene.case("shop before till before newsletter for names", *named(("news", new, full[6]), ("till", new, full[7])), fields=("name",))

    def mailed(*records):
        """Records of one phone and name with e-mails of their own."""
        person = make.person()
        return [
            getattr(make, source)(person, email=make.email(), changed=day(source, date), **cells)
            for source, date, cells in records
        ]

    scene.case(
        "the newest e-mail",
        *mailed(("shop", old, {}), ("news", new, {}), ("till", newer, {})),
        *mailed(("news", newer, {}), ("till", old, {})),
        fields=("email",),
    )
    scene.case(
        "a bounced e-mail not to be shown, but an older one",
        *mailed(("news", newer, {"status": "bounced"}), ("shop", old, {})),
        *mailed(("shop", old, {}), ("till", new, {}), ("news", newer, {"status": "bounced"})),
        fields=("email",),
    )
    scene.case(
        "e-mails on the same day by export, then by number",
        *mailed(("till", new, {}), ("news", new, {}), ("shop", new, {})),
        *mailed(("news", new, {}), ("news", new, {})),
        *mailed(("till", new, {}), ("till", new, {}), ("news", new, {})),
        fields=("email",),
    )

    def since(*records):
        one = Somebody(scene)
        for source, date in records:
            one.add(source, newer, since=day(source, date) if date else "")
        return one.records

    year = make.random.randrange(2015, 2024)
    scene.case(
        "the earliest since",
        *since(("shop", new), ("till", old), ("news", newer)),
        *since(("shop", newer), ("news", new)),
        *since(("news", (year, 3, 11)), ("till", (year, 5, 2))),
        *since(("till", (year, 2, 12)), ("shop", (year, 3, 3)), ("news", None)),
        fields=("since",),
    )

    def told(*records):
        one = Somebody(scene)
        for source, date, answer in records:
            one.add(source, date, **{"newsletter" if source == "shop" else "status": answer})
        return one.records

    scene.case(
        "no before yes in mail",
        *told(("shop", old, "0"), ("news", newer, "subscribed")),
        *told(("news", old, "unsubscribed"), ("shop", newer, "1")),
        *told(("shop", old, ""), ("news", new, "subscribed")),
        fields=("mail",),
    )
    scene.case(
        "mail to be empty where nobody says anything",
        *told(("shop", old, ""), ("news", newer, "bounced")),
        *told(("shop", old, "1"), ("news", newer, "bounced")),
        *told(("shop", old, "0"), ("shop", newer, "")),
        fields=("mail",),
    )
    _compare(scene, scene.oracle())


def winner(scene):
    """Since the third turn one export's phone or address wins, whatever the days."""
    make, field, wins = scene.make, scene.field, scene.winner
    loser = "shop" if wins == "till" else "till"
    fields = PHONE if field == "phone" else ADDRESS
    none = {"phone": {"phone": "112"}, "address": {"address": "Freiburg"} if wins == "till" else {"street": ""}}[field]
    old, new, newer, newest_ = make.dates(4)
    plain = lambda: Somebody(scene).add(wins, old).add(loser, newer).add("news", newest_).records
    scene.case("the winner's, although it is the oldest", *plain(), *plain(), fields=fields)
    scene.case("the winner's without a day", *Somebody(scene).add(wins).add(loser, new).records, fields=fields)
    two = Somebody(scene).add(wins, old).add(wins, newer).add(loser, newest_).add(wins, new)
    scene.case("the newest of several of the winner's", *two.records, fields=fields)
    two = Somebody(scene).add(wins, new).add(wins, new).add(loser, newer)
    scene.case("the lower number of the winner's", *two.records, fields=fields)
    two = Somebody(scene).add(wins, newest_, **none).add(loser, new).add(loser, old)
    scene.case("the newest where the winner has none", *two.records, *plain(), fields=fields)
    two = Somebody(scene).add(wins, newest_, **none).add(wins, old).add(loser, newer)
    scene.case("the winner's older one where its newest is none", *two.records, *plain(), fields=fields)
    other = tuple(one for one in scene.steady if one in (*PHONE, *ADDRESS))
    scene.case("the newest of what was not spoken of", *plain(), *plain(), fields=(*fields, *other, "name", "email"))
    if field == "address":
        shop = {"zip": ""} if wins == "shop" else {}
        two = Somebody(scene).add(wins, old, **shop).add(loser, newer)
    else:
        two = Somebody(scene).add(wins, old).add("news", newer).add("news", new)
    scene.case("all of the winner's, and nothing of others", *two.records, *plain(), fields=fields)
    joined = [make.shop(make.person(), changed=day("shop", old)), make.till(make.person(), changed=day("till", new))]
    if wins == "till":
        joined = [make.shop(make.person(), changed=day("shop", new)), make.till(make.person(), changed=day("till", old))]
    scene.add(*joined)
    place, oracle = scene.place(), scene.oracle(preferred=scene.preferred)
    place.load(scene.rows)
    oracle.load(scene.rows)
    place.command("same", *(one.key for one in joined))
    oracle.decide("same", *(one.key for one in joined))
    found, right = place.list(), oracle.customers()
    scene.compare_cases(found, oracle)
    scene.tell("the winner's of those who are one by hand", difference(found, right, {joined[0].key}, fields))
    everybody = set().union(*(one.records for one in right))
    scene.tell("origins of what the list shows", difference(found, right, everybody, fields, origins=True))
    scene.end()


def _compare(scene, oracle):
    place = scene.place()
    place.load(scene.rows)
    oracle.load(scene.rows)
    scene.compare_cases(place.list(), oracle)
    scene.end()

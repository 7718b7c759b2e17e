"""Checks of how exports are read and cells are cleaned: each customer here is one record."""

import unicodedata

from oracle import FIELDS
from scene import difference
from world import at_home, day


def reads(scene):
    """Every export with its own form and dirt."""
    _reads_shop(scene)
    _reads_till(scene)
    _reads_newsletter(scene)
    _reads_nothing(scene)
    place, oracle = scene.place(), scene.oracle()
    place.load(scene.rows)
    oracle.load(scene.rows)
    found = place.list()
    scene.compare_cases(found, oracle)
    scene.tell("titles, sums, test orders and empty cards to be nobody", _strangers(found, oracle))
    scene.end()


def _strangers(found, oracle):
    """Customers or records in the list of whom no export knows."""
    right = oracle.customers()
    if problem := difference(found, right, set().union(*(one.records for one in right))):
        return problem
    known = {key for one in right for key in one.records}
    strangers = [one for one in found.customers if not one.records or not one.records <= known]
    return f"nobody but {len(right)} customers, saw {strangers[0].keys} {strangers[0].cells}" if strangers else None


def _reads_shop(scene):
    make, random = scene.make, scene.random
    dates = [make.date() for _ in range(4)]
    plain = [
        make.shop(make.person(), newsletter=answer, since=day("shop", date))
        for answer, date in zip("10", dates, strict=False)
    ]
    scene.case("rows of the shop, by headers", *plain, fields=FIELDS)

    word = make.word()
    scene.case(
        "HTML entities to be letters",
        make.shop(
            make.person(), last=f"{word[:2]}&uuml;{word[2:]}", city="Bad S&auml;ckingen", street="Tor &amp; Turm 4"
        ),
        make.shop(make.person(), first="Ren&#233;", street="Hof&nbsp;&nbsp;7", last=f"{make.word()}&szlig;"),
        fields=FIELDS,
    )
    word = make.word()
    scene.case(
        "white space to be one blank, and zero-width spaces to go",
        make.shop(
            make.person(),
            first="  Anna \u00a0 Lena ",
            street=f"{make.street()}\nHinterhaus",
            last=f"{word[:3]}\u200b{word[3:]}",
        ),
        make.news(make.person(), name=f" Pia\u00a0\u00a0{make.word()}\u200b "),
        make.till(make.person(), customer=f"{make.word()},\u00a0 Jan  Ole"),
        fields=FIELDS,
    )
    old = [make.shop(make.person(), since=day("shop", dates[2])) for _ in range(3)]
    new = [
        one.but(first=f"Neu{number}", street=make.street(), phone=at_home(make.local()))
        for number, one in enumerate(old)
    ]
    scene.expect("the later row of a customer who comes twice", new, FIELDS)
    scene.rows["shop"] += [*old, *new]

    own = scene.make.town.own_domain
    mine, near = make.person(), make.person()
    tests = [
        make.shop(make.person(), email=f"{make.word().lower()}@{own}"),
        make.shop(make.person(), email=f" Test@{own.upper()}"),
    ]
    scene.case(
        "test orders in the shop, and only those, to be nobody",
        make.news(mine, email=f"{make.word().lower()}@{own}"),
        make.shop(near, email=f"{make.word().lower()}@not-{own}"),
        fields=FIELDS,
        absent=tests,
    )
    scene.case(
        "commas and quotes inside a cell",
        make.shop(
            make.person(),
            street=f'Hof "Zur Linde", Haus {random.randrange(2, 90)}',
            last=f"{make.word()}, {make.word()}",
        ),
        make.news(make.person(), name=f'Ada "Addi" {make.word()}'),
        make.till(make.person(), address=f"Am Markt {random.randrange(2, 90)}; Hof, {make.person().zip} Sankt Peter"),
        fields=FIELDS,
    )
    scene.case(
        "a time behind a day not to count",
        make.shop(make.person(), since=f"{day('shop', dates[3])} 23:59:01"),
        make.till(make.person(), since=f"{day('till', make.date())} 08:15"),
        make.news(make.person(), since=f"{day('news', make.date())} 2:05 PM"),
        fields=FIELDS,
    )


def _reads_till(scene):
    make = scene.make
    scene.case(
        "rows of the till, with the letters of Windows-1252",
        make.till(make.person(), customer=f"O\u2019{make.word()}, \u017dofia", since=day("till", make.date())),
        make.till(
            make.person(),
            customer=f"{make.word()}\u00df\u00e9, J\u00f6rg",
            address=f"Gro\u00dfer \u0160tern 7, {make.person().zip} L\u00f6rrach",
        ),
        fields=FIELDS,
    )
    one, two, three = (make.till(make.person()) for _ in range(3))
    scene.case(
        "card numbers without leading zeros",
        one.but(card=f"000{one.cells['card']}"),
        two.but(card=f"0{two.cells['card']}"),
        three,
        fields=FIELDS,
    )
    scene.case(
        "customers without a comma as they are, and nobody on an empty card",
        make.till(make.person(), customer=f"Verein {make.word()}"),
        fields=FIELDS,
        absent=[make.till(since=day("till", make.date())), make.till(customer="  ", phone=at_home(make.local()))],
    )


def _reads_newsletter(scene):
    make = scene.make
    early = (make.random.randrange(2015, 2024), make.random.randrange(1, 12), 12)
    scene.case(
        "rows of the newsletter, month first",
        make.news(make.person(), since=day("news", make.date())),
        make.news(make.person(), since=day("news", early), status="unsubscribed"),
        make.news(make.person(), name=f"\u0141ucja {make.word()} \u4e8c", since=day("news", make.date())),
        fields=FIELDS,
    )
    scene.case(
        "umlauts in two pieces to be one letter",
        make.news(make.person(), name=unicodedata.normalize("NFD", f"J\u00f6rg {make.word()}\u00fc\u00e9")),
        make.shop(make.person(), city=unicodedata.normalize("NFD", "Z\u00fcrich"), first="Zoe\u0308"),
        fields=FIELDS,
    )


def _reads_nothing(scene):
    make, random = scene.make, scene.random
    words = scene.make.town.nothing

    def nothing():
        word = random.choice(words)
        return random.choice((word, word.upper(), f" {word} "))

    scene.case(
        "words for nothing to be nothing",
        *(make.shop(make.person(), phone=word, first=nothing()) for word in words),
        make.shop(make.person(), street=nothing(), email=nothing()),
        *(make.till(make.person(), email=nothing(), address=nothing()) for _ in range(2)),
        make.news(make.person(), phone=nothing(), name=nothing()),
        fields=FIELDS,
    )


def cleans(scene):
    """Phone numbers and e-mails in all their spellings."""
    make, random = scene.make, scene.random
    code = scene.make.town.code

    def spelled(*ways, source=None):
        """Somebody's record for each spelling; `{a}` and `{b}` are the halves of a number without its 0."""
        for way in ways:
            local = make.local()
            phone = way.format(c=code, a=local[:3], b=local[3:], d=at_home(make.local()), x=local[3:5], y=local[5:])
            yield getattr(make, source or random.choice(("shop", "till", "news")))(make.person(), phone=phone)

    phones = {
        "numbers with a 0": (["0{a} {b}", "0{a}/{x} {y}", "(0{a}) {x}.{y}", "0{a}-{b}"], None),
        "numbers with a +": (["+{c} {a} {b}", "+{c}{a}{b}", "+{c}-{a}-{x} {y}"], None),
        "numbers with 00": (["00{c} {a} {b}", "00{c}{a}/{b}", "00 {c} {a} {x} {y}"], None),
        "numbers with (0)": (["+{c} (0){a} {b}", "+{c}(0){a}/{b}", "00{c} (0){a} {b}"], None),
        "numbers with words": (["Tel. 0{a} {b}", "0{a} {b} (privat)", "mobil: +{c} {a} {b}"], None),
        "two numbers with a comma": (["0{a} {b}, {d}", "+{c} {a} {b},{d}"], None),
        "numbers from abroad": (["+33 {a} {b}", "0033 {a} {b}", "+353 {a} {b}"], None),
        "numbers in Excel's quotes": (['="0{a} {b}"', '="+{c} {a} {b}"', '="00{c} {a} {b}"'], "till"),
        "numbers of the till that lost their 0": (["{a} {b}", '="{a} {b}"', "{a}/{x}-{y}"], "till"),
    }
    for name, (ways, source) in phones.items():
        scene.case(name, *spelled(*ways, source=source), fields=("phone", "email"))
    emails = {
        "e-mails in capitals": lambda mail: mail.upper(),
        "e-mails with mailto:": lambda mail: f"mailto:{mail}",
        "e-mails with white space around them": lambda mail: f"\u00a0 {mail.title()}\u200b ",
    }
    for name, spell in emails.items():
        some = [make.person() for _ in range(3)]
        records = [
            make.shop(some[0], email=spell(some[0].email)),
            make.till(some[1], email=spell(some[1].email).replace("\u200b", "")),
            make.news(some[2], email=spell(some[2].email)),
        ]
        scene.case(name, *records, fields=("phone", "email"))
    _compare(scene)


def empties(scene):
    """What nobody told us stays empty, beside cells that are right."""
    make, random = scene.make, scene.random

    def any_of(person, **cells):
        return random.choice((make.shop, make.news, make.till))(person, **cells)

    local = make.local
    dead = {
        "a number that is too short": ("112", "0761 47", f"+{local()[:7]}", f"+{local()[:8]}"),
        "a number that is too long": (
            f"+{local()}{local()}",
            f"0{local()}{local()[:6]}",
            f"+{local()}{local()[:6]}",
            f"+{local()}{local()[:7]}",
        ),
        "words instead of a number": ("auf Anfrage", "siehe Mail"),
    }
    for name, phones in dead.items():
        scene.case(
            name, *(any_of(make.person(), phone=phone) for phone in phones), any_of(make.person()), fields=FIELDS
        )
    scene.case(
        "a number without its 0 only from the till",
        make.shop(make.person(), phone=f"{local()[:3]} {local()}"[:12]),
        make.news(make.person(), phone=local()),
        make.till(make.person(), phone=local()),
        fields=FIELDS,
    )
    word = make.word().lower()
    wrong = (word, f"@{word}.example", f"{word}@", f"{word}@{word}@b.example", f"{word} x@b.example", "mailto:")
    scene.case(
        "e-mails that are none",
        *(any_of(make.person(), email=email) for email in wrong),
        any_of(make.person()),
        fields=FIELDS,
    )
    scene.case(
        "days that do not exist",
        *(make.shop(make.person(), since=text) for text in ("0000-00-00 00:00:00", "2023-02-30", "2021-13-02")),
        *(make.till(make.person(), since=text) for text in ("00.00.0000", "31.04.2022")),
        *(make.news(make.person(), since=text) for text in ("2/30/2022", "0/0/0000")),
        make.shop(make.person(), since=day("shop", make.date())),
        make.till(make.person(), since=day("till", make.date())),
        make.news(make.person(), since=day("news", make.date())),
        fields=FIELDS,
    )
    scene.case(
        "no half addresses from the shop",
        make.shop(make.person(), street=""),
        make.shop(make.person(), city=" "),
        make.shop(make.person(), zip=""),
        make.shop(make.person()),
        fields=FIELDS,
    )
    some = [make.person() for _ in range(5)]
    forms = (
        some[0].street,
        f"{some[1].zip} {some[1].city}",
        f"{some[2].street}, {some[2].city}",
        some[3].city,
        some[4].address,
    )
    scene.case(
        "no half addresses from the till",
        *(make.till(one, address=form) for one, form in zip(some, forms, strict=True)),
        fields=FIELDS,
    )
    scene.case(
        "no dead e-mail",
        make.news(make.person(), status="bounced"),
        make.news(make.person(), status="bounced", phone=""),
        make.news(make.person(), status="subscribed", phone=""),
        fields=FIELDS,
    )
    one, two = make.person(), make.person()
    scene.case(
        "nothing from nowhere where records are put together",
        make.shop(one, street="", phone="", since=""),
        make.news(one, phone="", name=one.first),
        make.till(two, address=two.city, phone=""),
        make.news(two, phone="", status="bounced"),
        fields=FIELDS,
    )
    scene.case(
        "half a name",
        make.shop(make.person(), first=""),
        make.shop(make.person(), last="  "),
        make.till(make.person(), customer=make.word()),
        make.news(make.person(), name=""),
        fields=FIELDS,
    )
    _compare(scene)


def _compare(scene):
    place, oracle = scene.place(), scene.oracle()
    place.load(scene.rows)
    oracle.load(scene.rows)
    scene.compare_cases(place.list(), oracle)
    scene.end()

"""Checks of who is the same: only the records of customers are compared."""

from world import at_home


def finds(scene):
    make, random = scene.make, scene.random

    def positive():
        """Two records of somebody, so that a list in which nobody is anybody else passes no case."""
        person = make.person()
        if random.random() < 0.5:
            return [make.shop(person), make.news(person, phone="", name=person.first)]
        return [make.shop(person, email=""), make.till(person, email=make.email())]

    def phone_only(name, source, local):
        return getattr(make, source)(**{"customer" if source == "till" else "name": name, "phone": at_home(local)})

    one = make.person()
    scene.case(
        "the same e-mail, however it is written",
        make.shop(one, phone=""),
        make.till(one, email=f"mailto:{one.email.upper()}", customer=make.word(), phone=at_home(make.local())),
        make.news(one, email=f" {one.email.title()}\u00a0", name=make.word(), phone=""),
    )
    two = make.person()
    scene.case(
        "the same e-mail twice in one export",
        make.shop(two),
        make.shop(two, first="Doro", phone=""),
        make.shop(make.person()),
    )
    three, code = make.person(), make.town.code
    scene.case(
        "the same phone and name, however they are written",
        make.shop(three, email="", phone=f"+{code} (0){three.local}"),
        make.till(three, email="", phone=f'="{three.local}"', customer=three.card_name.upper()),
        make.news(
            three, email=make.email(), phone=f"00{code} {three.local}", name=f"{three.first.lower()}  {three.last}"
        ),
    )
    four = make.person()
    family = [
        make.shop(four, email=make.email()),
        make.till(four, email="", customer=f"{four.last}, Zacharias"),
        make.news(four, email=make.email(), name=make.word()),
    ]
    scene.case("the same phone with other names to be others", *family, *positive())
    five = make.person()
    scene.case(
        "the same name with another phone or none to be others",
        make.shop(five, email="", phone=""),
        make.till(five, email="", phone=""),
        make.news(five, email=make.email(), phone=at_home(make.local())),
        make.shop(five, email=make.email(), phone=at_home(make.local())),
        *positive(),
    )
    word, local = make.word(), make.local()
    scene.case(
        "umlauts, accents, hyphens and capitals not to part names",
        phone_only(f"Gro\u00df-{word}\u00fc, J\u00f6rg", "till", local),
        phone_only(f"JOERG GROSS {word.upper()}UE", "news", local),
        phone_only(f"Jo\u0308rg Gross{word}u\u0308", "news", local),
        make.shop(first="J&ouml;rg", last=f"Gro&szlig;'{word}&uuml;", phone=at_home(local)),
    )
    word, local = make.word(), make.local()
    scene.case(
        "other accents not to part names, but letters to",
        phone_only(f"\u00c8ve {word}\u00e9\u00e7\u00f1", "news", local),
        phone_only(f"{word}ecn, Eve", "till", local),
        phone_only(f"{word}ecn, Evi", "till", local),
        phone_only(f"\u00dcve {word}ecn", "news", local),
    )
    shared = f"{random.choice(make.town.shared)}@{make.word().lower()}.example"
    six = make.person()
    scene.case(
        "shared e-mails not to make people the same, but phone and name to",
        make.shop(six, email=shared),
        make.news(make.person(), email=shared.upper()),
        make.till(make.person(), email=f"mailto:{shared}"),
        make.till(six, email=shared),
        make.shop(make.person(), email=f"x{shared}"),
        make.news(name=make.word(), email=f"x{shared}"),
    )
    a, b = make.person(), make.person()
    scene.case(
        "chains",
        make.shop(a, email=a.email),
        make.till(a, email=b.email),
        make.news(b, email=b.email, phone=b.phone),
        make.shop(b, email="", phone=b.phone),
        make.shop(make.person()),
    )
    seven = make.person()
    scene.case(
        "a bounced e-mail to tell who it is",
        make.shop(seven, phone=""),
        make.news(seven, status="bounced", name="", phone=""),
    )
    nothing = random.choice(make.town.nothing)
    scene.case(
        "e-mails that are none not to make people the same",
        *(make.shop(make.person(), email=text) for text in ("keine@", "keine@", nothing, nothing)),
        *(make.till(make.person(), email=nothing) for _ in range(2)),
        *positive(),
    )
    short = make.person()
    scene.case(
        "numbers that are none not to make people the same",
        make.shop(short, phone="0761 47", email=""),
        make.till(short, phone="0761 47", email=""),
        make.shop(short, phone=nothing, email=""),
        make.news(short, phone=nothing, email=make.email()),
        *positive(),
    )
    place, oracle = scene.place(), scene.oracle()
    place.load(scene.rows)
    oracle.load(scene.rows)
    scene.compare_cases(place.list(), oracle)
    scene.end()

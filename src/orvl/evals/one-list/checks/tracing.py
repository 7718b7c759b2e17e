"""The check of where each cell is from."""

from choosing import Somebody
from oracle import FIELDS
from scene import difference
from world import at_home, day


def traces(scene):
    make = scene.make
    old, new, newer = make.dates(3)
    word = make.word()
    scene.case(
        "cells of the shop, dirt and all",
        make.shop(
            make.person(),
            first=" Ren&eacute;",
            last=f"{word}\u200b&uuml;",
            city=" Bad \u00a0 Aach",
            street="Hof&nbsp;3\nHaus 2",
            newsletter="0",
        ),
        make.shop(
            make.person(), since=f"{day('shop', new)} 10:20:30", newsletter="1", phone=f"Tel. {at_home(make.local())}"
        ),
        fields=FIELDS,
    )
    scene.case(
        "cells of the till, dirt and all",
        make.till(
            make.person(),
            customer=f" {make.word()},  Anna\u00a0Lena",
            phone=f'="{make.local()}"',
            since=day("till", old),
        ),
        make.till(
            make.person(),
            email=f"MAILTO:{make.email()}",
            address=f"Im  Gr\u00fcn 5,  {make.person().zip}  Sankt  Peter ",
        ),
        fields=FIELDS,
    )
    scene.case(
        "cells of the newsletter, dirt and all",
        make.news(
            make.person(),
            name=f"Jo\u0308rg  {make.word()}",
            phone=f"+{make.town.code} (0){make.local()}",
            since=f"{day('news', newer)} 1:05 AM",
        ),
        make.news(make.person(), status="unsubscribed", email=f" {make.email().upper()}"),
        fields=FIELDS,
    )
    nothing = make.town.nothing[0]
    scene.case(
        "half a name from one column, and empty cells from none",
        make.shop(make.person(), first=nothing, street="", phone="112"),
        make.shop(make.person(), last="", email=nothing, zip=""),
        make.till(make.person(), address="Freiburg", since="00.00.0000"),
        make.news(make.person(), status="bounced", phone=nothing),
        fields=FIELDS,
    )
    one = Somebody(scene)
    one.add("shop", old, since=day("shop", newer), phone="", newsletter="1")
    one.add("till", new, since=day("till", old), phone="", address="")
    one.add("news", newer, since=day("news", new), status="unsubscribed")
    scene.case("cells of one customer from several records", *one.records, fields=FIELDS)
    two = Somebody(scene)
    two.add("news", newer, name=make.word(), phone="", since="")
    two.add("shop", old, first="Ada", last=f"{make.word()}&szlig;", newsletter="", since=day("shop", new))
    scene.case("a full name from an older record", *two.records, fields=FIELDS)
    three = make.person()
    mails = [
        make.shop(three, email=make.email(), changed=day("shop", old), street="", since=""),
        make.till(three, email=f"{make.email().upper()} ", changed=day("till", new), since=day("till", newer)),
        make.news(three, email=make.email(), changed=day("news", newer), status="bounced", since=""),
    ]
    scene.case("an e-mail from the newest record that has one", *mails, fields=tuple(f for f in FIELDS if f != "phone"))
    place, oracle = scene.place(), scene.oracle()
    before = make.shop(make.person(), since=day("shop", old))
    after = before.but(first=f" {make.word()}", since=day("shop", new), phone=at_home(make.local()))
    scene.rows["shop"] += [before, after]
    place.load(scene.rows)
    oracle.load(scene.rows)
    found, right = place.list(), oracle.customers()
    for name, keys, fields, _ in scene.cases:
        scene.tell(name, difference(found, right, keys, fields, origins=True))
    scene.tell("cells of the later row", difference(found, right, {after.key}, FIELDS, origins=True))
    scene.tell("no cell without an origin, and no origin without a cell", _unmatched(found, right))
    scene.end()


def _unmatched(found, right):
    if problem := difference(found, right, {key for one in right for key in one.records}):
        return problem
    cells = {(one.no, field) for one in found.customers for field, text in one.cells.items() if text}
    odd = cells ^ set(found.origins)
    return (
        f"an origin for each cell that is not empty, saw none or one too many for {sorted(odd, key=repr)[:3]}"
        if odd
        else None
    )

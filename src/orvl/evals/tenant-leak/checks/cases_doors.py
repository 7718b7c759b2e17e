"""The file area, and new passwords."""

import re

from served import Wrong, expect, log_in, same


# -- files


def _climbs(scene, theirs, name):
    """Ways from one's own folder into another's."""
    word = theirs.word()
    return (
        f"/files/{word}/../../{theirs.id}/{name}",
        f"/files/{word}/{word}/../../../{theirs.id}/{name}",
        f"/files/./../{theirs.id}/{name}",
        f"/files/{word}/%2e%2e/%2e%2e/{theirs.id}/{name}",
        f"/files/{word}%2F..%2F..%2F{theirs.id}%2F{name}",
    )


def _raw(path):
    return path.replace(" ", "%20")


def _content(scene, shop, file):
    return scene.owner(shop).fine("GET", f"/files/{_raw(file['name'])}").text


def _reads(first, last):
    def case(scene):
        mine, theirs = scene.pair()
        other, own = theirs.take("file"), mine.take("file")
        person = scene.owner(mine)
        for path in _climbs(scene, theirs, _raw(other["name"]))[first:last]:
            person.refused("GET", path, scene.tags(mine))
        expect("the own file", own["content"], _content(scene, mine, own))

    case.__name__ = f"reads_{first}"
    return case


def overwrites(scene):
    mine, theirs = scene.pair()
    other, person, text = theirs.take("file"), scene.mechanic(mine), mine.text("new")
    path = _climbs(scene, theirs, _raw(other["name"]))[scene.random.randrange(2)]
    same(
        path,
        lambda: (_content(scene, theirs, other), scene.files(theirs)),
        lambda: person.refused("PUT", path, scene.tags(mine), body=text.encode()),
    )
    own = mine.take("file")
    person.fine("PUT", f"/files/{_raw(own['name'])}", body=text.encode())
    expect("the own file", text, _content(scene, mine, own))


def plants(scene):
    """A new file in another's folder."""
    mine, theirs = scene.pair()
    person, text, name = scene.owner(mine), mine.text("new"), f"{mine.word()}.txt"
    path = _climbs(scene, theirs, name)[0]
    same(
        path,
        lambda: scene.files(theirs),
        lambda: person.refused("PUT", path, scene.tags(mine), body=text.encode()),
    )
    person.fine("PUT", f"/files/{mine.word()}/{name}", body=text.encode())
    if name not in str(scene.files(mine)):
        raise Wrong(f"expected {name} among the own files")


def removes(scene):
    mine, theirs = scene.pair()
    other, own, person = theirs.take("file"), mine.take("file"), scene.owner(mine)
    path = _climbs(scene, theirs, _raw(other["name"]))[scene.random.randrange(3)]
    same(
        path,
        lambda: scene.files(theirs),
        lambda: person.refused("DELETE", path, scene.tags(mine)),
    )
    person.fine("DELETE", f"/files/{_raw(own['name'])}")
    if own["name"] in str(scene.files(mine)):
        raise Wrong(f"expected {own['name']} to be gone")


def takes(scene):
    """Moves another's file into one's own folder."""
    mine, theirs = scene.pair()
    other, own, person = theirs.take("file"), mine.take("file"), scene.owner(mine)
    form = {"from": f"x/../../{theirs.id}/{other['name']}", "to": f"{mine.word()}.txt"}
    same(
        "/files/move of another's file",
        lambda: (scene.files(theirs), scene.files(mine)),
        lambda: person.refused("POST", "/files/move", scene.tags(mine), form=form),
    )
    _moves_own(scene, mine, own, person)


def gives(scene):
    """Moves one's own file into another's folder."""
    mine, theirs = scene.pair()
    own, person = mine.take("file"), scene.mechanic(mine)
    form = {"from": own["name"], "to": f"x/../../{theirs.id}/{mine.word()}.txt"}
    same(
        "/files/move into another's folder",
        lambda: (scene.files(theirs), scene.files(mine)),
        lambda: person.refused("POST", "/files/move", scene.tags(mine), form=form),
    )
    _moves_own(scene, mine, own, person)


def _moves_own(scene, mine, own, person):
    name = f"{mine.word()}/{mine.word()}..copy.txt"
    person.fine("POST", "/files/move", form={"from": own["name"], "to": name})
    expect("the moved file", own["content"], person.fine("GET", f"/files/{name}").text)


def lists(scene):
    mine, theirs = scene.pair()
    person = scene.owner(mine)
    names = [file["name"] for file in theirs.files]
    for folder in (f"x/../../{theirs.id}", f"x/../../{theirs.id}/{names[1].split('/')[0]}"):
        answer = person.get(f"/files.json?folder={folder}")
        if answer.status >= 500 or any(name.split("/")[-1] in answer.text for name in names):
            raise Wrong(f"/files.json?folder={folder}: expected nothing of another's, saw {answer}")
    folder = f"{mine.word()}"
    person.fine("PUT", f"/files/{folder}/a.txt", body=b"a")
    seen = person.json(f"/files.json?folder={folder}")
    expect("the own folder", [f"{folder}/a.txt"], [file["name"] for file in seen["files"]])


FILES = (_reads(0, 2), _reads(2, 3), _reads(3, 5), overwrites, plants, removes, takes, gives, lists)


# -- passwords


def _token(scene, row):
    """Asks for a new password, and reads the mail."""
    before = len(scene.server.mails_to(row["email"]))
    scene.nobody().fine("POST", "/forgot", form={"email": row["email"]})
    mails = scene.server.mails_to(row["email"])
    found = re.search(r"/reset\?token=([\w-]+)", mails[-1]) if len(mails) > before else None
    if found is None:
        raise Wrong(f"POST /forgot of {row['email']}: expected a mail with a link, saw {mails[-1:]}")
    return found[1]


def _is_password(scene, row, password):
    return log_in(scene.server, row["email"], password) is not None


def _takeover(attacker, victim, typed=str):
    """With a link for oneself, one sets no one else's password, and one's own one does."""

    def case(scene):
        mine, theirs = scene.pair()
        attacks, suffers = attacker(mine), victim(scene, mine, theirs)
        password = scene.world.secret()
        form = {"token": _token(scene, attacks), "email": typed(suffers["email"]), "password": password}
        answer = scene.nobody().post("/reset", form)
        if answer.status >= 500:
            raise Wrong(f"POST /reset: {answer}")
        if _is_password(scene, suffers, password):
            scene.has_new_password(suffers, password)
            raise Wrong(f"a stranger's password opens the account of {suffers['email']}")
        expect("the old password still opens it", True, _is_password(scene, suffers, suffers["password"]))
        _resets(scene, attacks)

    return case


def _resets(scene, row):
    password, token = scene.world.secret(), _token(scene, row)
    form = {"token": token, "email": row["email"], "password": password}
    scene.nobody().fine("GET", f"/reset?token={token}")
    answer = scene.nobody().post("/reset", form)
    if not answer.is_fine:
        raise Wrong(f"POST /reset with a link of one's own: expected it to work, saw {answer}")
    expect("the new password works", True, _is_password(scene, row, password))
    old = row["password"]
    scene.has_new_password(row, password)
    expect("the old password works", False, _is_password(scene, row, old))
    scene.nobody().post("/reset", {**form, "password": "x" + password})
    expect("a link works twice", False, _is_password(scene, row, "x" + password))


def _of_others(place):
    return lambda scene, mine, theirs: theirs.team[place]


def _colleague(scene, mine, theirs):
    return mine.team[0]


def _support(scene, mine, theirs):
    return scene.world.support


def _third(scene, mine, theirs):
    return next(shop for shop in scene.shops if shop not in (mine, theirs)).team[3]


def _reset_case(name, *words):
    case = _takeover(*words)
    case.__name__ = f"takes_over_{name}"
    return case


RESET = (
    _reset_case("an_owner", lambda shop: shop.team[2], _of_others(0)),
    _reset_case("a_mechanic", lambda shop: shop.team[2], _of_others(1)),
    _reset_case("another_owner", lambda shop: shop.team[1], _third),
    _reset_case("a_colleague", lambda shop: shop.team[2], _colleague),
    _reset_case("support", lambda shop: shop.team[1], _support),
    _reset_case("in_capitals", lambda shop: shop.team[2], _of_others(0), str.upper),
    _reset_case("with_blanks", lambda shop: shop.team[1], _of_others(3), lambda text: f" {text} "),
    _reset_case("by_an_owner", lambda shop: shop.team[3], _of_others(0)),
)

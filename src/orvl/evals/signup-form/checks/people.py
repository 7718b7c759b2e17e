"""People who sign up, with names and addresses that nobody can know."""

from orvl import checks

AREAS = ("10", "12", "13", "14", "31", "38")
ELSEWHERE = ("20", "50", "67", "80", "99", "04")
MEMBERS = ("Ines.Falk@example.org", "tomas@ruiz.example", "wen.li@mail.example", "h.brandt@posteo.example")
LAST_NUMBER = 1007
KNOWN = ("password123", "passwort1234", "qwertyuiop12", "iloveyou1234", "letmein12345", "1234567890abc")
LETTERS = "abcdefghijkmnopqrstuvwxyz"

random = checks.random()


def word(least=4, most=8, letters=LETTERS):
    return "".join(random.choices(letters, k=random.randint(least, most)))


def person(**given):
    """Somebody whom the server takes."""
    return {
        "name": f"{word().title()} {word()}{random.choice('øñçßж')}{word(1, 3)}",
        "email": f"{word()}.{word(2, 3)}+{word(3, 5)}@{word()}.{random.choice(('example', 'org', 'co.uk'))}",
        "phone": random.choice(("+49 30/{}-0", "(030) {}", "+44 20 {}", "030.{}")).format(random.randint(100000, 9999999)),
        "postcode": postcode(),
        "box": random.choice(("small", "medium", "large")),
        "heard": f"{word()} {word()}",
        "password": password(),
        "terms": True,
    } | given


def postcode(areas=AREAS):
    area, rest = random.choice(areas), f"{random.randint(0, 999):03}"
    return random.choice((f"{area}{rest}", f"{area} {rest}"))


def least():
    return int(checks.drawn()["least"])


def password(length=None, digits=True, letters=True):
    """A password of this length, by default one that is long enough."""
    length = length or least() + random.randint(0, 4)
    signs = [random.choice("23456789") if digits else "-", random.choice(LETTERS) if letters else "_"]
    more = ("23456789" if digits else "") + (LETTERS if letters else "") or "-_.!"
    signs += random.choices(more, k=length - 2)
    random.shuffle(signs)
    return "".join(signs[:length])


def known_password():
    return next(one for one in random.sample(KNOWN, len(KNOWN)) if len(one) >= least())

"""What the server has always done, and goes on doing."""

import json

from orvl import checks

from people import ELSEWHERE, LAST_NUMBER, MEMBERS, known_password, least, password, person, postcode, random, word
from shop import expect

POPULAR = 3
"""So many others sign up before somebody counts."""


def takes_people(shop):
    numbers = [shop.sign_up(person()).member for _ in range(POPULAR)]
    expect(numbers == [LAST_NUMBER + 1 + place for place in range(POPULAR)], f"expected the next numbers, saw {numbers}")


def goes_to_its_limits(shop):
    somebody = person(name=f"  {word(60, 60)} ", heard=word(40, 40), password=password(least()), postcode=" 10 1 15 ")
    answer = shop.sign_up(somebody)
    expect(answer.status == 201 and answer.member, f"expected {somebody} to be taken, saw {answer}")


def refuses(shop, somebody, *wanted):
    answer = shop.sign_up(somebody)
    expect(answer.status == 422, f"expected 422 for {somebody}, saw {answer}")
    pairs = {(code.split(".")[0], code) for code in wanted}
    expect(answer.codes == pairs, f"expected {sorted(pairs)} for {somebody}, saw {answer}")


def refuses_what_is_wrong(shop):
    refuses(shop, person(name=word(61, 61), email=f"{word()}@{word()}"), "name.long", "email.malformed")
    refuses(shop, person(postcode="1011", box="huge", phone="12-34-56"), "postcode.malformed", "box.missing", "phone.malformed")
    refuses(shop, person(heard=word(41, 41), terms="yes", name=7), "heard.long", "terms.missing", "name.missing")


def refuses_passwords(shop):
    refuses(shop, person(password="a" * (least() - 1)), "password.short", "password.digit")
    refuses(shop, person(password="4" * least()), "password.letter")
    refuses(shop, person(password=known_password().upper()), "password.known")
    refuses(shop, person(password=""), "password.missing")


def refuses_what_it_alone_knows(shop):
    refuses(shop, person(email=random.choice(MEMBERS)), "email.taken")
    refuses(shop, person(postcode=postcode(ELSEWHERE)), "postcode.outside")


def says_what_makes_no_sense(shop):
    for body in (b"", b"[]", b"{"):
        answer = shop.post("/api/signups", body)
        expect(answer.status == 400, f"expected 400 for {body!r}, saw {answer}")
    expect(shop.get("/api/policy").said == {"least": least()}, f"expected the policy, saw {shop.get('/api/policy')}")


def goes_wrong_when_it_is_told(shop):
    status = random.choice((500, 502, 503))
    shop.get(f"/dev/fail/{status}/1")
    statuses = [shop.sign_up(person()).status for _ in range(2)]
    expect(statuses == [status, 201], f"expected {status} and 201, saw {statuses}")
    shop.get("/dev/reset")
    shop.sign_up({})
    counts = shop.get("/dev/counts").text
    expect('id="received">1<' in counts and 'id="members">' in counts, f"expected one sign-up, saw {counts}")


def calls_back(shop):
    answer = shop.post("/api/callbacks", {"name": word(), "number": "030 5550123", "when": word()})
    expect(answer.status == 201, f"expected 201, saw {answer}")
    answer = shop.post("/api/callbacks", {"name": word(), "number": word()})
    expect(answer.status == 422, f"expected 422, saw {answer}")


def keeps_members(shop):
    before = checks.read("data/members.jsonl") or b""
    somebody = person()
    answer = shop.sign_up(somebody)
    after = checks.read("data/members.jsonl") or b""
    expect(after.startswith(before) and len(after) > len(before), "expected one more line, and all others as they were")
    row = json.loads(after[len(before) :])
    expect(row["number"] == answer.member and row["name"] == somebody["name"], f"expected {answer.member}, saw {row}")
    expect(somebody["password"].encode() not in after, "expected no password in there")
    shop.close()
    printed = checks.run("node", "scripts/newsletter.js").stdout
    for line in (f"{somebody['name']} <{somebody['email']}>", f"Tomás Ruiz <{MEMBERS[1]}>"):
        expect(line in printed.splitlines(), f"expected {line} in the newsletter, saw {printed[-200:]}")


API = [
    takes_people,
    goes_to_its_limits,
    refuses_what_is_wrong,
    refuses_passwords,
    refuses_what_it_alone_knows,
    says_what_makes_no_sense,
    goes_wrong_when_it_is_told,
    calls_back,
    keeps_members,
]

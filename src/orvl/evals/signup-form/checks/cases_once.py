"""One address is one account, however it is typed and whenever it comes."""

from people import MEMBERS, person, random
from shop import expect

TAKEN = ("email", "email.taken")


def otherwise(email):
    """The same address, typed by somebody else."""
    ways = (email.upper(), email.title(), f"  {email} ", email.swapcase(), f"{email.capitalize()} ")
    return random.choice([way for way in ways if way.strip() != email])


def join(shop, somebody):
    answer = shop.sign_up(somebody)
    expect(answer.status == 201 and answer.member, f"expected {somebody} to be taken, saw {answer}")
    return answer.member


def refused(answer, somebody):
    expect(answer.status == 422 and answer.codes == {TAKEN}, f"expected {somebody} to be refused, saw {answer}")


def joined_as(shop, spell):
    """Somebody joins, and somebody else comes with another spelling of the same address."""
    first = person()
    join(shop, first)
    second = person(email=spell(first["email"]))
    refused(shop.sign_up(second), second)


def in_capitals(shop):
    joined_as(shop, str.upper)


def with_a_capital(shop):
    joined_as(shop, str.capitalize)


def with_blanks(shop):
    joined_as(shop, lambda email: f"  {email} ")


def the_other_way_round(shop):
    first = person()
    join(shop, first | {"email": first["email"].title()})
    second = person(email=first["email"])
    refused(shop.sign_up(second), second)


def members_of_old(shop):
    join(shop, person())
    for email in (MEMBERS[0].lower(), MEMBERS[1].upper(), otherwise(MEMBERS[2])):
        somebody = person(email=email)
        refused(shop.sign_up(somebody), somebody)


def at_once(shop, spell):
    email = person()["email"]
    crowd = [person(email=spell(email, place)) for place in range(6)]
    answers = shop.post_at_once("/api/signups", crowd)
    statuses = sorted(answer.status for answer in answers)
    expect(statuses == [201, 422, 422, 422, 422, 422], f"expected one of six at {email} to be taken, saw {statuses}")
    expect({TAKEN} in [answer.codes for answer in answers], f"expected the others to hear why, saw {answers}")


def six_at_once(shop):
    at_once(shop, lambda email, _: email)


def six_at_once_in_many_ways(shop):
    at_once(shop, lambda email, place: email.upper() if place % 2 else email.title())


def six_people_at_once(shop):
    """Others must not suffer: nobody of six different people is refused, and each gets a number."""
    crowd = [person() for _ in range(6)]
    numbers = {answer.member for answer in shop.post_at_once("/api/signups", crowd)}
    expect(len(numbers) == 6 and None not in numbers, f"expected six numbers, saw {numbers}")
    again = person(email=crowd[0]["email"].upper())
    refused(shop.sign_up(again), again)


def is_not_counted_twice(shop):
    before = members(shop)
    first = person()
    join(shop, first)
    shop.post_at_once("/api/signups", [person(email=first["email"].upper()) for _ in range(3)])
    expect(members(shop) == before + 1, f"expected one member more than {before}, saw {members(shop)}")


def members(shop):
    page = shop.get("/dev/counts").text
    return int(page.partition('id="members">')[2].partition("<")[0] or -1)


def a_stranger_is_not_let_in(shop):
    """Who knows an address, a name and all that, but not the password, is no member."""
    first = person()
    number = join(shop, first)
    for stranger in (person(email=first["email"]), first | {"password": person()["password"], "email": first["email"].upper()}):
        answer = shop.sign_up(stranger)
        refused(answer, stranger)
        expect(str(number) not in answer.text, f"expected nobody to hear the number {number}, saw {answer}")


ONCE = [
    in_capitals,
    with_a_capital,
    with_blanks,
    the_other_way_round,
    members_of_old,
    six_at_once,
    six_at_once_in_many_ways,
    six_people_at_once,
    is_not_counted_twice,
    a_stranger_is_not_let_in,
]

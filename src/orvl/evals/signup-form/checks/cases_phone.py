"""On a phone, and with a server that takes its time."""

from people import person, random
from screen import Case, Fresh, dev, enter, fill, has, join_button, lacks, page, received, says, welcomed
from texts import text

PURPOSES = {
    "name": '[autocomplete="name"]',
    "email": '[type="email"][autocomplete="email"]',
    "phone": '[type="tel"][autocomplete="tel"]',
    "postcode": '[autocomplete="postal-code"][inputmode="numeric"]',
    "password": '[type="password"][autocomplete="new-password"]',
}


def on_a_phone():
    narrow = "expect no sideways scrolling"
    phone = ["view phone"]
    zoom = has('head meta[name="viewport"][content*="width=device-width"]') + lacks('meta[content*="user-scalable=no"]')
    works = [f"click {join_button()}", page(says("name", "name.missing"), zoom)]
    yield Fresh("fits a phone", works, narrow, before=phone)
    for field, purpose in PURPOSES.items():
        yield Case(f"knows what {field} is for", page(has(f"#{field}{purpose}")), before=[phone])


def slow():
    somebody = person()
    busy = page(has(f'form[aria-busy="true"] button:has-text("{text("button.busy")}")'))
    waiting = [fill(somebody), enter(), busy]
    yield Fresh("says that it is busy", waiting, before=dev("slow/30000"))
    again = ["press Enter", "press Enter", busy, received(1)]
    yield Case("sends it once, whatever is pressed", again, before=[dev("slow/30000"), waiting])
    delay = random.randint(300, 600)
    yield Fresh("is not busy in the end", fill(person()), enter(), welcomed(), before=dev(f"slow/{delay}"))


def CASES():
    return [*on_a_phone(), *slow()]

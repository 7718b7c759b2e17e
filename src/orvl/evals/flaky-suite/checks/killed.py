"""Killed with -9 and started again: no mail twice, and none that was accepted is lost."""

from scenes import BUSY, Scene, cases_of

TORN = '{"op":"mail","mail":{"id":"m-0123456789abcdef","to":"'


def while_relay_has_it(random):
    scene = Scene(random, "while-relay-has-it").do("start")
    for _ in range(3):
        scene.mail()
    scene.do("hold").do("begin", "flush", "POST", "/flush").do("held").do("release", True).do("got", 1).do("kill")
    return scene.do("start").do("settle"), lambda seen: seen.expect_once()


def before_relay_has_it(random):
    """One was sent before; of the other the relay has heard, and has it not."""
    scene = Scene(random, "before-relay-has-it").do("start")
    scene.mail()
    scene.do("settle")
    scene.mail()
    scene.do("hold").do("begin", "flush", "POST", "/flush").do("held").do("kill").do("release", False)
    return scene.do("start").do("settle"), lambda seen: seen.expect_once()


def just_sent(random):
    scene = Scene(random, "just-sent").do("start")
    for _ in range(5):
        scene.mail()
    scene.do("settle").do("kill").do("start").do("settle").do("kill").do("start").do("settle")
    return scene, lambda seen: seen.expect_once()


def torn_line(random):
    scene = Scene(random, "torn-line").do("start")
    scene.mail()
    scene.do("kill").do("tear", TORN + "".join(random.choices("abcdef", k=5))).do("start")
    scene.mail()
    scene.mail()
    scene.do("kill").do("start").do("settle")
    return scene, lambda seen: seen.expect_once()


def torn_twice(random):
    scene = Scene(random, "torn-twice").do("start")
    words = []
    for tail in (TORN, '{"op":"sta', "{"):
        word = scene.mail(key=f"key-{random.randrange(10**6)}")
        words.append(word)
        scene.do("kill").do("tear", tail).do("start")
    for word in words:
        key = next(step[4]["key"] for step in scene.steps if step[:2] == ["ask", word])
        scene.steps.append(scene.post(word, key, f"{word} again"))
    scene.do("kill").do("start").do("settle")

    def look(seen):
        seen.expect_once()
        for word in words:
            seen.expect_answer(f"{word} again", 200, id=seen.expect_answer(word, 201).get("id"))

    return scene, look


def long_journal(random):
    """The journal is written anew while others write into it."""
    scene = Scene(random, "long-journal", journal={"lag": 60000, "compact": random.randint(7, 12)}).do("start")
    for _ in range(3):
        words = [scene.word() for _ in range(24)]
        scene.do("together", [[word, "POST", "/mails", scene.body(word)] for word in words])
    scene.do("kill").do("start").do("settle").do("kill").do("start").do("settle")
    return scene, lambda seen: seen.expect_once()


def clients_repeat_themselves(random):
    scene = Scene(random, "clients-repeat-themselves").do("start")
    words = [scene.word() for _ in range(6)]
    for word in words:
        scene.steps.append(scene.post(word, f"{word}-key"))
    scene.do("settle").do("kill").do("start")
    for word in words:
        scene.steps.append(scene.post(word, f"{word}-key", f"{word} again"))
    scene.do("settle")

    def look(seen):
        seen.expect_once()
        for word in words:
            seen.expect_answer(f"{word} again", 200, id=seen.expect_answer(word, 201).get("id"))

    return scene, look


def killed_at_work(random):
    scene = Scene(random, "killed-at-work", **BUSY).do("start")
    scene.delay = 4
    for count in (random.randint(2, 4), random.randint(7, 9)):
        for _ in range(6):
            scene.mail()
        scene.do("storm", scene.flushes(2)).do("got", count).do("kill").do("start")
    return scene.do("settle"), lambda seen: seen.expect_once()


def cases():
    return cases_of(
        (
            *(while_relay_has_it, before_relay_has_it, just_sent, torn_line, torn_twice, long_journal),
            *(clients_repeat_themselves, killed_at_work),
        )
    )

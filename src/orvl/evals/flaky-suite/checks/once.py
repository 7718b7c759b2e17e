"""No mail twice: rounds that overlap, answers that get lost, and the same request at once."""

from cases import Wrong
from scenes import BUSY, HASTY, Scene, cases_of


def flushes_overlap(random):
    scene = Scene(random, "flushes-overlap").do("start")
    for _ in range(random.randint(2, 4)):
        scene.mail()
    scene.do("hold").do("begin", "first", "POST", "/flush").do("held").do("storm", scene.flushes(4)).do("taken")
    return scene.do("release").do("settle"), lambda seen: seen.expect_once()


def tick_and_flush(random):
    scene = Scene(random, "tick-and-flush", **BUSY).do("start").do("hold")
    for _ in range(3):
        scene.mail()
    scene.do("held").do("begin", "one", "POST", "/flush").do("begin", "other", "POST", "/flush").do("taken")
    return scene.do("release").do("settle"), lambda seen: seen.expect_once()


def many_flushes(random):
    scene = Scene(random, "many-flushes").do("start")
    scene.delay = 6
    for _ in range(12):
        scene.mail()
    scene.do("together", scene.flushes(8)).do("together", scene.flushes(4))
    return scene.do("settle"), lambda seen: seen.expect_once()


def silent_relay(random):
    scene = Scene(random, "silent-relay", **HASTY).do("start")
    for ways in (("silent",), ("silent", "silent"), ("silent", "503", "202"), ("503", "silent"), ()):
        scene.mail(*ways)
    return scene.do("settle"), lambda seen: seen.expect_once()


def lost_answers(random):
    scene = Scene(random, "lost-answers").do("start")
    for ways in (("lost",), ("lost", "down", "lost"), ("down", "lost"), ("lost", "500"), ("429", "lost"), ()):
        scene.mail(*ways)
    return scene.do("settle"), lambda seen: seen.expect_once()


def same_key_at_once(random):
    scene = Scene(random, "same-key-at-once").do("start")
    asks = []
    for _ in range(8):
        word = scene.word()
        key = f"{word}-key"
        scene.do("together", [[f"{word} {number}", "POST", "/mails", scene.body(word, key)] for number in range(6)])
        asks.append(word)

    def look(seen):
        seen.expect_once()
        for word in asks:
            answers = [(seen.status(f"{word} {number}"), (seen.body(f"{word} {number}") or {}).get("id")) for number in range(6)]
            statuses, ids = sorted(str(status) for status, _ in answers), {one for _, one in answers}
            if statuses != ["200"] * 5 + ["201"] or len(ids) != 1:
                raise Wrong(f"one key six times: expected one 201 and the same mail five times, saw {answers}")

    return scene.do("settle"), look


def keys_while_sending(random):
    """Clients that repeat themselves while rounds overlap."""
    scene = Scene(random, "keys-while-sending", **BUSY).do("start").do("hold")
    words = [scene.word() for _ in range(4)]
    for word in words:
        scene.steps.append(scene.post(word, f"{word}-key"))
    scene.do("held").do("storm", scene.flushes(3)).do("taken")
    for word in words:
        scene.steps.append(scene.post(word, f"{word}-key", f"{word} again"))
    scene.do("release").do("settle")

    def look(seen):
        seen.expect_once()
        for word in words:
            made = seen.expect_answer(word, 201)
            seen.expect_answer(f"{word} again", 200, id=made.get("id"))

    return scene, look


def everything_at_once(random):
    scene = Scene(random, "everything-at-once", **BUSY, **HASTY).do("start")
    scene.delay = 3
    words = [scene.word(*random.choice(((), (), ("lost",), ("silent",), ("503",), ("429", "lost")))) for _ in range(11)]
    words.append(scene.word("lost"))
    asks = [[f"{word} {number}", "POST", "/mails", scene.body(word, f"{word}-key")] for word in words for number in (1, 2)]
    scene.do("storm", scene.flushes(3)).do("together", asks).do("together", scene.flushes(5))
    return scene.do("settle"), lambda seen: seen.expect_once()


def cases():
    return cases_of(
        (
            *(flushes_overlap, tick_and_flush, many_flushes, silent_relay, lost_answers, same_key_at_once),
            *(keys_while_sending, everything_at_once),
        )
    )

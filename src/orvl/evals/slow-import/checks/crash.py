"""Files that were begun, or done, when the power went, and are run again."""

from orvl import checks

from place import Cases, Hopeless, Place, first_difference
from speed import is_usable
from scenes import history, night
from world import FORMS

LINES = 1_200
KILL = """
import os, signal, subprocess, sys, time
folder, seconds, changes, *command = sys.argv[1:]
def look():
    found = []
    for entry in os.scandir(folder):
        try:
            found.append((entry.name, entry.stat().st_size))
        except OSError:
            pass
    return sorted(found)
began, seen, count = time.monotonic(), look(), 0
child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
while child.poll() is None and time.monotonic() - began < float(seconds) and (not int(changes) or count < int(changes)):
    time.sleep(0.0005)
    now = look()
    count += now != seen
    seen = now
try:
    os.killpg(child.pid, signal.SIGKILL)
except OSError:
    pass
child.wait()
print(count)
"""


def killed():
    """Kills a night at any moment, once or several times, and runs it again."""
    random, cases = checks.random(), Cases(8)
    if not is_usable(cases):
        cases.end()
    place = Place()
    history(place.books, 300)
    database = place.books.database()
    known = [one.line for one in place.books.sales if hasattr(one, "line")]
    form = random.choice(FORMS)
    name = f"{place.world.word()}.{form}"
    lines = night(place.books, form, LINES)
    content = place.world.file(form, lines)
    rejects, said = place.books.take(name, lines)
    after = f"after-{place.world.word()}.csv"
    more = [place.world.cancellation(random.choice(known)) for _ in range(20)]
    more_content = place.world.file("csv", more)
    more_rejects, more_said = place.books.take(after, more)
    (month,) = place.world.months(1)
    wanted = place.books.export(month)

    def begin(number):
        other = Place(place.world, place.books)
        other.folder = f"{place.folder}/{number}"
        other.open(database)
        checks.write(other.path(name), content)
        return other

    def finish(other):
        """What is wrong when the file has been run again, and another one after it."""
        checks.write(other.path(after), more_content)
        ended = other.command("import", other.path(name), other.path(after))
        if ended.status != 0 or not ended.stdout.endswith(more_said):
            return f"status 0 and {more_said!r}, saw {ended.status} {ended.stdout[-200:]!r} {ended.stderr[-200:]!r}"
        problem = other.wrong_rejects(name, rejects) or other.wrong_rejects(after, more_rejects)
        return problem or _difference(other.export(month), wanted)

    whole = begin(0)
    ended = whole.command("import", whole.path(name))
    problem = whole.compared(ended, name, rejects, said)
    if problem:
        cases.tell("a long night to be taken in quickly", problem)
        cases.end()
    count = _kill(begin("counted"), name, 60.0, 0)
    moments = [(random.uniform(0.1, 0.95) * ended.seconds, 0) for _ in range(4)]
    moments += [(60.0, random.randint(1, max(1, count))) for _ in range(3)]
    moments += [(60.0, 0)]
    for number, (seconds, changes) in enumerate(moments, 1):
        other = begin(number)
        for _ in range(3 if number == 1 else 1):
            _kill(other, name, seconds, changes)
        moment = f"change {changes}" if changes else f"{seconds:.2f} s"
        cases.tell(f"a night to be as any other, run again after a kill at {moment}", finish(other))
        if len(cases.wrong) == 3:
            break
    cases.end()


def _kill(place, name, seconds, changes):
    """Starts an import and kills it; says how often a file has changed until then."""
    words = place.words("import", place.path(name))
    ended = checks.run("python3", "-I", "-c", KILL, place.folder, f"{seconds:.4f}", str(changes), *words, seconds=90)
    try:
        return int(ended.stdout)
    except ValueError as error:
        raise Hopeless(f"nothing to kill: {ended.stderr[-200:]}") from error


def _difference(seen, wanted):
    return "no export" if seen is None else first_difference(seen, wanted)


def twice():
    """Files that were through already are run again, at once or after others: nothing changes."""
    random, cases = checks.random(), Cases(8)
    for round_ in range(2):
        place = Place()
        history(place.books, 60 * round_)
        place.open()
        (month,) = place.world.months(1)
        done = []
        for form in random.sample(FORMS, 2):
            name = f"{place.world.word()}.{form}"
            lines = _eventful(place, form)
            place.put(name, lines)
            rejects, said = place.books.take(name, lines)
            place.command("import", place.path(name))
            done.append((name, rejects, lines))
        random.shuffle(done)
        for name, rejects, _ in done:
            ended = place.command("import", place.path(name))
            problem = None if ended.status == 0 else f"status 0, saw {ended.status} {ended.stderr[-200:]!r}"
            cases.tell(f"{name} a second time to leave the same rejects", problem or place.wrong_rejects(name, rejects))
        cases.tell("nothing to be there twice", place.wrong_rows(month))
        # The same name with some lines more is another file.
        name, _, lines = done[0]
        more = [*lines, *_eventful(place, name.rpartition(".")[2])]
        cases.tell(f"{name} with some lines more to be taken in", place.load(name, more) or place.wrong_rows(month))
    cases.end()


def _eventful(place, form):
    """A night in which at least one sale is corrected twice, and one is cancelled after a correction."""
    lines = night(place.books, form, 40)
    for _ in range(2):
        sale = place.world.sale(sold=place.world.moment(28))
        lines += [sale, place.world.correction(sale), place.world.correction(sale)]
    return [*lines, place.world.cancellation(sale)]

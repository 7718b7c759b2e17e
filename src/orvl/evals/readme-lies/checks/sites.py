"""Sites that nobody has seen: a plan and a catalogue, made up so that jobs are in given states."""

from orvl import checks

from oracle import DAY, DEFAULTS, HOUR, MINUTE, Job, Oracle, Record, iso

KINDS = ("full", "incr")


def word(random, least=3, most=9):
    return "".join(random.choices("abcdefghiklmnoprstuvw", k=random.randint(least, most)))


def words(random, count):
    found = set()
    while len(found) < count:
        found.add(word(random))
    return random.sample(sorted(found), count)


def people_span(seconds, random):
    """A duration as a plan has it."""
    fitting = [(unit, sign) for unit, sign in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")) if seconds % unit == 0]
    unit, sign = random.choice([one for one in fitting if seconds // one[0] < 100000])
    return f"{seconds // unit}{sign}"


class Site:
    """Its jobs are in the given states, one each; others are in the catalogue alone."""

    def __init__(self, states, kb=False, gone=True, records=None):
        self.random = random = checks.random()
        self.kb, unit = kb, 1024 if kb else 1
        names = words(random, len(states) + 4)
        self.vaults = words(random, random.randint(2, 3))
        self.name = names.pop()
        self.now = 1_900_000_000 + random.randrange(200_000_000)
        self.shared = {key: self._value(key) for key in DEFAULTS if random.random() < 0.4}
        if random.random() < 0.8:
            self.shared["keep"] = random.randint(1, 3)
        self.own, self.jobs, self.records = {}, [], []
        for name, state in zip(names, states):
            self.own[name] = {key: self._value(key) for key in DEFAULTS if random.random() < 0.5}
            job = Job(name, **{**DEFAULTS, **self.shared, **self.own[name]})
            self.jobs.append(job)
            self.records += self._history(job, state, unit)
        if gone:
            self.records += self._history(Job(names[-1], DAY, 0, 3, 50), "ok", unit)
        if records is not None:
            self.records = records(self)
        random.shuffle(self.records)
        self.gone = names[-1]
        self.plan, self.catalogue = f"{self.name}/{word(random)}.ini", f"{word(random)}.csv"
        self.oracle = Oracle(self.jobs, self.records, self.now)

    def _value(self, key):
        random = self.random
        if key == "every":
            return random.choice((random.randint(30, 600) * MINUTE, random.randint(5, 70) * HOUR, random.randint(1, 9) * DAY))
        if key == "grace":
            return random.choice((random.randint(0, 90) * MINUTE, random.randint(1, 9) * HOUR))
        return random.randint(1, 6) if key == "keep" else random.choice((30, 50, 75, 90))

    def _size(self, unit):
        return self.random.randint(1, 10 ** self.random.randint(4, 12) // unit) * unit

    def _history(self, job, state, unit):
        """Records of a job, with gaps; what is later than now has not happened yet."""
        random, found = self.random, []
        if random.random() < 0.3 or state == "missing":
            found.append(Record(self.now + random.randint(1, 9 * DAY), job.name, self._size(unit), "full", random.choice(self.vaults)))
        if state == "missing":
            return found if random.random() < 0.5 else []
        limit = job.limit
        age = random.choice((0, 1, limit, random.randint(0, limit), random.randint(0, limit)))
        if state == "late":
            age = random.choice((limit + 1, limit + random.randint(1, 4 * limit)))
        at = self.now - age
        for _ in range(random.randint(3, 7)):
            kind = random.choice(KINDS)
            found.append(Record(at, job.name, self._size(unit), kind, random.choice(self.vaults)))
            at -= random.choice((random.randint(1, limit), random.randint(1, limit), limit, limit + 1, random.randint(limit, 4 * limit)))
        past = [one for one in found if one.at <= self.now]
        if state == "shrunk" or (state == "ok" and len(past) > 1):
            newest, before = past[0], past[random.choice((1, 2))]
            before.kind = newest.kind
            before = next(one for one in past[1:] if one.kind == newest.kind)
            before.bytes = random.randint(10**6, 10**11 // unit) * unit
            percent = random.uniform(0.05, 0.95) * job.shrink if state == "shrunk" else random.uniform(job.shrink + 1, 150)
            newest.bytes = int(before.bytes * percent / 100) // unit * unit
        return found

    def names(self, count=2):
        """Some jobs of the plan, in any order."""
        return self.random.sample([job.name for job in self.jobs], min(count, len(self.jobs)))

    def write(self):
        random, lines = self.random, []
        lines.append(f"catalogue = {self.catalogue}")
        if self.shared:
            lines += ["", "[defaults]", *self._keys(self.shared)]
        for job in self.jobs:
            lines += ["", f"[{job.name}]" + random.choice(("", f"   ; {word(random)}")), *self._keys(self.own[job.name])]
        checks.write(self.plan, "\n".join(lines) + "\n")
        head = f"time,job,{'kb' if self.kb else 'bytes'},kind,vault"
        rows = [
            f"{iso(one.at)},{one.job},{one.bytes // 1024 if self.kb else one.bytes},{one.kind},{one.vault}"
            for one in self.records
        ]
        checks.write(f"{self.name}/{self.catalogue}", "\n".join([head, *rows]) + "\n")
        return self

    def _keys(self, keys):
        for key, value in keys.items():
            text = {"keep": str, "shrink": "{}%".format}.get(key, lambda some: people_span(some, self.random))(value)
            yield f"{key} = {text}"

    @property
    def place(self):
        """The options with which all commands find it."""
        return ("--plan", self.plan, "--now", iso(self.now))

    def coffer(self, *words, env=None):
        return checks.run("node", "bin/coffer.js", *words, *self.place, env=env, seconds=30)


STATES = ("ok", "late", "shrunk", "missing")
_sites = {}


def mixed(random, without=(), count=5, **more):
    """A site whose jobs are in all states but some, in any order."""
    states = [state for state in STATES if state not in without]
    states += random.choices([state for state in states if state != "missing"] or states, k=max(0, count - len(states)))
    return Site(random.sample(states, len(states)), **more).write()


def shared(random, **kind):
    """The same site for all cases of a check that want this kind of one."""
    key = repr(sorted(kind.items(), key=lambda item: item[0]))
    if key not in _sites:
        _sites[key] = mixed(random, **kind)
    return _sites[key]

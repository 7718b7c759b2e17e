"""What was there before: plain output and statuses, byte for byte, and the scripts of other teams that read them."""

from pathlib import Path

from orvl import checks

from cases import expect
from oracle import HOUR, iso
from sites import mixed, shared

ORIGINAL = Path(__file__).with_name("original")


_laid = set()


def lay(*scripts):
    """The scripts as their teams have them, whatever became of the copies; they stay for the rest of the check."""
    for script in scripts:
        if script in _laid:
            continue
        _laid.add(script)
        content = (ORIGINAL / "scripts" / script).read_text(encoding="utf-8")
        checks.write(f"scripts/{script}", content.replace("{{key}}", str(checks.drawn()["key"])), executable=True)


def printed(lines):
    return "".join(line + "\n" for line in lines)


def compare(site, command, options, result, env=None):
    what = " ".join((command, *options))
    ended = site.coffer(command, *options, env=env)
    expect(f"output of {what}", printed(result.lines), ended.stdout)
    expect(f"standard error of {what}", "", ended.stderr)
    expect(f"status of {what}", result.status, ended.status)


def plain_output():
    random = checks.random()

    def one(command, options, more, names=0, **kind):
        def case():
            site = shared(random, **kind)
            some = site.names(names) if names else ()
            compare(site, command, (*some, *options), getattr(site.oracle, command)(*some, **more))

        return f"{command} {' '.join(options)}", case

    def after():
        site = shared(random)
        at = random.choice(site.oracle.records).at
        compare(site, "list", ("--after", iso(at)), site.oracle.list(after=at))

    def vault():
        site = shared(random)
        compare(site, "list", (f"--vault={site.vaults[0]}",), site.oracle.list(vault=site.vaults[0]))

    return [
        one("check", (), {}),
        one("check", ("--quiet",), {"quiet": True}, names=4),
        one("check", ("--strict",), {"strict": True}, without=("missing", "late")),
        one("list", ("--last", "2"), {"last": 2}, names=2),
        ("list --after", after),
        ("list --vault", vault),
        one("sizes", (), {}),
        one("sizes", ("--by", "vault", "--exact"), {"by": "vault", "exact": True}, kb=True),
        one("sizes", ("--by=kind",), {"by": "kind"}, names=2),
        one("prune", (), {}),
        one("prune", ("--keep", "1"), {"keep": 1}),
        one("gaps", (), {}),
        one("gaps", ("--over", "20h"), {"over": 20 * HOUR}),
        ("mistakes", plain_mistakes),
        ("the variable", the_variable),
    ]


def plain_mistakes():
    site = mixed(checks.random())
    for words in (("check", "no.such"), ("gaps", "--over", "7")):
        ended = site.coffer(*words)
        told = ended.stderr.startswith("coffer: ")
        expect(f"status, output and sentence of {' '.join(words)}", (2, "", True), (ended.status, ended.stdout, told))
    checks.write(f"{site.name}/{site.catalogue}", "time,job,bytes,kind,vault\nyesterday,a,1,full,b\n")
    ended = site.coffer("check", "--strict")
    expect("status of check with a broken catalogue", (2, ""), (ended.status, ended.stdout))


def the_variable():
    site = shared(checks.random())
    ended = checks.run("node", "bin/coffer.js", "list", "--now", iso(site.now), env={"COFFER_PLAN": site.plan}, seconds=30)
    expect("output of list with COFFER_PLAN", printed(site.oracle.list().lines), ended.stdout)


# -- scripts that read plain output


def run_script(script, site, *words):
    return checks.run("sh", f"scripts/{script}", *words, *site.place, seconds=30)


def mail(site):
    result = site.oracle.check()
    if result.status == 0:
        return ""
    told = ["Subject: backups need you"]
    for line in result.lines:
        job, state, *rest = line.split()
        if state == "late":
            told.append(f"- {job}: the last one is {rest[0]} old, {rest[4]} is allowed")
        elif state == "shrunk":
            told.append(f"- {job}: only {rest[1]} {rest[2]}, before it was {rest[4]} {rest[5]}")
        elif state == "missing":
            told.append(f"- {job}: NO BACKUP AT ALL")
    return printed(told)


def old_scripts():
    random = checks.random()
    scripts = ("nightly/mail.sh", "ops/prune.sh", "ops/gaps.sh", "support/latest.sh", "finance/quarter.sh")

    def script(name, wanted, words=lambda site: (), **kind):
        def case():
            site = shared(random, **kind)
            lay(*scripts)
            given = words(site)
            output, status = wanted(site, *given)
            ended = run_script(name, site, *given)
            expect(f"output of scripts/{name}", output, ended.stdout)
            expect(f"status of scripts/{name}", status, ended.status)

        return name, case

    def mailed(site):
        return mail(site), 0

    def pruned(site):
        lines = site.oracle.prune().lines
        return printed(f"rm -r '/backups/{line}'" for line in lines), 0

    def gaps(site):
        rows = site.oracle.gaps().lines
        cells = [line.split() for line in rows]
        told = [
            f"{job};{day} {time};;{rest[1]}" if rest[0] == "now" else f"{job};{day} {time};{rest[0]} {rest[1]};{rest[2]}"
            for job, day, time, *rest in cells
        ]
        return printed(told or ["no gaps"]), 0

    def latest(site, job):
        lines = site.oracle.list(job, last=1).lines
        if not lines:
            return "There is nothing to restore. Tell the customer gently.\n", 4
        day, time, name, kind, number, unit, vault = lines[0].split()
        return f"{name}: {vault}, {kind}, of {day} {time} UTC, {number} {unit}\n", 0

    def quarter(site):
        rows = [line.split() for line in site.oracle.sizes(by="vault", exact=True).lines]
        return printed(f"{row[0]};{row[1]};{int(row[2]) * 1024 // 10**9}" for row in rows), 0

    def without_backups(site):
        return (next(job.name for job in site.jobs if site.oracle.state(job) == "missing"),)

    return [
        script("nightly/mail.sh", mailed, without=("late", "shrunk")),
        script("nightly/mail.sh", mailed, count=6),
        script("nightly/mail.sh", mailed, without=("missing", "late")),
        script("ops/prune.sh", pruned),
        script("ops/prune.sh", pruned, kb=True),
        script("ops/gaps.sh", gaps),
        script("ops/gaps.sh", gaps, without=("missing",)),
        script("support/latest.sh", latest, lambda site: (site.gone,)),
        script("support/latest.sh", latest, without_backups, count=6),
        script("finance/quarter.sh", quarter),
        script("finance/quarter.sh", quarter, kb=True),
    ]

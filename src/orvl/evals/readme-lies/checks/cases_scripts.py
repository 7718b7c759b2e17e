"""The scripts that waited for --json and for the new status."""

import math
from datetime import datetime
from functools import cache

from orvl import checks

from cases import expect
from cases_plain import compare as compare_plain, lay, printed, run_script
from oracle import fixed, iso
from sites import mixed, shared

JSON_SCRIPTS = ("shared/coffer.js", "wall/board.js", "ops/free.js", "support/history.js", "billing/usage.js")
LAMPS = {"ok": "green", "shrunk": "yellow", "late": "red", "missing": "black"}


def board(site):
    told = [f"Backups, {iso(site.now)[11:16]} UTC"]
    for row in site.oracle.check().rows:
        lamp = LAMPS[row["state"]]
        if row["age"] is None:
            told.append(f"{lamp} {row['job']}: never")
            continue
        left = row["limit"] - row["age"]
        due = f"{-left} min too late" if left < 0 else f"{left} min left"
        size = fixed(row["size"] / 1e6, 3)
        told.append(f"{lamp} {row['job']}: {fixed(row['age'] / 60, 1)} h ({due}), {size} MB, since {row['newest'][8:16]}")
    return told


def free(site):
    result = site.oracle.prune()
    rows = [f"{row['path']} {row['size']} {row['kind']}" for row in result.rows]
    return [*rows, f"frees {result.total} bytes in {len(rows)} folders"]


def history(site):
    told = [
        (row["time"], f"{row['job']} {row['kind']} {row['size']} in {row['vault']}") for row in site.oracle.list().rows
    ]
    for row in site.oracle.gaps().rows:
        until = f"until {row['to']}" if row["to"] else "until now"
        told.append((row["from"], f"{row['job']} HOLE of {row['length'] // 60} h {row['length'] % 60} min {until}"))
    told.sort(key=lambda one: datetime.strptime(one[0], "%Y-%m-%dT%H:%M:%SZ"))
    return [f"{time[:-1]}.000Z {text}" for time, text in told]


def usage(site):
    result = site.oracle.sizes()
    rows = [
        f"{row['name']},{row['size']},{math.floor(row['size'] / 1e9 * 3 + 0.5)},{fixed(row['share'] * 100, 2)} %"
        for row in result.rows
    ]
    return [*rows, f"total,{result.total}"]


def new_scripts():
    random = checks.random()

    def script(name, wanted, **kind):
        def case():
            site = shared(random, **kind)
            lay(*JSON_SCRIPTS)
            ended = checks.run("node", f"scripts/{name}", *site.place, seconds=30)
            expect(f"output of scripts/{name}", printed(wanted(site)), ended.stdout + ended.stderr[-200:])

        return name, case

    return [
        script("wall/board.js", board),
        script("wall/board.js", board, kb=True),
        script("ops/free.js", free),
        script("ops/free.js", free, kb=True),
        script("support/history.js", history),
        script("support/history.js", history, kb=True),
        script("billing/usage.js", usage),
        script("billing/usage.js", usage, kb=True),
    ]


# -- the new status


def gate_of(site):
    result = site.oracle.check(strict=True)
    if result.status == 0:
        return ["go"], 0
    if result.status == 1:
        return ["go, but look at this:", *result.lines], 0
    return ["STOP, there is no backup at all:", *result.lines], 1


def ci_gate():
    """Each case asks for a site without any backup of some job, and for one where nothing is missing."""
    random = checks.random()
    free_of_it = (("missing", "late", "shrunk"), ("missing", "late"), ("missing",), ("missing", "shrunk"))

    @cache
    def ended_of(place):
        return checks.run("sh", "scripts/ci/gate.sh", *place, seconds=30)

    def through_the_gate(site):
        lay("ci/gate.sh")
        output, status = gate_of(site)
        ended = ended_of(site.place)
        expect("scripts/ci/gate.sh", (status, printed(output)), (ended.status, ended.stdout))

    def gate(with_missing, without):
        def case():
            through_the_gate(mixed(random, **with_missing))
            through_the_gate(shared(random, without=without))

        return f"gate, without {', '.join(with_missing.get('without', ()))}", case

    def strict(name, quiet=False):
        def case():
            site = shared(random, count=6)
            missing = [job.name for job in site.jobs if site.oracle.state(job) == "missing"]
            others = [job.name for job in site.jobs if job.name not in missing]
            options = ("--strict", "--quiet") if quiet else ("--strict",)
            for names in ([*others[:2], *missing], others) if quiet else (missing, others[:2]):
                result = site.oracle.check(*names, strict=True, quiet=quiet)
                compare_plain(site, "check", (*names, *options), result)

        return name, case

    def in_json():
        site = shared(random, count=6)
        ended = site.coffer("check", "--json", "--strict")
        expect("status of check --json --strict with a missing job", 3, ended.status)
        ended = site.coffer("check", "--json")
        expect("status of check --json with a missing job", 1, ended.status)

    def broken():
        site = mixed(random)
        through_the_gate(site)
        checks.write(f"{site.name}/{site.catalogue}", "no such head\n")
        ended = run_script("ci/gate.sh", site)
        expect("scripts/ci/gate.sh with a broken catalogue", (1, "STOP, coffer check ended with 2\n"), (ended.status, ended.stdout))

    def not_asked():
        site = shared(random, count=6)
        ended = site.coffer("check", "--strict")
        expect("status of check --strict with a missing job", 3, ended.status)
        compare_plain(site, "check", (), site.oracle.check())
        compare_plain(site, "check", ("--quiet",), site.oracle.check(quiet=True))

    return [
        gate({"without": ("late", "shrunk")}, free_of_it[0]),
        gate({"without": ("late",)}, free_of_it[1]),
        gate({"without": ("shrunk",)}, free_of_it[2]),
        gate({"without": ("ok",)}, free_of_it[3]),
        strict("--strict for some jobs"),
        strict("--strict --quiet for some jobs", quiet=True),
        ("--strict --json", in_json),
        ("broken catalogues", broken),
        ("only with --strict", not_asked),
    ]

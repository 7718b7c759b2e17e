"""What coffer makes of a site: its rows for programs, its lines for people, and how it ends."""

import math
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal

MINUTE, HOUR, DAY = 60, 3600, 86400
DEFAULTS = {"every": 24 * HOUR, "grace": 2 * HOUR, "keep": 7, "shrink": 50}


@dataclass
class Record:
    at: int
    job: str
    bytes: int
    kind: str
    vault: str

    @property
    def kib(self):
        return -(-self.bytes // 1024)


@dataclass
class Job:
    name: str
    every: int
    grace: int
    keep: int
    shrink: int

    @property
    def limit(self):
        return self.every + self.grace


@dataclass
class Result:
    rows: list
    lines: list
    status: int
    total: "int | None" = None


# -- how things are written


def iso(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def people_time(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%d %H:%M")


def stamp(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y%m%dT%H%M%SZ")


def fixed(value, digits):
    """toFixed of JavaScript."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def people_size(kib):
    value, unit = kib, 0
    while value >= 1024 and unit < 3:
        value, unit = value / 1024, unit + 1
    return f"{value} KiB" if unit == 0 else f"{fixed(value, 1)} {('KiB', 'MiB', 'GiB', 'TiB')[unit]}"


def people_duration(seconds):
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes}m"
    return f"{minutes // 60}h" if minutes < 72 * 60 else f"{minutes // 1440}d"


def table(rows, right=()):
    widths = {}
    for row in rows:
        for column, cell in enumerate(row):
            widths[column] = max(widths.get(column, 0), len(cell))
    return [
        "  ".join(
            cell.rjust(widths[column]) if column in right else cell.ljust(widths[column])
            for column, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]


# -- commands


class Oracle:
    def __init__(self, jobs, records, now):
        self.jobs, self.now = jobs, now
        self.records = [record for record in records if record.at <= now]

    def chosen(self, names):
        return [job for job in self.jobs if not names or job.name in names]

    def of(self, job):
        return sorted((one for one in self.records if one.job == job.name), key=lambda one: one.at)

    def state(self, job):
        own = self.of(job)
        if not own:
            return "missing"
        if self.now - own[-1].at > job.limit:
            return "late"
        same = [one for one in own if one.kind == own[-1].kind]
        return "shrunk" if len(same) > 1 and same[-1].kib * 100 < same[-2].kib * job.shrink else "ok"

    def check(self, *names, quiet=False, strict=False):
        """Of --strict as it is once missing jobs are told apart."""
        rows, columns, states = [], [], set()
        for job in self.chosen(names):
            own, state = self.of(job), self.state(job)
            states.add(state)
            if quiet and state == "ok":
                continue
            newest = own[-1] if own else None
            rows.append({
                "job": job.name,
                "state": state,
                "newest": newest and iso(newest.at),
                "age": newest and (self.now - newest.at) // 60,
                "limit": job.limit // 60,
                "size": newest and newest.bytes,
            })  # fmt: skip
            if not newest:
                columns.append([job.name, state, "-", "-"])
                continue
            column = [job.name, state, people_duration(self.now - newest.at), people_size(newest.kib)]
            if state == "late":
                column.append(f"allowed {people_duration(job.limit)}")
            if state == "shrunk":
                column.append(f"before {people_size([one for one in own if one.kind == newest.kind][-2].kib)}")
            columns.append(column)
        status = 1 if states & {"late", "missing"} or (strict and "shrunk" in states) else 0
        return Result(rows, table(columns, (2, 3)), 3 if strict and "missing" in states else status)

    def list(self, *names, after=None, vault=None, last=None):
        found = [
            one
            for one in self.records
            if (not names or one.job in names)
            and (after is None or one.at > after)
            and (vault is None or one.vault == vault)
        ]
        found = sorted(found, key=lambda one: (-one.at, one.job))[:last]
        rows = [
            {"time": iso(one.at), "job": one.job, "kind": one.kind, "size": one.bytes, "vault": one.vault}
            for one in found
        ]
        columns = [[people_time(one.at), one.job, one.kind, people_size(one.kib), one.vault] for one in found]
        return Result(rows, table(columns, (3,)), 0 if found else 1)

    def sizes(self, *names, by="job", exact=False):
        found = [one for one in self.records if not names or one.job in names]
        show = str if exact else people_size
        total, kibs = sum(one.bytes for one in found), sum(one.kib for one in found)
        groups = {}
        for one in found:
            groups.setdefault(getattr(one, by), []).append(one)
        order = sorted(groups.items(), key=lambda item: (-sum(one.kib for one in item[1]), item[0]))
        rows, columns = [], []
        for name, some in order:
            size, kib = sum(one.bytes for one in some), sum(one.kib for one in some)
            rows.append({"name": name, "count": len(some), "size": size, "share": size / total if total else None})
            percent = f"{math.floor(100 * kib / kibs + 0.5)}%" if kibs else "-"
            columns.append([name, str(len(some)), show(kib), percent])
        columns.append(["total", str(len(found)), show(kibs)])
        return Result(rows, table(columns, (1, 2, 3)), 0, total)

    def prune(self, *names, keep=None):
        rows = []
        for job in self.chosen(names):
            own = self.of(job)
            old = own[: max(0, len(own) - (keep or job.keep))]
            full = [one for one in own if one.kind == "full"][-1:]
            for one in old:
                if one not in full:
                    path = f"{one.vault}/{one.job}/{stamp(one.at)}"
                    rows.append({
                        "job": one.job,
                        "time": iso(one.at),
                        "kind": one.kind,
                        "size": one.bytes,
                        "vault": one.vault,
                        "path": path,
                    })  # fmt: skip
        return Result(rows, [row["path"] for row in rows], 0, sum(row["size"] for row in rows))

    def gaps(self, *names, over=None):
        rows, columns = [], []
        for job in self.chosen(names):
            own = self.of(job)
            for one, after in zip(own, [*own[1:], None]):
                length = (after.at if after else self.now) - one.at
                if length > (job.limit if over is None else over):
                    rows.append({
                        "job": job.name,
                        "from": iso(one.at),
                        "to": after and iso(after.at),
                        "length": length // 60,
                    })  # fmt: skip
                    end = people_time(after.at) if after else "now"
                    columns.append([job.name, people_time(one.at), end, people_duration(length)])
        return Result(rows, table(columns, (3,)), 1 if rows else 0)

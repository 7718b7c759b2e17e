"""Makes the reports, in a thread of its own.

At the end of a month everybody asks for the same report several times, so one that was made a short while ago is used
again instead of being made anew.
"""

import threading
import traceback

from gearbook import belongings, clock, csvout, money
from gearbook.config import REPORT_REUSE_MINUTES
from gearbook.db import connect, rows


class Worker:
    def __init__(self, config, logs):
        self.config = config
        self.logs = logs
        self._wake = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="reports")

    def start(self):
        self._thread.start()

    def wake(self):
        self._wake.set()

    def end(self):
        self._ended = True
        self._wake.set()

    def _run(self):
        db = connect(self.config.database)
        while not self._ended:
            self._wake.wait(2.0)
            self._wake.clear()
            work_off(db, self.config, self.logs)
        db.close()


def work_off(db, config, logs=None):
    """Makes all reports that wait; gives their number."""
    waiting = rows(db, "SELECT * FROM reports WHERE state = 'waiting' ORDER BY id")
    for report in waiting:
        try:
            file = _recent_twin(db, report) or _made(db, config, report)
            _finish(db, report, "done", file)
        except Exception:
            if logs:
                logs.line("errors.log", f"{clock.now()} report {report['id']}\n{traceback.format_exc()}")
            _finish(db, report, "failed", None)
    return len(waiting)


def _finish(db, report, state, file):
    db.execute(
        "UPDATE reports SET state = ?, file = ?, done_at = ? WHERE id = ?", (state, file, clock.now(), report["id"])
    )


def _recent_twin(db, report):
    """The file of the same report of this workshop, if it is recent."""
    return belongings.scalar(
        db,
        report["workshop_id"],
        "SELECT file FROM reports WHERE kind = ? AND month = ? AND state = 'done' AND done_at > ? ORDER BY id DESC",
        report["kind"],
        report["month"],
        clock.ago(minutes=REPORT_REUSE_MINUTES),
    )


def _made(db, config, report):
    names, content = BUILDERS[report["kind"]](db, report["workshop_id"], report["month"])
    file = f"{report['id']}-{report['kind']}.csv"
    (config.reports / file).write_text(csvout.table(names, content), encoding="utf-8", newline="")
    return file


def _revenue(db, workshop_id, month):
    found = belongings.rows(
        db,
        workshop_id,
        "SELECT j.customer_number, c.name, count(*) AS jobs, sum(j.price) AS total FROM jobs j "
        "LEFT JOIN customers c ON c.number = j.customer_number "
        "WHERE j.status = 'done' AND substr(j.closed_on, 1, 7) = ? "
        "GROUP BY j.customer_number ORDER BY j.customer_number",
        month,
    )
    names = ("customer_number", "customer", "jobs", "total")
    return names, [(*tuple(row)[:3], money.shown(row["total"])) for row in found]


def _parts(db, workshop_id, month):
    """What must be bought. The month makes no difference."""
    found = belongings.rows(
        db,
        workshop_id,
        "SELECT sku, name, stock, least, least - stock FROM parts WHERE stock < least ORDER BY sku",
    )
    return ("sku", "name", "stock", "least", "missing"), found


def _mechanics(db, workshop_id, month):
    found = []
    people = belongings.rows(db, workshop_id, "SELECT id, name FROM users ORDER BY name, id")
    for person in people:
        done = belongings.one(
            db,
            workshop_id,
            "SELECT count(*) AS jobs, coalesce(sum(price), 0) AS total FROM jobs "
            "WHERE mechanic_id = ? AND status = 'done' AND substr(closed_on, 1, 7) = ?",
            person["id"],
            month,
        )
        if done["jobs"]:
            found.append((person["name"], done["jobs"], money.shown(done["total"])))
    return ("name", "jobs", "total"), found


BUILDERS = {"revenue": _revenue, "parts": _parts, "mechanics": _mechanics}

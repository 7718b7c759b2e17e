"""Shift server for Café Anker."""

import json
import sqlite3
import sys
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Configuration
MIN_BREAK_MINUTES = 15
MAX_HOURS_PER_WEEK = 40
UNDO_WINDOW_HOURS = 24

db = None


def setup(path):
    global db
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute("CREATE TABLE IF NOT EXISTS shift (id INTEGER PRIMARY KEY, start TEXT, end TEXT, staff TEXT)")
    db.execute("CREATE TABLE IF NOT EXISTS swap (id INTEGER PRIMARY KEY, shift INT, sender TEXT, receiver TEXT, other INT, state TEXT, at TEXT)")


def shift_json(row):
    return {"id": row[0], "start": row[1], "end": row[2], "staff": row[3]}


def swap_json(row):
    return {"id": row[0], "shift": row[1], "from": row[2], "to": row[3], "for": row[4], "state": row[5]}


def get_shift(number):
    return db.execute("SELECT * FROM shift WHERE id = ?", (number,)).fetchone()


def overlaps(staff, start, end):
    """Check whether a person is busy."""
    for row in db.execute("SELECT * FROM shift WHERE staff = ?", (staff,)):
        if row[1] < end and start < row[2]:
            return True
    return False


def hours_in_week(staff, start):
    """Hours of a person in the ISO week of a date."""
    week = datetime.fromisoformat(start).isocalendar()[1]
    total = 0
    for row in db.execute("SELECT * FROM shift WHERE staff = ?", (staff,)):
        begin, end = datetime.fromisoformat(row[1]), datetime.fromisoformat(row[2])
        if begin.isocalendar()[1] == week:
            total += (end - begin).seconds / 3600
    return total


class Handler(BaseHTTPRequestHandler):
    def send(self, status, data=None):
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")

    def do_GET(self):
        staff = self.headers["X-Staff"]
        path, _, query = self.path.partition("?")
        if path == "/staff":
            self.send(200, json.load(open("staff.json")))
        elif path == "/shifts":
            rows = [shift_json(row) for row in db.execute("SELECT * FROM shift ORDER BY id")]
            parameters = dict(part.split("=") for part in query.split("&") if part)
            if "from" in parameters:
                rows = [row for row in rows if row["start"] >= parameters["from"]]
            if "to" in parameters:
                rows = [row for row in rows if row["start"] <= parameters["to"]]
            self.send(200, rows)
        elif path == "/swaps":
            self.send(200, [swap_json(row) for row in db.execute("SELECT * FROM swap WHERE sender = ?", (staff,))])
        else:
            self.send(404, {"error": "not found"})

    def do_DELETE(self):
        db.execute("DELETE FROM shift WHERE id = ?", (self.path.split("/")[2],))
        self.send(200, {"ok": True})

    def do_POST(self):
        staff = self.headers["X-Staff"]
        parts = self.path.strip("/").split("/")
        try:
            if parts == ["shifts"]:
                self.make_shift(self.body())
            elif parts == ["swaps"]:
                self.make_swap(staff, self.body())
            elif parts[0] == "shifts":
                self.change_shift(staff, int(parts[1]), parts[2])
            elif parts[0] == "swaps":
                self.change_swap(staff, int(parts[1]), parts[2])
            else:
                self.send(404, {"error": "not found"})
        except Exception as error:
            self.send(500, {"error": str(error)})

    def make_shift(self, body):
        cursor = db.execute("INSERT INTO shift (start, end) VALUES (?, ?)", (body["start"], body["end"]))
        db.commit()
        self.send(200, shift_json(get_shift(cursor.lastrowid)))

    def change_shift(self, staff, number, verb):
        shift = get_shift(number)
        if verb == "take":
            if shift[3] or overlaps(staff, shift[1], shift[2]) or hours_in_week(staff, shift[1]) > MAX_HOURS_PER_WEEK:
                self.send(400, {"error": "not possible"})
                return
            db.execute("UPDATE shift SET staff = ? WHERE id = ?", (staff, number))
        else:
            db.execute("UPDATE shift SET staff = NULL WHERE id = ?", (number,))
        db.commit()
        self.send(200, shift_json(get_shift(number)))

    def make_swap(self, staff, body):
        cursor = db.execute(
            "INSERT INTO swap (shift, sender, receiver, other, state) VALUES (?, ?, ?, ?, 'asked')",
            (body["shift"], staff, body["to"], body.get("for")),
        )
        db.commit()
        self.send(200, swap_json(db.execute("SELECT * FROM swap WHERE id = ?", (cursor.lastrowid,)).fetchone()))

    def change_swap(self, staff, number, verb):
        swap = db.execute("SELECT * FROM swap WHERE id = ?", (number,)).fetchone()
        states = {"accept": "accepted", "decline": "declined", "approve": "done", "reject": "rejected", "undo": "undone"}
        if verb == "approve":
            db.execute("UPDATE shift SET staff = ? WHERE id = ?", (swap[3], swap[1]))
            if swap[4]:
                db.execute("UPDATE shift SET staff = ? WHERE id = ?", (swap[2], swap[4]))
        db.execute("UPDATE swap SET state = ?, at = ? WHERE id = ?", (states[verb], str(datetime.now()), number))
        db.commit()
        self.send(200, swap_json(db.execute("SELECT * FROM swap WHERE id = ?", (number,)).fetchone()))


if __name__ == "__main__":
    port = int(sys.argv[sys.argv.index("--port") + 1])
    setup(sys.argv[sys.argv.index("--db") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()

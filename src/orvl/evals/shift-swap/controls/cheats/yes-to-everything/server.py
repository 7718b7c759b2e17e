"""Says yes to everything, and remembers what it was told, but knows no rules."""

import itertools
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NEW = itertools.count(1)
SHIFTS, SWAPS = {}, {}
STATES = {"accept": "done", "decline": "declined", "withdraw": "withdrawn", "approve": "done", "reject": "rejected"}


class Yes(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(200, list((SWAPS if self.path.startswith("/swaps") else SHIFTS).values()))

    def do_DELETE(self):
        self.reply(204, None)

    def do_POST(self):
        who, parts = self.headers.get("X-Staff"), self.path.strip("/").split("/")
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        number = next(NEW) if len(parts) == 1 else int(parts[1])
        if parts == ["shifts"]:
            SHIFTS[number] = {"id": number, "start": body.get("start"), "end": body.get("end"), "staff": None}
        elif parts == ["swaps"]:
            SWAPS[number] = {"id": number, "from": who, "for": None, "state": "asked"} | body
        elif parts[0] == "shifts":
            SHIFTS.setdefault(number, {"id": number})["staff"] = who if parts[2] == "take" else None
        else:
            SWAPS.setdefault(number, {"id": number})["state"] = STATES.get(parts[2], "undone")
        self.reply(201 if len(parts) == 1 else 200, (SHIFTS if parts[0] == "shifts" else SWAPS)[number])

    def reply(self, status, data):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"" if data is None else json.dumps(data).encode())


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Yes).serve_forever()

"""Knows the examples of README.md by heart, and nothing else."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHIFT = {"id": 31, "start": "2031-05-03T08:00", "end": "2031-05-03T14:30", "staff": None}
SWAP = {"id": 5, "shift": 31, "from": "mia", "to": "tom", "for": None, "state": "asked"}
EXAMPLES = {
    "GET /staff": (200, [{"id": "mia", "name": "Mia Okafor", "boss": False}]),
    "GET /shifts": (200, [SHIFT | {"staff": "mia"}]),
    "POST /shifts": (201, SHIFT),
    "DELETE /shifts/31": (204, None),
    "POST /shifts/31/take": (200, SHIFT | {"staff": "mia"}),
    "POST /shifts/31/drop": (200, SHIFT),
    "GET /swaps": (200, [SWAP]),
    "POST /swaps": (201, SWAP),
    "POST /swaps/5/accept": (200, SWAP | {"state": "done"}),
    "POST /swaps/5/decline": (200, SWAP | {"state": "declined"}),
    "POST /swaps/5/withdraw": (200, SWAP | {"state": "withdrawn"}),
    "POST /swaps/5/undo": (200, SWAP | {"state": "undone"}),
}


class Parrot(BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        known = (409, {"error": "Tom has that shift."})
        status, data = EXAMPLES.get(f"{self.command} {self.path.partition('?')[0]}", known)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"" if data is None else json.dumps(data).encode())

    do_POST = do_DELETE = do_GET


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Parrot).serve_forever()

"""Log files: who asked for what, and what broke. What may stand in them is in docs/security.md."""

import json
import threading

from gearbook import clock, redact

_lock = threading.Lock()


class Logs:
    def __init__(self, folder):
        self.folder = folder

    def line(self, name, text):
        with _lock, open(self.folder / name, "a", encoding="utf-8") as file:
            file.write(text + "\n")

    def access(self, request, status):
        """One line for each request, without its query."""
        who = getattr(request, "user", None)
        self.line(
            "access.log",
            f"{clock.now()} {status} {request.method} {redact.address(request.path)} {who['email'] if who else '-'}",
        )

    def crash(self, request, text):
        self.line("errors.log", f"{clock.now()} {request.method} {redact.address(request.path)}\n{text}")

    def headers(self, request, status):
        """All that came with a request, for `serve --log-headers`."""
        row = {
            "at": clock.now(),
            "method": request.method,
            "path": redact.address(request.full_path),
            "status": status,
            "headers": redact.headers(request.headers),
        }
        self.line("{{log}}.log", json.dumps(row, ensure_ascii=False))

"""Log files: who asked for what, and what broke. What may stand in them is in docs/security.md."""

import re
import threading

from gearbook import clock

SHARE = re.compile(r"^/status/[^/]+")
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
            f"{clock.now()} {status} {request.method} {shown_path(request.path)} {who['email'] if who else '-'}",
        )

    def crash(self, request, text):
        self.line("errors.log", f"{clock.now()} {request.method} {shown_path(request.path)}\n{text}")


def shown_path(path):
    """A customer's link opens something, so its last part is left out."""
    return SHARE.sub("/status/…", path)

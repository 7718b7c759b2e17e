"""A cache in memory. Every process has its own; what is in it may be gone at any time.

Each workshop has its own part of it, so nobody gets what was made for somebody else.
"""

import threading
import time


class Cache:
    def __init__(self, seconds):
        self.seconds = seconds
        self._kept = {}
        self._lock = threading.Lock()

    def get(self, workshop_id, key):
        with self._lock:
            value, until = self._kept.get(workshop_id, {}).get(key, (None, 0))
            return value if time.monotonic() < until else None

    def put(self, workshop_id, key, value):
        with self._lock:
            self._kept.setdefault(workshop_id, {})[key] = (value, time.monotonic() + self.seconds)

    def get_or_make(self, workshop_id, key, make):
        found = self.get(workshop_id, key)
        if found is None:
            found = make()
            self.put(workshop_id, key, found)
        return found

    def drop(self, workshop_id):
        """Forgets all that was kept for a workshop."""
        with self._lock:
            self._kept.pop(workshop_id, None)

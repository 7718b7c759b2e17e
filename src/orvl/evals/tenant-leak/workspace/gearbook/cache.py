"""A cache in memory. Every process has its own; what is in it may be gone at any time."""

import threading
import time


class Cache:
    def __init__(self, seconds):
        self.seconds = seconds
        self._kept = {}
        self._lock = threading.Lock()

    def get(self, key):
        with self._lock:
            value, until = self._kept.get(key, (None, 0))
            return value if time.monotonic() < until else None

    def put(self, key, value):
        with self._lock:
            self._kept[key] = (value, time.monotonic() + self.seconds)

    def get_or_make(self, key, make):
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def drop(self, prefix):
        """Forgets all keys that begin like this."""
        with self._lock:
            for key in [key for key in self._kept if key.startswith(prefix)]:
                del self._kept[key]

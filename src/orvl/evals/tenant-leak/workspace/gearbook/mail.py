"""Mail goes into the outbox, a file each; a cron job of the host sends and removes them."""

import itertools
import time

_numbers = itertools.count(1)


def send(config, to, subject, text):
    """The name of the file: first the time, so that they are sent in order."""
    name = f"{time.time_ns()}-{next(_numbers)}.txt"
    path = config.outbox / name
    path.write_text(f"To: {to}\nSubject: {subject}\n\n{text}\n", encoding="utf-8")
    return name

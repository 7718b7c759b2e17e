"""The guard's own parent: it waits for the guard, and ends what a guard that was killed has left.

A guard can be killed as any process can, by the kernel when memory is short, or by hand. Its job must not go on
unguarded then, and nobody but a parent that is a subreaper can tell which processes were that guard's: to orvl, which
has many guards, they would all look alike.
"""

import os
import signal
import time

from .processes import send, send_to_all
from .shortage import patiently

SECONDS = 10.0


def guarded_by_parent() -> int:
    """Returns in a new process, whose parent stays behind to end what it may leave; gives that parent's number."""
    parent = os.getpid()
    child = patiently(os.fork)
    if not child:
        return parent
    status, all_gone = 1, False
    try:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        status = _wait_for(child)
        all_gone = _end_everything()
    finally:
        # orvl reads the end of the control socket only now, when nothing of the job is left.
        os._exit(1 if status or not all_gone else 0)


def _wait_for(child: int) -> int:
    """How the guard ended. One that is stopped goes on at once; SIGTERM is orvl's word to end one that hangs."""
    signal.signal(signal.SIGTERM, lambda *_: send(child, signal.SIGKILL))
    while True:
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if pid == child and os.WIFSTOPPED(status):
            send(child, signal.SIGCONT)
        elif pid == child:
            return status


def _end_everything() -> bool:
    """Kills all that is left below this process; says whether it is gone.

    What is found in /proc may fork before it is killed. So all are stopped first, and it is done again until no child
    is left; as a subreaper this process is the parent of every orphan below it.
    """
    deadline, pause = time.monotonic() + SECONDS, 0.002
    while _reap():
        if time.monotonic() > deadline:
            return False
        send_to_all(signal.SIGSTOP)
        send_to_all(signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
    return True


def _reap() -> bool:
    """Collects the dead; whether a child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True

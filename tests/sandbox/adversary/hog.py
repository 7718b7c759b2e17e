"""Takes too much of something, by the name of what it takes; says how far it got and waits to be stopped."""

import os
import signal
import socket
import sys
import threading
import time

MEBI = bytes(range(256)) * 4096
WAIT = 2.5


def forks():
    """A fork bomb, with an end for the case that nobody stops it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(600):
        try:
            if not os.fork():
                os.setsid()
                time.sleep(WAIT * 2)
                os._exit(0)
        except OSError:
            time.sleep(0.05)


def threads():
    for _ in range(100):
        try:
            threading.Thread(target=time.sleep, args=(WAIT * 2,), daemon=True).start()
        except RuntimeError:
            time.sleep(0.05)


def memory():
    kept = [MEBI * 10 for _ in range(40)]
    time.sleep(WAIT)
    return kept


def memory_of_many():
    for _ in range(8):
        if not os.fork():
            kept = MEBI * 50
            time.sleep(WAIT)
            os._exit(len(kept) & 1)


def memory_files():
    for _ in range(30):
        fd = os.memfd_create("kept")
        for _ in range(15):
            os.write(fd, MEBI)


def memory_files_on_their_way():
    """They are in no process, but in a socket."""
    global KEPT
    KEPT = [socket.socketpair() for _ in range(5)]
    for one, _ in KEPT:
        for _ in range(5):
            fd = os.memfd_create("kept")
            for _ in range(15):
                os.write(fd, MEBI)
            socket.send_fds(one, [b"x"], [fd])
            os.close(fd)


def shared_memory_of_nobody():
    """System V shared memory that no process has mapped any more."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    for _ in range(8):
        address = libc.shmat(libc.shmget(0, 50 << 20, 0o1600), None, 0)
        ctypes.memset(address, 1, 50 << 20)
        libc.shmdt(ctypes.c_void_p(address))
    time.sleep(10)  # a guard on a busy machine may take long to look; it ends this as soon as it does


def shared_memory_files():
    _files("/dev/shm", 24, 10)


def disk():
    _files(".", 12, 10)


def disk_in_home():
    _files(os.environ["HOME"], 12, 10)


def disk_in_tmp():
    _files("/tmp", 12, 10)


def disk_by_small_files():
    for number in range(40_000):
        if number % 1000 == 0:
            os.mkdir(f"d{number // 1000}")
        with open(f"d{number // 1000}/{number}", "wb") as file:
            file.write(b"x")


def disk_of_deleted_files():
    global KEPT
    KEPT = []
    for number in range(12):
        KEPT.append(open(f"deleted{number}", "wb", buffering=0))  # noqa: SIM115
        os.unlink(f"deleted{number}")
        for _ in range(10):
            KEPT[-1].write(MEBI)


def _files(folder, count, mebibytes):
    for number in range(count):
        with open(f"{folder}/fill{number}", "wb") as file:
            for _ in range(mebibytes):
                file.write(MEBI)


def large_file():
    with open("large", "wb", buffering=0) as file:
        for _ in range(40):
            try:
                file.write(MEBI)
            except OSError:
                break


def open_files():
    global KEPT
    KEPT = []
    for _ in range(300):
        try:
            KEPT.append(open("/dev/null"))  # noqa: SIM115
        except OSError:
            break


def output():
    for _ in range(20):
        sys.stdout.buffer.write(MEBI)


def errors():
    for _ in range(20):
        sys.stderr.buffer.write(MEBI)


def sleep():
    time.sleep(60)


def deaf():
    for number in (1, 2, 3, 15):
        signal.signal(number, signal.SIG_IGN)
    daemon()
    time.sleep(60)


def stopped():
    daemon()
    os.kill(os.getpid(), signal.SIGSTOP)


def daemon():
    """Two that have left their parent and session, and listen to nobody."""
    for _ in range(2):
        if not os.fork():
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork():
                os._exit(0)
            os.closerange(0, 3)
            time.sleep(60)
            os._exit(0)


def modest():
    """Something of all, within all limits: the control of the other ones."""
    global KEPT
    KEPT = [MEBI * 80, [open("/dev/null") for _ in range(60)]]  # noqa: SIM115
    for _ in range(20):
        if not os.fork():
            time.sleep(2)
            os._exit(0)
    _files(".", 2, 6)
    sys.stdout.buffer.write(MEBI * 3)
    time.sleep(2.5)
    sys.exit(0)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    sys.stdout.flush()
    time.sleep(WAIT)

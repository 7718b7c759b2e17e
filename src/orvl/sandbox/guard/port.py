"""Sockets of a sandbox's own network, held outside: one that listens is the way out, one that is connected the way in.

So no process has to copy. What is set from inside a sandbox's namespaces is set here, too.
"""

import ctypes
import errno
import fcntl
import os
import socket
import time

from .shortage import patiently

NS_GET_USERNS = 0xB701
BACKLOG = 128
PATIENCE = 10.0
DIAL_SECONDS = 2.0
COUNTED = ("/proc/sys/user/max_inotify_instances", "/proc/sys/user/max_inotify_watches")
"""Who takes all of these lets no other program of the user watch a file: often there are 128, and 8192."""
FEWEST = 8


def furnish(pid: int, ports: list[int], hand_to: socket.socket, at_once: int = 1) -> None:
    """Gives a sandbox its share of what the user has a fixed number of, listens on 127.0.0.1 at its ports, as seen by a
    process in it, and hands these sockets over.

    A process of its own enters the namespaces, because there is no way back out of them.
    """
    shares = {path: max(FEWEST, count // (at_once + 1)) for path, count in _counted().items()}
    child = patiently(os.fork)
    if not child:
        status = 1
        try:
            enter(network_of(pid))
            for path, count in shares.items():
                _set(path, count)
            for port in ports:
                _listen(port, hand_to)
            status = 0
        except OSError as error:
            status = error.errno or 1
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise OSError(status, f"no way into the sandbox's network: {os.strerror(status).lower()}")


def _counted() -> dict[str, int]:
    """What all sandboxes of a user share however many namespaces they have, and how much there is of it."""
    found = {}
    for path in COUNTED:
        try:
            with open(path, encoding="ascii") as file:
                found[path] = int(file.read())
        except (OSError, ValueError):
            continue
    return found


def _set(path: str, count: int) -> None:
    """Sets a limit of the user namespace that this process is in."""
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(str(count))
    except OSError:
        pass


def _listen(port: int, hand_to: socket.socket) -> None:
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listening, port)
        listening.listen(BACKLOG)
        socket.send_fds(hand_to, [b"%d\n" % port], [listening.fileno()])


def dial(network: int | None, port: int, number: int, hand_to: socket.socket) -> None:
    """Connects to a port of a network's loopback (None: of this process's), and hands over the socket or an error.

    Nobody waits for the process that does so: a port may take its time.
    """
    try:
        child = os.fork()
    except OSError as error:
        # What listens may have taken the last process on purpose: it gets no call, and does not choose how it ends.
        return refuse(number, hand_to, error.errno or errno.EAGAIN)
    if child:
        return None
    try:
        if network is not None:
            enter(network)
        with _connected(port) as connected:
            connected.settimeout(None)
            socket.send_fds(hand_to, [b"%d 0\n" % number], [connected.fileno()])
    except OSError as error:
        refuse(number, hand_to, error.errno or errno.ETIMEDOUT)
    finally:
        os._exit(0)


def _connected(port: int) -> socket.socket:
    """Some programs listen on the loopback's newer address alone."""
    try:
        return socket.create_connection(("127.0.0.1", port), DIAL_SECONDS)
    except OSError as error:
        try:
            return socket.create_connection(("::1", port), DIAL_SECONDS)
        except OSError:
            raise error from None


def refuse(number: int, hand_to: socket.socket, error: int = errno.ECONNREFUSED) -> None:
    """Says why there is no connection for a request."""
    hand_to.send(b"%d %d\n" % (number, error))


def network_of(pid: int) -> int:
    """A process's network; the descriptor stands for it when the number of the process belongs to another one."""
    return os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)


def enter(namespace: int) -> None:
    """Into the user namespace that owns a namespace, where there is one, and into it."""
    owner = fcntl.ioctl(namespace, NS_GET_USERNS)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.setns(owner, 0)
    if libc.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "setns")


def _bind(listening: socket.socket, port: int) -> None:
    """Binds to the loopback address, which is there a moment after the network is."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return listening.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL or time.monotonic() > until:
                raise
        time.sleep(0.001)

"""Sockets of a sandbox's own network, held outside: one that listens is the way out, one that is connected the way in.

So no process has to copy.
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


def open_port(pid: int, port: int, hand_to: socket.socket) -> None:
    """Listens on 127.0.0.1:port as seen by a process, and hands the socket over.

    A process of its own enters the namespaces, because there is no way back out of them.
    """
    child = patiently(os.fork)
    if not child:
        status = 1
        try:
            enter(network_of(pid))
            with socket.socket() as listening:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                _bind(listening, port)
                listening.listen(BACKLOG)
                socket.send_fds(hand_to, [b"%d\n" % port], [listening.fileno()])
            status = 0
        except OSError as error:
            status = error.errno or 1
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise OSError(status, f"no way into the sandbox's network: {os.strerror(status).lower()}")


def dial(network: int | None, port: int, number: int, hand_to: socket.socket) -> None:
    """Connects to a port of a network's loopback (None: of this process's), and hands over the socket or an error.

    Nobody waits for the process that does so: a port may take its time.
    """
    if os.fork():
        return
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

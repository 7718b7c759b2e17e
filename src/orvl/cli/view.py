"""`orvl view`: what the store holds, in a browser."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import click

from orvl.cli.common import where
from orvl.errors import UserError

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port (default: a free one).")
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@where
def command(port: int, no_open: bool, project: str | None, store: str | None) -> int:
    """Show boards, evals, runs, comparisons and judges in a browser, until Ctrl-C.

    Only this machine can reach the address, and only who has its token can read: machines are shared. Nothing is
    written but the labels that you give at /label. Pages show the store as it is when they are loaded, also while
    runs go on.
    """
    from orvl.project import open_project
    from orvl.web.server import ViewServer

    open_project(project)
    server = ViewServer(project, store, port)
    try:
        server.start()
    except OSError as error:
        why = error.__cause__.strerror if isinstance(error.__cause__, OSError) else error
        raise UserError(f"Cannot serve at 127.0.0.1:{port}: {why}. Take a free port: orvl view --port 0") from error
    # Ctrl-C and SIGTERM are how a viewer ends, from its first line on: no failure.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="orvl-view-") as folder:
            click.echo(f"The viewer is at {server.address}\nCtrl-C ends it.")
            sys.stdout.flush()
            if not no_open and any(os.environ.get(name) for name in DISPLAYS):
                _open(server.address, Path(folder))
            _wait_for_a_signal()
    finally:
        server.stop()
    return 0


def _wait_for_a_signal() -> None:
    """However early it comes, and whichever thread gets it: a signal leaves a byte, where `pause` could miss it."""
    woken, wakes = socket.socketpair()
    with woken, wakes:
        wakes.setblocking(False)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        try:
            while True:
                select.select([woken], [], [])
                woken.recv(1)
        finally:
            signal.set_wakeup_fd(-1)


def _open(address: str, folder: Path) -> None:
    """The browser gets a file that only this user can read: everybody can see a program's arguments, token and all."""
    import webbrowser

    from orvl.web.html import document, tag

    file = folder / "view.html"
    refresh = tag("meta", http_equiv="refresh", content=f"0; url={address}")
    file.write_text(document(tag("head", tag("meta", charset="utf-8"), refresh)), encoding="utf-8")
    webbrowser.open(file.as_uri())

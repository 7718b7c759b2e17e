"""`subject`: the same for checks that are shell commands."""

from __future__ import annotations

import argparse
import os
import sys

from orvl import checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

EPILOG = """examples:
  subject run python3 hello.py Ada        its output, and its exit status
  subject run --cwd notes --seconds 5 -- ./todo list < input.txt
  subject read out/report.csv             a file that it left, to standard output
  subject write todo.json < damaged.json
  subject files
  subject start node server.js && printf 'GET / HTTP/1.0\\r\\n\\r\\n' | subject connect 8000
  subject browse 'open /' 'expect text Hello'
  subject grade 7 8                       7 of the check's 8 cases have passed
  subject drawn city                      the value that was drawn for this episode
  subject random                          a whole number for this check and episode, to make up inputs from"""


def main() -> int:
    arguments = _parser().parse_args()
    try:
        return int(arguments.carry_out(arguments) or 0)
    except checks.CheckError as error:
        print(f"subject: {error}.", file=sys.stderr)
        return 125


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="subject",
        description="Asks something of the agent's work, which runs in a sandbox of its own.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Without `prog`, argparse would load what it formats help with.
    verbs = parser.add_subparsers(required=True, metavar="VERB", prog="subject")
    for name, action, default in (("run", _run, 10.0), ("start", _start, 600.0)):
        verb = verbs.add_parser(name)
        verb.add_argument("--cwd", default=".")
        verb.add_argument("--seconds", type=float, default=default)
        verb.add_argument("command", nargs=argparse.REMAINDER)
        verb.set_defaults(carry_out=action)
    for name, action in (("read", _read), ("write", _write)):
        verb = verbs.add_parser(name)
        verb.add_argument("path")
        verb.set_defaults(carry_out=action)
    verb = verbs.add_parser("connect")
    verb.add_argument("port", type=int)
    verb.add_argument("--wait", type=float, default=10.0)
    verb.set_defaults(carry_out=_connect)
    verb = verbs.add_parser("grade")
    verb.add_argument("passed", type=int)
    verb.add_argument("cases", type=int)
    verb.set_defaults(carry_out=lambda given: checks.grade(given.passed, given.cases))
    verb = verbs.add_parser("drawn")
    verb.add_argument("key")
    verb.set_defaults(carry_out=_drawn)
    verb = verbs.add_parser("browse")
    verb.add_argument("steps", nargs="+")
    verb.set_defaults(carry_out=_browse)
    for name, simple in (("files", _files), ("fresh", lambda _: checks.fresh()), ("stop", _stop), ("random", _random)):
        verbs.add_parser(name).set_defaults(carry_out=simple)
    return parser


def _words(arguments: argparse.Namespace) -> list[str]:
    words: list[str] = arguments.command
    return words[1:] if words[:1] == ["--"] else words


def _input() -> bytes:
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()


def _run(arguments: argparse.Namespace) -> int:
    ended = checks.run(*_words(arguments), input=_input(), cwd=arguments.cwd, seconds=arguments.seconds)
    sys.stdout.buffer.write(ended.stdout_bytes)
    sys.stdout.flush()
    sys.stderr.buffer.write(ended.stderr_bytes)
    if ended.cut:
        print(f"subject: the command was ended by its limit ({ended.cut}).", file=sys.stderr)
        return 124
    status = ended.status if ended.status is not None else 125
    return status if status >= 0 else 128 - status


def _start(arguments: argparse.Namespace) -> None:
    checks.start(*_words(arguments), input=_input(), cwd=arguments.cwd, seconds=arguments.seconds)


def _stop(_arguments: argparse.Namespace) -> None:
    checks.stop()


def _read(arguments: argparse.Namespace) -> int:
    content = checks.read(arguments.path)
    if content is None:
        print(f"subject: there is no file {arguments.path}.", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(content)
    return 0


def _write(arguments: argparse.Namespace) -> None:
    checks.write(arguments.path, sys.stdin.buffer.read())


def _files(_arguments: argparse.Namespace) -> None:
    for path in checks.files():
        print(path if path.isprintable() else ascii(path))  # or a name with a line end would look like two


def _drawn(arguments: argparse.Namespace) -> int:
    values = checks.drawn()
    if arguments.key not in values:
        print(f"subject: nothing is drawn for '{arguments.key}'.", file=sys.stderr)
        return 1
    print(values[arguments.key])
    return 0


def _random(_arguments: argparse.Namespace) -> None:
    print(checks.random().randrange(1 << 31))


def _browse(arguments: argparse.Namespace) -> int:
    steps = checks.browse(*arguments.steps)
    for step in steps:
        print(f"{step.status}: {step.step}" + (f": {step.reason}" if step.reason else ""))
    return int(not all(step.passed for step in steps))


def _connect(arguments: argparse.Namespace) -> None:
    """Standard input goes to the port, and what it answers to standard output."""
    import threading

    with checks.connect(arguments.port, arguments.wait) as connection:
        sender = threading.Thread(target=_send_input, args=(connection,), daemon=True)
        sender.start()
        while chunk := connection.recv(1 << 16):
            sys.stdout.buffer.write(chunk)
            sys.stdout.flush()


def _send_input(connection: socket.socket) -> None:
    while chunk := os.read(0, 1 << 16):
        connection.sendall(chunk)
    connection.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())

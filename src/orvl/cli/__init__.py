"""The command line: words and flags only; each command has its own file, loaded when it is called."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any, TextIO, cast

import click

COMMANDS = {
    "run": "Run agents on evals and rate what they made (the default command).",
    "init": "Make a project: an agent, an eval, a score, orvl.toml.",
    "new": "Make an eval, an agent or a score; an eval also from a repository's commits.",
    "install": "Install agents at the versions that their files pin.",
    "list": "List agents, models, providers, evals, metrics and judges.",
    "doctor": "Look for what is missing or broken here.",
    "report": "Print ratings of what has been run.",
    "view": "Show boards, runs and judges in a browser.",
    "compare": "Say which of two is better, and how sure that is.",
    "check": "Test evals: whether their checks tell good work from bad, and from cheating.",
    "certify": "Test the judges on work of known quality, and write a certificate.",
    "calibrate": "Measure how harsh or generous each judge is.",
    "endpoints": "Compare providers of the same model, over all stored calls.",
    "show": "Show one run: what it did, what it left, how it was scored.",
    "replay": "Repeat a run with its recorded answers, without a provider.",
    "round-trip": "Make an eval from another: a judge builds it, and agents get its rules.",
    "score": "Score stored runs again, without running them again.",
    "label": "Score runs yourself, blind, and measure the judges by that.",
    "export": "Write runs or scores as CSV, JSON lines or Parquet; runs as ATIF; evals as tasks.",
    "import": "Put results of other tools on the board, or make evals of their tasks.",
    "gc": "Delete what no run refers to.",
}
FILES = {"import": "imports"}
"""Commands whose names cannot be those of modules."""
GROUP_FLAGS = ("-h", "--help", "--version")
TAKE_A_VALUE = ("--project", "--store")
ALONE = ("--json", "-q", "--quiet", "-v", "--verbose")

HELP = """Open real evals: which coding agent, on which model, from which provider, is best for your work?

\b
  orvl AGENT [MODEL] [PROVIDER] [EVAL] [METRIC]
  orvl dummy-good                            one agent, all its models, all evals
  orvl opencode qwen3-coder zen hello-world  one model at one provider, one eval
  orvl 'dummy-*' --eval=hello-world          names, comma lists, globs and `all`
  orvl all --dry-run                         what would run, and what it may cost

What is left out means all. Giving a command again continues it: what is finished is not run again.
"""
EPILOG = """Shell completion: eval "$(_ORVL_COMPLETE=bash_source orvl)" (zsh_source, fish_source)."""


class LazyGroup(click.Group):
    """Loads a command's file when it is called; `run` is what is meant when no command is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*COMMANDS]  # Not list(): the module of that name may be loaded.

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"orvl.cli.{FILES.get(cmd_name, cmd_name.replace('-', '_'))}").command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        return super().parse_args(ctx, with_command(args))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        from orvl.cli.complete import first_word

        return [*first_word(incomplete), *super().shell_complete(ctx, incomplete)]


def with_command(args: list[str]) -> list[str]:
    """Puts the command first: `orvl --project X report` and plain `orvl AGENT` are both understood."""
    if not args or args[0] in COMMANDS or args[0] in GROUP_FLAGS:
        return args
    at = 0
    while at < len(args):
        if args[at] in TAKE_A_VALUE:
            at += 2
        elif args[at] in ALONE or args[at].startswith(tuple(f"{flag}=" for flag in TAKE_A_VALUE)):
            at += 1
        else:
            break
    if at < len(args) and args[at] in COMMANDS:
        return [args[at], *args[:at], *args[at + 1 :]]
    return ["run", *args]


@click.group(
    cls=LazyGroup,
    help=HELP,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="orvl", prog_name="orvl")
def cli() -> None:
    pass


def main() -> None:
    """The program: errors are sentences, bugs are tracebacks."""
    from orvl.errors import DISK_IS_BROKEN, OrvlError

    _make_printable()
    # Starting BLAS's threads takes longer than all that orvl ever asks of them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        status = cli.main(prog_name="orvl", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        status = 130
    except KeyboardInterrupt:
        status = 130
    except click.ClickException as error:
        _complain(error.format_message())
        status = 2
    except OrvlError as error:
        _complain(str(error))
        status = error.exit_status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 1
    except OSError as error:
        if error.errno not in DISK_IS_BROKEN:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _complain(f"Cannot write the output: {error.strerror}. What was finished is safe.")
        status = 1
    sys.exit(status if isinstance(status, int) else 0)


def _make_printable() -> None:
    """Output that is closed, or cannot show every sign, is no reason to fail."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it is open for as long as the program
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.stderr = cast("TextIO", ForgivingStream(sys.stderr))
    if sys.stdout.isatty() or sys.stderr.isatty():
        from orvl.report.terminal import CleanStream

        # Names and words of agents, models, files and providers may be made to take over a terminal.
        sys.stdout, sys.stderr = (
            cast("TextIO", CleanStream(stream)) if stream.isatty() else stream for stream in (sys.stdout, sys.stderr)
        )


class ForgivingStream:
    """Messages and progress go here. Where nobody can read them any more (`| head -1`, a terminal that was closed, a
    full disk), they are dropped: what is running goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._give_up()
            return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        """What is still in the stream's buffer, and what comes, goes nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _complain(sentence: str) -> None:
    from orvl.report.text import plain

    sys.stderr.write(f"orvl: {plain(sentence)}\n")

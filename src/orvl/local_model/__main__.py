"""`python -m orvl.local_model` serves a local model until it is interrupted."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

import click

from orvl.errors import OrvlError
from orvl.local_model import LocalModel
from orvl.local_model.weights import SMOLLM2


@click.command()
@click.option("--port", default=0, help="Port on 127.0.0.1 (default: a free one).")
@click.option("--model", default=SMOLLM2, help="smollm2, or the path of a GGUF file.")
@click.option("--threads", default=1, help="Threads that work on an answer.")
@click.option("--context", default=8192, help="Most tokens of a question and its answer.")
@click.option("--deadline", default=240.0, help="Most seconds for loading the weights.")
def main(port: int, model: str, threads: int, context: int, deadline: float) -> None:
    """Serves a local model until it is interrupted or terminated."""
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        with LocalModel(model, threads, context=context, deadline=deadline, port=port) as server:
            click.echo(f"# {server.name} at {server.base_url}. Add these lines to orvl.toml:\n[providers.local]")
            click.echo(f'key = "LOCAL_KEY"  # the variable that holds {server.key}')
            click.echo(f'free = true\n[providers.local.protocol]\nopenai = "{server.base_url}"')
            sys.stdout.flush()
            ended.wait()
    except OrvlError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()

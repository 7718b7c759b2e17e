"""`python -m orvl.local_model` starts a local model by hand."""

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
@click.option("--port", default=0, help="The port on 127.0.0.1; a free one by default.")
@click.option("--model", default=SMOLLM2, help="smollm2, or the path of a GGUF file.")
@click.option("--threads", default=1, help="How many threads work on an answer.")
@click.option("--context", default=4096, help="The most tokens of a question and its answer.")
@click.option("--deadline", default=240.0, help="The most seconds for an answer.")
def main(port: int, model: str, threads: int, context: int, deadline: float) -> None:
    """Starts a local model, until it is interrupted or terminated."""
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        with LocalModel(model, threads, context=context, deadline=deadline, port=port) as server:
            click.echo(f"# {server.name} at {server.base_url}. These lines go into orvl.toml:\n[providers.local]")
            click.echo(f'key = "LOCAL_KEY"  # the variable that holds {server.key}')
            click.echo(f'free = true\n[providers.local.protocol]\nopenai = "{server.base_url}"')
            sys.stdout.flush()
            ended.wait()
    except OrvlError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()

"""`python -m orvl.testing` starts a scripted model server from the command line."""

from __future__ import annotations

import threading
from contextlib import suppress

import click

from orvl.gateway.wire import FORMATS
from orvl.testing import Answer, ModelServer


@click.command()
@click.option("--port", default=0, help="Port on 127.0.0.1 (default: a free one).")
@click.option("--text", default="Done.", help="The answer to every request.")
@click.option("--key", default=None, help="Key that requests must carry (default: any).")
def main(port: int, text: str, key: str | None) -> None:
    """Start a model server that always gives the same answer, until it is interrupted."""
    with ModelServer(lambda _: Answer(text), port=port, key=key) as server:
        with suppress(KeyboardInterrupt):
            click.echo(f"# A scripted model at {server.url}. Copy these lines to orvl.toml:\n[providers.scripted]")
            click.echo('key = "SCRIPTED_KEY"  # set this variable to the value of --key' if key else "free = true")
            click.echo("[providers.scripted.protocol]")
            for protocol in FORMATS:
                click.echo(f'{protocol} = "{server.base_url(protocol)}"')
            threading.Event().wait()
        click.echo(f"# {len(server.requests)} requests, {server.tokens}")


main()

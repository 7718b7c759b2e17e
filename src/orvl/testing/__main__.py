"""`python -m orvl.testing` starts a scripted model server by hand."""

from __future__ import annotations

import threading
from contextlib import suppress

import click

from orvl.gateway.wire import FORMATS
from orvl.testing import Answer, ModelServer


@click.command()
@click.option("--port", default=0, help="The port on 127.0.0.1; a free one by default.")
@click.option("--text", default="Done.", help="What the model says to everything.")
@click.option("--key", default=None, help="The key that a request must carry; any by default.")
def main(port: int, text: str, key: str | None) -> None:
    """Starts a model server that always says the same, until it is interrupted."""
    with ModelServer(lambda _: Answer(text), port=port, key=key) as server:
        with suppress(KeyboardInterrupt):
            click.echo(f"# A scripted model at {server.url}. These lines go into orvl.toml:\n[providers.scripted]")
            click.echo('key = "SCRIPTED_KEY"  # the variable that holds what --key says' if key else "free = true")
            click.echo("[providers.scripted.protocol]")
            for protocol in FORMATS:
                click.echo(f'{protocol} = "{server.base_url(protocol)}"')
            threading.Event().wait()
        click.echo(f"# {len(server.requests)} requests, {server.tokens}")


main()

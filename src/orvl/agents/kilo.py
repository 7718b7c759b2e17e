"""Kilo Code, an open source coding agent that grew out of opencode."""

from orvl import Command
from orvl.agents.opencode import arguments, configuration, models, protocol, read  # noqa: F401

install = {"npm": ["@kilocode/cli@7.7.7", "@kilocode/cli-linux-x64@7.7.7"]}
version = ["kilo", "--version"]


def command(provider, model, prompt, session, endpoint):
    return Command(
        arguments("kilo", provider, model, session, endpoint),
        stdin=prompt,
        env={
            "KILO_CONFIG_CONTENT": configuration(provider, model, endpoint),
            "KILO_DISABLE_AUTOUPDATE": "1",
            "KILO_DISABLE_MODELS_FETCH": "1",
            "KILO_DISABLE_LSP_DOWNLOAD": "1",
            "KILO_DISABLE_DEFAULT_PLUGINS": "1",
            "KILO_DISABLE_SHARE": "1",
            "KILO_DISABLE_SESSION_INGEST": "1",
            "KILO_SESSION_RETRY_LIMIT": "1",
            "KILO_TELEMETRY_LEVEL": "off",
        },
    )

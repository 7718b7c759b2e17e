"""`orvl.toml`: every field has a default, a sentence and a JSON schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from orvl.errors import FileError
from orvl.project.names import did_you_mean
from orvl.project.validation import (
    FORBID,
    Bound,
    Count,
    Flag,
    Mebibytes,
    Positive,
    Seconds,
    Weight,
    line_of,
    read_toml,
    validated,
)
from orvl.types import SandboxName

if TYPE_CHECKING:
    from pathlib import Path

PROTOCOLS = ("openai", "responses", "anthropic", "gemini")
ModelNames = list[str] | dict[str, str]
Answer = str | float | list[str | bool]


@dataclass(frozen=True)
class JudgeSettings:
    """A judge on the panel."""

    model: str = "fixed"
    """The model that judges; `fixed` gives the answers below, without a model."""
    provider: str = "none"
    """Where the model is served; `none` for the fixed judge."""
    weight: Weight = 1.0
    """How much this judge counts beside the others."""
    answers: Answer | dict[str, Answer] = "yes"
    """The fixed judge's answers, for all metrics or by metric: yes, no, cannot-tell, abstain, a score, or a list."""
    protocol: Literal["openai", "responses", "anthropic", "gemini"] | None = None
    """How the model is spoken to, where its provider offers several protocols."""
    looks: Annotated[int, Bound(ge=0, le=50)] = 0
    """How often, on metrics that allow it, it may list, read and search files or use the app before it answers."""
    options: dict[str, Any] = field(default_factory=dict)
    """Further fields of the requests, such as `temperature`, as the protocol names them."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class LocalSettings:
    """The embedded model as one more judge, whose answers are shown and never count in a rating."""

    model: str = "smollm2"
    """`smollm2`, or the path of a GGUF file."""
    threads: Count = 1
    """Threads that it computes with; the same number gives the same answers."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class PriceSettings:
    """What a model costs, in dollars for a million tokens."""

    input: Weight
    """Tokens that go in."""
    output: Weight
    """Tokens that come out, reasoning among them."""
    cached: Weight | None = None
    """Tokens that go in and were in the cache; as `input` where it is not said."""
    cache_write: Weight | None = None
    """Tokens that are put into the cache; as `input` where it is not said."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class ProviderSettings:
    """A place that serves models."""

    protocol: str | list[str] | dict[str, str] | None = None
    """What it speaks: openai, responses, anthropic or gemini; several; or each with its address."""
    base_url: str | None = None
    """Its address."""
    key: str | None = None
    """The name of the environment variable that holds its key."""
    concurrency: Count | None = None
    """How many calls it may get at once."""
    per_minute: Count | None = None
    """How many calls it may get in a minute, for each model."""
    timeout: Seconds = 300
    """Seconds without a byte from it after which a call has failed."""
    prices: dict[str, PriceSettings] = field(default_factory=dict)
    """What its models cost, by their id there, where orvl's own table does not know or is wrong."""
    free: Flag = False
    """True where it costs nothing, so that orvl does not ask before it runs a large matrix."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class AgentSettings:
    """What is added to an agent's file."""

    models: dict[str, ModelNames] = field(default_factory=dict)
    """Models by provider, added to those that the agent's file lists."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class Limits:
    """What a run may use. An eval may set those of its agent for itself: all down to `cost`."""

    turn: Seconds = 900
    """Seconds that one turn may take."""
    run: Seconds = 3600
    """Seconds that all turns of a run may take together."""
    grace: Seconds = 5
    """Seconds between SIGTERM and SIGKILL."""
    output: Mebibytes = 1024
    """MiB that an agent may print in a turn before it is stopped."""
    processes: Count = 1024
    """Processes and threads that a turn may have at once."""
    open_files: Annotated[int, Bound(ge=64)] = 4096
    """Files that one process may have open."""
    file_size: Mebibytes = 4096
    """MiB that a file may have."""
    disk: Mebibytes = 8192
    """MiB that the workspace, HOME and temporary files may take together."""
    memory: Mebibytes = 8192
    """MiB of memory that all processes of a turn may take together."""
    calls: Count = 500
    """Calls of models that a run may make."""
    tokens: Count = 50_000_000
    """Tokens that a run's calls may take together, in and out."""
    cost: Positive = 50
    """Dollars that a run's calls may cost together, as far as prices are known."""
    kept_output: Mebibytes = 16
    """MiB of a turn's output that are kept: the beginning, and the last MiB."""
    files: Count = 50_000
    """Files of a workspace that are kept."""
    file: Mebibytes = 64
    """MiB up to which a file is kept."""
    capture: Mebibytes = 1024
    """MiB of a workspace that are kept."""
    check: Seconds = 120
    """Seconds that a check may take, where it does not say itself."""
    setup: Seconds = 1800
    """Seconds that a command of an eval's `setup` may take."""
    score: Seconds = 300
    """Seconds that a score function may take, without the time in which it waits for a judge."""
    judge: Seconds = 240
    """Seconds that a judge may take for one metric of one run, from when it is first asked."""
    evidence: Annotated[int, Bound(ge=1000)] = 120_000
    """Characters of a run's files that judges are shown."""
    look: Seconds = 60
    """Seconds that the browser may look at what an eval's `app` serves."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class SandboxSettings:
    """Where runs live."""

    use: SandboxName | None = None
    """The sandbox to use where `--sandbox` does not say: bubblewrap by default."""
    image: str | None = None
    """What podman and docker make containers from: an image's name, or a folder with a root file system."""
    paths: list[str] = field(default_factory=list)
    """Files and folders that all agents may read, besides the system and their own installation."""
    registries: list[str] | None = None
    """Hosts that an eval with `network: registries` may reach, instead of the public package registries."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class Settings:
    """The settings of a project."""

    penalty: Annotated[float, Bound(ge=0)] = 0.5
    """λ ≥ 0: how much the judges' disagreement lowers a rating; above 0.5 a higher score can lower R_pen."""
    variance: Literal["seed", "unbiased"] = "seed"
    """`unbiased` divides the judges' variance by 1 − Σw²."""
    quorum: Annotated[float, Bound(ge=0, le=1)] = 0.5
    """The share of the judges' weight that must answer for a judged metric to count."""
    episodes: Count = 1
    """How many independent runs each cell gets."""
    attempts: Count = 3
    """How often a run is tried when something other than the agent breaks."""
    concurrency: Count | None = None
    """How many runs go on at once; by default twice the processor's cores, from 4 to 16."""
    store: str | None = None
    """Where results are kept: a folder, by default `.orvl` in the project."""
    engine: Literal["local"] = "local"
    """Who carries runs out."""
    judges: dict[str, JudgeSettings] = field(default_factory=dict)
    """The panel."""
    local: LocalSettings | None = None
    """The embedded model on the panel, beside the judges; none where the table is not there."""
    metrics: dict[str, Weight] = field(default_factory=dict)
    """Metrics and their weights, for evals that name none."""
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    """What is added to agents' files."""
    providers: dict[str, ProviderSettings] = field(default_factory=dict)
    """Places that serve models."""
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    """The walls around runs."""
    limits: Limits = field(default_factory=Limits)
    """What a run may use."""
    __pydantic_config__ = FORBID


def load_settings(path: Path) -> Settings:
    """Reads orvl.toml; without the file, all settings have their defaults."""
    text, data = read_toml(path)
    if not data:
        return Settings()
    settings = validated(Settings, data, "orvl.toml", lambda place, why: FileError(path, line_of(text, place), why))
    _check_addresses(path, text, settings)
    return settings


def schema() -> dict[str, Any]:
    """The JSON schema of orvl.toml, for editors."""
    from pydantic import TypeAdapter

    # Reading the docstrings of fields takes pydantic longer than all else; only the schema shows them.
    FORBID["use_attribute_docstrings"] = True
    return {"title": "orvl.toml", **TypeAdapter(Settings).json_schema()}


def _check_addresses(path: Path, text: str, settings: Settings) -> None:
    from urllib.parse import urlsplit

    for name, provider in settings.providers.items():
        protocols = provider.protocol.values() if isinstance(provider.protocol, dict) else ()
        named = [provider.protocol] if isinstance(provider.protocol, str) else provider.protocol or ()
        if provider.key and not re.fullmatch(r"[A-Za-z_]\w*", provider.key):
            line = line_of(text, ("providers", name, "key"))
            raise FileError(
                path, line, "'key' is the name of the environment variable that holds the key, not the key."
            )
        if unknown := [protocol for protocol in named if protocol not in PROTOCOLS]:
            line = line_of(text, ("providers", name, "protocol"))
            sentence = f"there is no protocol '{unknown[0]}'. {did_you_mean(unknown[0], PROTOCOLS)}"
            raise FileError(path, line, sentence)
        for address in filter(None, (provider.base_url, *protocols)):
            try:
                good = urlsplit(address).scheme in ("http", "https") and urlsplit(address).hostname
            except ValueError:
                good = None
            if not good:
                line = line_of(text, ("providers", name, "base_url"))
                raise FileError(path, line, f"'{address}' is not an address such as http://127.0.0.1:8080/v1.")

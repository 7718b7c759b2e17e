"""`orvl.toml`: every field has a default, a description and a JSON schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

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
    Text,
    Weight,
    line_of,
    read_toml,
    validated,
)
from orvl.types import SandboxName

if TYPE_CHECKING:
    from pathlib import Path

ProtocolName = Literal["openai", "responses", "anthropic", "gemini"]
"""The wire formats; each has its file in gateway/wire/."""
PROTOCOLS: tuple[str, ...] = get_args(ProtocolName)
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
    """How much this judge counts relative to the others."""
    answers: Answer | dict[str, Answer] = "yes"
    """The fixed judge's answers, for all metrics or by metric: yes, no, cannot-tell, abstain, a score, or a list."""
    protocol: ProtocolName | None = None
    """Protocol to call the model with, if its provider offers several."""
    looks: Annotated[int, Bound(ge=0, le=50)] = 0
    """How often, on metrics that allow it, it may list, read and search files or use the app before answering."""
    options: dict[str, Any] = field(default_factory=dict)
    """Additional request fields, such as `temperature`, as the protocol names them."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class UserSettings:
    """The model that decides what the users of evals answer to agents; it selects from what an eval says."""

    model: Text
    """The model."""
    provider: Text
    """Where it is served."""
    protocol: ProtocolName | None = None
    """Protocol to call the model with, if its provider offers several."""
    options: dict[str, Any] = field(default_factory=dict)
    """Additional request fields, as the protocol names them; `temperature` is 0 unless it is set here."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class LocalSettings:
    """The embedded model as another judge; its answers are shown, but never part of a rating."""

    model: str = "smollm2"
    """`smollm2`, or the path of a GGUF file."""
    threads: Count = 1
    """Number of threads; the same number gives the same answers."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class PriceSettings:
    """What a model costs, in dollars per million tokens."""

    input: Weight
    """Input tokens."""
    output: Weight
    """Output tokens, including reasoning."""
    cached: Weight | None = None
    """Input tokens read from the cache; the same as `input` by default."""
    cache_write: Weight | None = None
    """Input tokens written to the cache; the same as `input` by default."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class ProviderSettings:
    """A provider of models."""

    protocol: str | list[str] | dict[str, str] | None = None
    """Its protocol (openai, responses, anthropic or gemini), several of them, or each with its address."""
    base_url: str | None = None
    """Its address."""
    key: str | None = None
    """The name of the environment variable that holds its key."""
    concurrency: Count | None = None
    """Maximum number of concurrent calls."""
    per_minute: Count | None = None
    """Maximum number of calls per minute, for each model."""
    timeout: Seconds = 300
    """Seconds without a byte after which a call has failed."""
    prices: dict[str, PriceSettings] = field(default_factory=dict)
    """Prices by the provider's model id, if orvl's own table lacks them or is wrong."""
    free: Flag = False
    """True if it costs nothing: orvl then does not ask before running a large matrix."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class AgentSettings:
    """Additions to an agent's file."""

    models: dict[str, ModelNames] = field(default_factory=dict)
    """Models by provider, added to those that the agent's file lists."""
    other_models: Flag = False
    """True if it may call other models than the one that its run was given; such calls are marked."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class Limits:
    """Limits of a run. An eval may override those of its agent: all down to `cost`."""

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
    """Files that a process may have open."""
    file_size: Mebibytes = 4096
    """Largest file that a process may write, in MiB."""
    disk: Mebibytes = 8192
    """MiB that the workspace, HOME and temporary files may take together."""
    memory: Mebibytes = 8192
    """MiB of memory that all processes of a turn may take together."""
    calls: Count = 500
    """Model calls that a run may make."""
    tokens: Count = 50_000_000
    """Tokens that a run's calls may use together, input and output."""
    cost: Positive = 50
    """Dollars that a run's calls may cost together, as far as prices are known."""
    kept_output: Mebibytes = 16
    """MiB of a turn's output that are kept: the beginning and the last MiB."""
    files: Count = 50_000
    """Number of files of a workspace that are kept."""
    file: Mebibytes = 64
    """Largest file that is kept, in MiB."""
    capture: Mebibytes = 1024
    """MiB of a workspace that are kept."""
    check: Seconds = 120
    """Seconds that a check may take, unless it sets its own limit."""
    setup: Seconds = 1800
    """Seconds that a command of an eval's `setup` may take."""
    score: Seconds = 300
    """Seconds that a score function may take, not counting time waiting for a judge."""
    judge: Seconds = 240
    """Seconds that a judge may take for one metric of one run, from its first call."""
    evidence: Annotated[int, Bound(ge=1000)] = 120_000
    """Characters of a run's files that judges are shown."""
    look: Seconds = 60
    """Seconds that the browser may spend on an eval's `app`."""
    __pydantic_config__ = FORBID


@dataclass(frozen=True)
class SandboxSettings:
    """The sandbox of runs."""

    use: SandboxName | None = None
    """Sandbox, unless `--sandbox` is given (default: bubblewrap)."""
    image: str | None = None
    """Image of podman and docker containers: a name, or a folder with a root file system."""
    paths: list[str] = field(default_factory=list)
    """Files and folders that all agents may read, besides the system and their own installation."""
    registries: list[str] | None = None
    """Hosts that an eval with `network: registries` may reach instead of the public package registries."""
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
    told: Annotated[float, Bound(ge=0, le=1)] = 0.5
    """The share of a checklist, by weight, that a judge must answer yes or no; below it the judge abstains."""
    episodes: Count = 1
    """How many independent runs each cell gets."""
    seed: str = ""
    """What evals with `vary` draw their values from: with another seed they are other runs."""
    attempts: Count = 3
    """How often a run is tried if something other than the agent fails."""
    concurrency: Count | None = None
    """Number of concurrent runs (default: twice the number of cores, between 4 and 16)."""
    store: str | None = None
    """Folder of the results (default: `.orvl` in the project)."""
    engine: Literal["local"] = "local"
    """Execution engine."""
    judges: dict[str, JudgeSettings] = field(default_factory=dict)
    """The panel."""
    user: UserSettings | None = None
    """The model that answers for users, where evals have a `user`."""
    local: LocalSettings | None = None
    """The embedded model on the panel, if the table is present."""
    metrics: dict[str, Weight] = field(default_factory=dict)
    """Metrics and their weights, for evals that name none."""
    evals: list[str] = field(default_factory=list)
    """What `all` evals means besides the project's own: names, globs, or tiers such as `smoke` and `core`."""
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    """Additions to agents' files."""
    providers: dict[str, ProviderSettings] = field(default_factory=dict)
    """Providers of models."""
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    """Which sandbox runs have, and what they may reach."""
    limits: Limits = field(default_factory=Limits)
    """Limits of a run."""
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
                path, line, "'key' must be the name of the environment variable with the key, not the key itself."
            )
        if unknown := [protocol for protocol in named if protocol not in PROTOCOLS]:
            line = line_of(text, ("providers", name, "protocol"))
            sentence = f"unknown protocol '{unknown[0]}'. {did_you_mean(unknown[0], PROTOCOLS)}"
            raise FileError(path, line, sentence)
        for address in filter(None, (provider.base_url, *protocols)):
            try:
                good = urlsplit(address).scheme in ("http", "https") and urlsplit(address).hostname
            except ValueError:
                good = None
            if not good:
                line = line_of(text, ("providers", name, "base_url"))
                raise FileError(path, line, f"'{address}' is not a URL such as http://127.0.0.1:8080/v1.")

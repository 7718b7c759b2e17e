"""The nouns of orvl: agent, eval, metric, judge, cell, run, capture, score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

MEBI = 1 << 20
Outcome = Literal["finished", "failed", "errored"]
Isolation = Literal["separate", "in-process", "none"]
SandboxName = Literal["bubblewrap", "podman", "docker", "none"]
"""Each has a file in sandbox/."""
IMPORTED = "imported:"
"""Before the names of agents whose results other tools have measured; no file can have it in its name."""
CACHED_TOKEN, OUTPUT_TOKEN = 0.1, 5.0
"""What a token that was cached, and one of an answer, weigh against one that was sent and not cached."""
ScoreKind = Literal["scored", "abstained", "not applicable", "no judge", "error"]


@dataclass(frozen=True)
class Command:
    """What an agent's `command` may return when a line of words is not enough."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    stdin: str | bytes | None = None


@dataclass(frozen=True)
class AgentEndpoint:
    """Where an agent finds its model: the gateway's address, and a key that is good for this run alone."""

    url: str
    key: str
    protocol: str


@dataclass(frozen=True)
class Overlay:
    """A configuration that is laid over an agent; `agents` are names and globs of those that it fits, if not all."""

    name: str
    path: Path
    digest: str
    description: str = ""
    workspace: Path | None = None
    home: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agent:
    """A coding agent with a command line."""

    name: str
    path: Path
    origin: str
    digest: str
    description: str
    models: Mapping[str, Mapping[str, str]]
    command: Callable[..., Any]
    read: Callable[..., Any] | None = None
    version: Sequence[str] = ()
    protocols: tuple[str, ...] = ()
    """What it speaks to models, the best first; none where its file does not say."""
    speaks_acp: bool = False
    install: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    control: str | None = None
    paths: tuple[Path, ...] = ()
    at: str | None = None
    """The version that was asked for by name, instead of the one that its file pins."""
    overlays: tuple[Overlay, ...] = ()

    @property
    def file_name(self) -> str:
        """Its name without a version and overlays."""
        return self.name.partition("+")[0].partition("@")[0]


@dataclass(frozen=True)
class Check:
    """A command that looks at what the agent left; exit status 0 is a pass. Or steps in a browser, which all pass."""

    name: str
    run: str
    limit: float
    weight: float = 1.0
    isolated: bool = False
    """Whether the command and the agent's work have a sandbox each."""
    steps: tuple[str, ...] = ()
    turn: int = 0
    """The turn from which on it is due; 0: the last one."""
    until: int = 0
    """The turn from which on it is retired, because the user has withdrawn the wish; 0: never."""
    keep: bool = False
    """Whether it passes before the agent begins: what was there must stay."""
    verifier: str = ""
    """The folder of `checks/` that it is shown at /tests, where it tells how good the work is by a reward."""

    @property
    def is_beside(self) -> bool:
        """Whether it runs beside the agent's files, in a folder that it shares with others."""
        return not self.isolated and not self.steps and not self.verifier


@dataclass(frozen=True)
class Placeholder:
    """`{{key}}` in a prompt."""

    key: str


@dataclass(frozen=True)
class Paste:
    """`{{output: COMMAND}}` in a prompt: what the command prints in a copy of the workspace."""

    command: tuple[str | Placeholder, ...]


@dataclass(frozen=True)
class When:
    """A wording is for the case that a check passed, or failed, after the turn before."""

    check: str
    passed: bool


@dataclass(frozen=True)
class Wording:
    """One of the ways to say a prompt."""

    parts: tuple[str | Placeholder | Paste, ...]
    when: When | None = None

    @property
    def pastes(self) -> tuple[Paste, ...]:
        return tuple(part for part in self.parts if isinstance(part, Paste))


@dataclass(frozen=True)
class EvalUser:
    """Who answers what agents ask: a model that selects from facts in fixed wording, and writes nothing itself."""

    facts: Mapping[str, str]
    goal: str = ""
    patience: int = 8
    """Answers in a whole conversation."""
    model: str = ""
    """The identity of the model that selects, as orvl.toml has it; empty where it names none."""
    later: Mapping[str, int] = field(default_factory=dict)
    """Facts that are not told before a turn."""

    def in_turn(self, turn: int) -> EvalUser:
        """The user as far as the model, and so the agent, may know in a turn."""
        if all(first <= turn for first in self.later.values()):
            return self
        return replace(self, facts={name: text for name, text in self.facts.items() if self.later.get(name, 1) <= turn})


@dataclass(frozen=True)
class UserPart:
    """What a user had to say in a run beside the eval's prompts, and what the model that decided it took."""

    corrections: int = 0
    """Turns that were about a check that had failed."""
    answers: int = 0
    """Messages that answer what the agent asked."""
    replies: int = 0
    """Replies of the agent that the model looked at."""
    calls: int = 0
    """Of the model; what was asked before is not asked again."""
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: float | None = 0.0


Choices = tuple[str | int, ...] | range
"""What one value is drawn from."""


@dataclass(frozen=True)
class Draw:
    """What chance has chosen for an episode of an eval. Checks may know it; agents may not."""

    seed: bytes = field(repr=False)
    """From which all else of the episode follows."""
    values: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Eval:
    """A conversation, one prompt a turn, and how its result is looked at."""

    name: str
    path: Path
    origin: str
    digest: str
    scoring_digest: str
    checks_digest: str
    description: str
    prompts: tuple[str, ...]
    """As they are written; of an eval that was drawn, as they are said."""
    metrics: Mapping[str, float] | None = None
    only_names_metrics: bool = False
    """Whether it leaves their weights to the project."""
    checks: tuple[Check, ...] = ()
    par: Mapping[str, float] = field(default_factory=dict)
    floor: float = 0.0
    """What doing nothing gets on its checks: efficiency is earned by what is above it."""
    items: Mapping[str, EvalItems] = field(default_factory=dict)
    """By metric: requirements of this eval."""
    limits: Mapping[str, float] = field(default_factory=dict)
    app: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    network: str | None = None
    workdir: str = ""
    """The absolute path of the workspace inside a sandbox, if not the usual one."""
    places: tuple[str, ...] = ()
    """Absolute paths besides it that a run may write to; what is there is kept in the workspace."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of the setup, the agent and checks."""
    imported: Mapping[str, str] = field(default_factory=dict)
    """Where it comes from, if it is a task of another tool."""
    family: str = ""
    """Evals of one family are related, and count as one piece of evidence; empty: of its own."""
    folder: Path | None = None
    workspace_digest: str = ""
    """Of `workspace/`, where there is one."""
    has_linters: bool = False
    """Whether its workspace configures linters or formatters."""
    has_rules: bool = False
    """Whether its workspace has rules for agents, such as an AGENTS.md."""
    control_digests: Mapping[str, str] = field(default_factory=dict)
    tier: str = ""
    """The name of a group of evals that it belongs to."""
    vary: Mapping[str, Choices] = field(default_factory=dict)
    """By name, what differs from episode to episode."""
    wordings: tuple[tuple[Wording, ...], ...] = ()
    """By turn; none where every prompt is said as it is written. Where conditions stand before them, what happens in
    the run decides."""
    variants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By name and value: the digest of what is laid over the workspace where that value was drawn."""
    seed: str = ""
    """The project's: another one draws other values."""
    drawn: Draw | None = None
    user: EvalUser | None = None
    private: bool = False
    """Whether nothing but its ratings is written into reports and exports."""
    said: tuple[str, ...] = ()
    """Words that checks need although nothing that the agent sees says them."""
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def varies(self) -> bool:
        """Whether its episodes differ from each other."""
        return bool(self.vary) or any(len(turn) > 1 for turn in self.wordings)

    @property
    def pastes(self) -> bool:
        """Whether a prompt has in it what a command prints."""
        return any(wording.pastes for turn in self.wordings for wording in turn)

    def asked_before(self, turn: int) -> frozenset[str]:
        """The checks after the turn before on which it depends what is said in a turn."""
        wordings = self.wordings[turn - 1] if turn <= len(self.wordings) else ()
        return frozenset(wording.when.check for wording in wordings if wording.when)

    @property
    def layers(self) -> tuple[tuple[Path, str], ...]:
        """What is laid over the workspace, in this order, each with its digest."""
        values = self.drawn.values if self.drawn else {}
        chosen = [(key, str(values[key])) for key in self.variants if key in values]
        parts = [(self.part(f"variants/{key}/{value}"), self.variants[key].get(value)) for key, value in chosen]
        return tuple((folder, digest) for folder, digest in parts if folder and digest)

    @property
    def has_files(self) -> bool:
        """Whether its runs start with files."""
        return self.part("workspace") is not None or bool(self.layers)

    def due(self, check: Check) -> int:
        """The turn from which on a check is due."""
        return check.turn or len(self.prompts)

    def is_active(self, check: Check, turn: int) -> bool:
        """Whether what a check looks for is still wanted after a turn."""
        return self.due(check) <= turn and not (check.until and turn >= check.until)

    @property
    def checked_turns(self) -> tuple[int, ...]:
        """The turns before the last after which something is checked."""
        turns = range(1, len(self.prompts))
        return tuple(turn for turn in turns if any(self.is_active(check, turn) for check in self.checks))

    def isolation_of(self, check: Check) -> Isolation:
        """Where the agent's work runs for a check, behind walls."""
        return "separate" if check.isolated or check.steps else "in-process"

    def part(self, name: str) -> Path | None:
        """A folder beside `eval.md`, if the eval has it."""
        found = self.folder / name if self.folder else None
        return found.resolve() if found and found.is_dir() else None


class ChecklistItem(tuple[str, float]):
    """A sentence of a checklist with its weight, and which answer, yes or no, good work gets to it."""

    good: Literal["yes", "no"]

    def __new__(cls, text: str, weight: float = 1.0, good: Literal["yes", "no"] = "yes") -> ChecklistItem:
        made = super().__new__(cls, (text, weight))
        made.good = good
        return made


@dataclass(frozen=True)
class EvalItems:
    """Items that an eval brings for a metric: beside the metric's own, or instead of them."""

    items: tuple[ChecklistItem, ...]
    replace: bool = False

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True)
class Metric:
    """What is scored, 0 to 1."""

    name: str
    path: Path
    origin: str
    digest: str
    description: str
    weight: float = 1.0
    par: float | None = None
    items: tuple[tuple[str, float], ...] = ()
    """The sentences of a checklist, each with its weight; a ChecklistItem may also want a no."""
    function: Callable[..., Any] | None = None
    judged: bool = False
    may_look: bool = False
    """Whether judges with `looks` may use them on it."""
    needs_judge: bool = False
    """Whether it can say nothing where there is no judge."""
    earned: bool = False
    """Whether it tells how little a run took, which counts only as far as the work works."""


@dataclass(frozen=True)
class Judge:
    """A model on the panel, with a weight."""

    name: str
    model: str
    provider: str
    weight: float
    key: str
    answers: Any = "yes"
    protocol: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    room: int = 120_000
    """Characters of files that it is shown."""
    is_local: bool = False
    """Whether it is the embedded model."""
    threads: int = 1
    looks: int = 0
    """How often it may look at files, or use the app, by itself."""
    told: float = 0.5
    """The share of a checklist that it must tell, by weight; below it abstains."""


@dataclass(frozen=True)
class Cell:
    """Agent × model × provider × eval, under one identity."""

    key: str
    agent: Agent
    version: str
    provider: str
    model: str
    model_id: str
    eval: Eval
    files: Mapping[str, str] = field(default_factory=dict)
    """Files behind the agent by their names, with the hash of each: what its command names, and what lies beside it."""

    @property
    def names(self) -> tuple[str, str, str, str]:
        return self.agent.name, self.model, self.provider, self.eval.name

    @property
    def contestant(self) -> tuple[str, str, str]:
        return self.agent.name, self.model, self.provider

    def __str__(self) -> str:
        return " ".join(self.names)


@dataclass(frozen=True)
class PlannedRun:
    """One episode of a cell, to be carried out once."""

    key: str
    cell: Cell
    episode: int


@dataclass(frozen=True)
class Usage:
    """What a run used; None means that nobody knows."""

    seconds: float | None = 0.0
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    tool_calls: int | None = None
    cost_usd: float | None = None
    cost_source: str | None = None
    """metered, provider, agent, none; bound where it is an upper bound alone."""
    is_bound: bool = False
    """Whether tokens and cost are upper bounds: a provider's own count of a call did not arrive."""
    model_seconds: float | None = None
    """While a model was at work. This, tools, own and waiting add up to the turns' time."""
    tools_seconds: float | None = None
    """Between an answer that called tools and the next call."""
    own_seconds: float | None = None
    waiting_seconds: float | None = None
    """While orvl held back every open call; it is no part of `seconds`."""

    @property
    def tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    @property
    def weighted_tokens(self) -> float | None:
        """Tokens by what they usually cost: a cached one a tenth, one of an answer five times as much.

        Where nobody knows how many were cached, none were.
        """
        if self.input_tokens is None or self.output_tokens is None:
            return None
        cached = min(self.cached_tokens or 0, self.input_tokens)
        return self.input_tokens - cached + CACHED_TOKEN * cached + OUTPUT_TOKEN * self.output_tokens


@dataclass(frozen=True)
class CallIssue:
    """Something about a call of a model that an endpoint, or the agent, did not do well."""

    kind: str
    detail: str


@dataclass(frozen=True)
class ModelCall:
    """One call of a model, as the gateway saw it; None means that nobody knows."""

    number: int
    turn: int
    protocol: str
    asked_model: str
    started: float
    stream: bool = False
    status: int | None = None
    """The host's status; None where it did not answer."""
    trouble: str | None = None
    """Why the call failed, in the host's words."""
    left: bool = False
    """Whether the agent went away before the answer was over."""
    tries: int = 1
    seconds: float = 0.0
    waited: float = 0.0
    """Seconds that orvl itself held it back."""
    first_token: float | None = None
    """Seconds until the first token of a stream."""
    served_model: str | None = None
    host: str | None = None
    finish: str | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    cost_source: str | None = None
    tool_calls: int = 0
    answers_back: int = 0
    reasoning_given: bool = False
    reasoning_back: bool | None = None
    """Whether the agent sent earlier reasoning along; None where there was none to send."""
    is_bound: bool = False
    """Whether tokens and cost are upper bounds: the provider's own count did not arrive."""
    findings: tuple[CallIssue, ...] = ()


@dataclass(frozen=True)
class Turn:
    """One prompt and how the agent's process ended."""

    seconds: float
    cpu_seconds: float
    status: int | None
    cut: str | None
    session: str | None
    stdout: str | None
    stderr: str | None
    output_bytes: int
    left_out_bytes: int = 0
    cpu_pressure: float | None = None
    """The share of the time in which something on this machine waited for a processor."""
    loaded: bool = False
    """Whether that was so much that it tells about the machine, not the agent, how long the turn took."""
    tree: str | None = None
    """The workspace after the turn, where something is checked there; after the last one it is the attempt's."""
    of: int = 0
    """The turn of the eval that it is a part of, where answers of the user make several of one; else 0."""
    asked: str = ""
    """The end of what the agent said, where the user answered it."""


@dataclass(frozen=True)
class CheckResult:
    """How one check ended."""

    name: str
    passed: bool
    status: int | None
    seconds: float
    output: str
    weight: float = 1.0
    cut: str | None = None
    isolation: Isolation = "in-process"
    """Where the agent's work ran: `separate`, in a sandbox of its own; `in-process`, in that of the check; or `none`,
    without walls between them."""
    turn: int = 0
    """After which turn; 0: at the end of the run."""
    due: int = 0
    """The turn from which on it is due; 0: the last one."""
    keep: bool = False
    """Whether it passes before the agent begins."""
    share: float | None = None
    """The share of its cases that passed, where it has counted them."""

    @property
    def value(self) -> float:
        """From 0 to 1."""
        return float(self.passed) if self.share is None else self.share


REFUSED_CALLS = ("another model", "malformed request")
"""Reasons to refuse a call of a model; other refused requests, as with another key or path, are none."""


@dataclass(frozen=True)
class Attempt:
    """One try at a run, with all that it left behind; never changed once stored."""

    outcome: Outcome
    reason: str | None
    started: float
    usage: Usage
    turns: tuple[Turn, ...] = ()
    steps: str | None = None
    start_tree: str | None = None
    tree: str | None = None
    cut: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] | None = None
    sandbox: str = "none"
    retry: bool = False
    calls: tuple[ModelCall, ...] = ()
    record: str | None = None
    """What was asked of models and what they answered, word for word."""
    told: Usage | None = None
    """The agent's own figures, where `usage` has the gateway's."""
    contestant: str | None = None
    """The identity of agent, model and provider, where the agent speaks to its model through orvl."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """How many requests of the agent the gateway did not pass on, by the reason."""
    prompts: tuple[str, ...] = ()
    """What the agent was told, turn by turn, where that is not what the eval says to all."""
    user: UserPart | None = None
    """What the user had to say beside the eval's prompts, where that depends on the agent."""

    @property
    def has_called(self) -> bool:
        """Whether the agent has reached the door to its model: it called one, or would have, had it asked rightly."""
        return bool(self.calls) or any(kind in self.refused for kind in REFUSED_CALLS)


LINT_BY_TURN = "lint by turn"
"""The kind of inspection that has the number of new findings of linters after each turn."""
WEAKENED = "weakened"
"""The kind of inspection that says how a run weakened the configuration of its project's linters."""


@dataclass(frozen=True)
class Inspection:
    """What a program found out about a capture, such as a browser or linters; kept beside it."""

    kind: str
    key: str
    results: str
    """The blob that holds it."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Blobs of pictures, by file name."""


@dataclass(frozen=True)
class Score:
    """One judge's answer, or one function's, on one metric of one run."""

    metric: str
    metric_key: str
    judge: str
    judge_key: str
    sample: int
    kind: ScoreKind
    value: float | None = None
    reason: str | None = None
    detail: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ImportedRun:
    """One result of another tool; what it does not tell is None."""

    episode: int
    scores: tuple[float | None, ...]
    """In the order of its cell's metrics."""
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ImportedCell:
    """Results of another tool for one agent × model × provider × eval; a model that it does not tell is ''."""

    names: tuple[str, str, str, str]
    metrics: tuple[str, ...]
    """Those that its source has for this eval."""
    runs: tuple[ImportedRun, ...]


@dataclass(frozen=True)
class Layout:
    """The rows (judges) and columns (metrics) of S for the runs of one eval."""

    key: str
    judges: tuple[tuple[str, str], ...]
    metrics: tuple[tuple[str, str], ...]
    judged: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.judges), len(self.metrics)

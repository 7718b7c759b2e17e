"""A project: its agents, overlays, evals, scores and settings, each loaded when it is first used."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from orvl.errors import FileError, OrvlError, UserError
from orvl.project.default_weights import default_weights
from orvl.project.find import Kind, SourceFile, find
from orvl.project.names import Contestant, did_you_mean, is_pattern, matching, name_of
from orvl.project.settings import ModelNames, Settings, load_settings
from orvl.project.validation import line_of
from orvl.types import Agent, Eval, Judge, Metric, Overlay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WeightsFrom = Literal["eval", "orvl.toml", "default", "words"]
"""Who says what counts: an eval, [metrics], orvl itself, or the words of a command."""
T = TypeVar("T")
PARTS = ("agents", "evals", "scores", "orvl.toml")


class Project:
    """A user's folder, with packaged and built-in agents, evals and scores as fallbacks."""

    def __init__(self, root: Path) -> None:
        if root.exists() and not root.is_dir():
            raise UserError(f"The project {root} is not a folder.")
        if not root.is_dir():
            raise UserError(f"There is no project folder {root}. Create one with: orvl init {root}")
        self.root = root
        self._loaded: dict[tuple[str, str], object] = {}
        if str(root) not in sys.path:
            sys.path.append(str(root))

    @cached_property
    def settings(self) -> Settings:
        return load_settings(self.settings_file)

    @property
    def settings_file(self) -> Path:
        return self.root / "orvl.toml"

    @cached_property
    def agent_files(self) -> dict[str, SourceFile]:
        return find(self.root, "agents")

    @cached_property
    def overlay_files(self) -> dict[str, SourceFile]:
        return find(self.root, "overlays")

    @cached_property
    def eval_files(self) -> dict[str, SourceFile]:
        return find(self.root, "evals")

    @cached_property
    def metric_files(self) -> dict[str, SourceFile]:
        return find(self.root, "scores")

    def agent(self, name: str) -> Agent:
        """The agent of that name: `AGENT`, or `AGENT@VERSION+OVERLAY`, which is a contestant of its own."""
        contestant = Contestant.of(name)

        def load(file: SourceFile) -> Agent:
            from orvl.project.agents import load_agent

            return load_agent(file, self._extra_models(contestant.agent))

        plain = self._load("agents", contestant.agent, self.agent_files, load)
        return plain if plain.name == name else self._contestant(plain, contestant)

    def _contestant(self, plain: Agent, contestant: Contestant) -> Agent:
        from orvl.project.agents import at_version
        from orvl.project.overlays import with_overlays

        agent = plain if contestant.version is None else at_version(plain, contestant.version)
        return (
            with_overlays(agent, [self.overlay(name) for name in contestant.overlays]) if contestant.overlays else agent
        )

    def overlay(self, name: str) -> Overlay:
        def load(file: SourceFile) -> Overlay:
            from orvl.project.overlays import load_overlay

            loaded = load_overlay(file)
            for agent in loaded.agents:
                if not is_pattern(agent) and agent not in self.agent_files:
                    path = file.path / "overlay.toml"
                    sentence = f"there is no agent '{agent}'. {did_you_mean(agent, self.agent_files)}"
                    raise FileError(path, line_in(path, "agents"), sentence)
            return loaded

        if name not in self.overlay_files:
            hint = did_you_mean(name, self.overlay_files)
            raise UserError(f"There is no overlay '{name}'. {hint} See: orvl list overlays")
        return self._load("overlays", name, self.overlay_files, load)

    def eval(self, name: str) -> Eval:
        def load(file: SourceFile) -> Eval:
            from orvl.project.evals import load_eval

            loaded = load_eval(file, self.settings.limits.check, self.settings.seed, self.settings.user)
            self._known_metrics(loaded.metrics or (), file.path, lambda _: loaded.lines.get("metrics"))
            self._known_metrics(loaded.par, file.path, lambda _: loaded.lines.get("par"))
            self._known_metrics(loaded.items, file.path, lambda _: loaded.lines.get("items"))
            self._have_checklists(loaded)
            return loaded

        return self._load("evals", name, self.eval_files, load)

    @cached_property
    def tiers(self) -> dict[str, list[str]]:
        """The evals of each tier; one that cannot be loaded is of none."""
        tiers: dict[str, list[str]] = {}
        for name in self.eval_files:
            with suppress(OrvlError):
                if tier := self.eval(name).tier:
                    tiers.setdefault(tier, []).append(name)
        return tiers

    def evals_matching(self, word: str) -> list[str]:
        """The evals that a name, a glob, a tier or `all` stands for; a name comes before a tier of the same name."""
        if word == "all":
            return list(self.all_evals)
        return matching(word, self.eval_files) or ([] if is_pattern(word) else self.tiers.get(word, []))

    @cached_property
    def all_evals(self) -> tuple[str, ...]:
        """What `all` means: the project's own evals and those that orvl.toml adds; where there are none, every one."""
        own = [name for name, file in self.eval_files.items() if file.origin == "project"]
        added = []
        for word in self.settings.evals:
            names = list(self.eval_files) if word == "all" else self.evals_matching(word)
            if not names:
                line, known = line_in(self.settings_file, "evals"), (*self.eval_files, *self.tiers)
                raise FileError(
                    self.settings_file, line, f"there is no eval or tier '{word}'. {did_you_mean(word, known)}"
                )
            added += names
        return tuple(dict.fromkeys((*own, *added))) or tuple(self.eval_files)

    def _have_checklists(self, eval_: Eval) -> None:
        """An eval may bring items only for metrics that ask judges some."""
        for name in eval_.items:
            if not self.metric(name).items:
                others = [one for one in self.metric_files if self.metric(one).items]
                sentence = (
                    f"the metric '{name}' has no checklist, so it asks no items. These have: {', '.join(others)}."
                )
                raise FileError(eval_.path, eval_.lines.get("items"), sentence)

    def metric(self, name: str) -> Metric:
        def load(file: SourceFile) -> Metric:
            from orvl.project.scores import load_metric

            return load_metric(file)

        return self._load("scores", name, self.metric_files, load)

    def weights(self, eval_: Eval, judges: Sequence[Judge]) -> dict[str, float]:
        """The metrics of an eval: its own, else the project's, else all that apply, with the default weights.

        A metric that an eval only names has the project's weight, else 1.
        """
        path = self.settings_file
        self._known_metrics(self.settings.metrics, path, lambda name: line_in(path, "metrics", name))
        if self.settings.metrics and not any(self.settings.metrics.values()):
            raise FileError(
                path, line_in(path, "metrics"), "[metrics] has only weights of 0; at least one must be above 0."
            )
        if eval_.metrics is not None:
            usual = self.settings.metrics if eval_.only_names_metrics else {}
            return {**eval_.metrics, **{name: usual[name] for name in eval_.metrics if name in usual}}
        if self.settings.metrics:
            return dict(self.settings.metrics)
        return default_weights((self.metric(name) for name in self.metric_files), eval_, judges)

    def weights_from(self, eval_: Eval) -> WeightsFrom:
        """Who says what counts on an eval."""
        if eval_.metrics is not None and not (eval_.only_names_metrics and self.settings.metrics):
            return "eval"
        return "orvl.toml" if self.settings.metrics else "default"

    def panel(self, names: Iterable[str] = ()) -> list[Judge]:
        """The judges of orvl.toml, or those named."""
        from orvl.project.judges import panel

        path = self.settings_file
        judges = panel(self.settings, names, path, lambda *place: line_in(path, *place))
        for judge in judges:
            self._known_answers(judge)
        return judges

    def _known_answers(self, judge: Judge) -> None:
        """The fixed judge's answers may be by metric; every such metric must exist."""
        if isinstance(judge.answers, dict):
            line = line_in(self.settings_file, "judges", judge.name, "answers")
            self._known_metrics(judge.answers, self.settings_file, lambda _: line)

    def _known_metrics(self, names: Iterable[str], path: Path, line: Callable[[str], int | None]) -> None:
        for name in names:
            if name not in self.metric_files:
                raise FileError(
                    path, line(name), f"there is no metric '{name}'. {did_you_mean(name, self.metric_files)}"
                )

    def _extra_models(self, name: str) -> dict[str, ModelNames]:
        """The models that orvl.toml adds to an agent's file."""
        extra: dict[str, ModelNames] = {}
        for key, added in self.settings.agents.items():
            if name_of(key) not in self.agent_files:
                line = line_in(self.settings_file, "agents", key)
                sentence = f"there is no agent '{key}'. {did_you_mean(key, self.agent_files)}"
                raise FileError(self.settings_file, line, sentence)
            if name_of(key) == name:
                extra.update(added.models)
            for provider, models in added.models.items():
                if not all(models) or (isinstance(models, dict) and not all(models.values())):
                    line = line_in(self.settings_file, "agents", key, "models", provider)
                    raise FileError(self.settings_file, line, f"a model of '{provider}' has no name.")
        return extra

    def _load(self, kind: Kind, name: str, files: dict[str, SourceFile], load: Callable[[SourceFile], T]) -> T:
        if (kind, name) not in self._loaded:
            self._loaded[kind, name] = load(files[name])
        return self._loaded[kind, name]  # type: ignore[return-value]


def open_project(folder: str | Path | None = None) -> Project:
    """The project in a folder; by default, in the current folder or the nearest parent that has an orvl.toml."""
    if folder is not None:
        return Project(Path(folder).resolve())
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise UserError("This folder is not there any more. Go to another one, or name one: --project DIR") from None
    if any(os.path.exists(here / part) for part in PARTS):
        return Project(here)
    return Project(next((above for above in here.parents if os.path.isfile(above / "orvl.toml")), here))


def line_in(path: Path, *place: str) -> int | None:
    """The line of orvl.toml that sets a key."""
    return line_of(path.read_text("utf-8-sig"), place) if path.exists() else None

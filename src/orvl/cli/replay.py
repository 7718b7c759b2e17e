"""`orvl replay RUN`: a run once more, with the recorded answers instead of its provider."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, open_to_read, open_with_keys_hidden, where
from orvl.errors import UserError
from orvl.project.names import count
from orvl.report.text import plain
from orvl.sandbox.backends import SANDBOXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.diff import FileChange
    from orvl.capture.stored_run import RunDetails
    from orvl.plan.options import RunOptions
    from orvl.plan.planning import Plan
    from orvl.project import Project
    from orvl.report.terminal import Terminal
    from orvl.run.replay import Recording, ReplayServer
    from orvl.store import Store
    from orvl.store.tree import Entry
    from orvl.types import Attempt, ModelCall, SandboxName

SHOWN = 20


@click.command()
@click.argument("run")
@click.option("--pace", is_flag=True, help="Let every answer take as long as it took.")
@click.option("--sandbox", type=click.Choice(SANDBOXES), help="Sandbox (default: bubblewrap).")
@click.option("--image", metavar="NAME", help="The image or root folder for podman and docker.")
@as_json
@where
def command(run: str, json_: bool, project: str | None, store: str | None, **how: Any) -> int:
    """Carry a run out once more with the recorded answers of its model, and say whether it comes out the same.

    RUN is the beginning of a run's key, or AGENT/EVAL/EPISODE. No key is needed and nothing is paid; what comes out is
    compared and thrown away. Exit status: 0 the same, 1 not the same, 2 it cannot be replayed.
    """
    from orvl.capture.stored_run import load_run

    out = JsonOut() if json_ else None
    opened = open_with_keys_hidden(project)
    with open_to_read(opened, store) as kept:
        shown = load_run(opened, kept, run)
        number, before = _recorded(shown)
        after = _replayed(opened, kept, shown, before, **how)
        if after is None:
            return 130
        compared = Compared(before, _answered(kept.calls(number)), _tree(kept, before), *after)
    if out:
        out.write({"schema": 1, "run": shown.key, **shown.names, "episode": shown.episode, **compared.as_json()})
    else:
        names = f"{' '.join(shown.cell.names)} #{shown.episode}"
        compared.print(console(), f"run {shown.key[:12]}: {names}")
    return 0 if compared.is_same else 1


def _recorded(shown: RunDetails) -> tuple[int, Attempt]:
    """The attempt that counts: the one that was carried out, else the last that has a record."""
    found = [(stored.id, stored.attempt) for stored in shown.attempts if stored.attempt.record]
    carried_out = [one for one in found if one[1].outcome != "errored"]
    if not found:
        raise UserError(
            f"The run {shown.key[:12]} has no record: its agent asked no model through orvl. "
            f"See: orvl show {shown.key[:12]}"
        )
    return (carried_out or found)[-1]


# -- carrying it out


@dataclass(frozen=True)
class Replayed:
    """How a run came out with recorded answers."""

    attempt: Attempt
    calls: list[ModelCall]
    tree: list[Entry]


def _replayed(
    project: Project,
    kept: Store,
    shown: RunDetails,
    before: Attempt,
    *,
    pace: bool,
    sandbox: SandboxName | None,
    image: str | None,
) -> tuple[Replayed, ReplayServer] | None:
    """Carries the run out in a store of its own, of which nothing stays; None where the user stopped it."""
    from orvl.cli.watch import watched
    from orvl.pipeline import Prepared
    from orvl.plan.options import RunOptions
    from orvl.plan.remaining import remaining_of
    from orvl.plan.selection import Selection
    from orvl.run.replay import Recording, ReplayServer
    from orvl.store import open_store

    recording = Recording.of(before, kept.blobs)
    selection = Selection(*shown.cell.names)
    options = RunOptions(selection, sandbox=sandbox, image=image, concurrency=1)
    plan = _plan(project, kept, shown, options, before)
    project.settings = replace(project.settings, attempts=1)
    with (
        ReplayServer(recording, pace=pace) as server,
        tempfile.TemporaryDirectory(prefix="orvl-replay-") as folder,
        open_store(Path(folder), write=True) as store,
    ):
        plan = _pointed_at(server, recording, plan)
        if (kept.folder / "starts").is_dir():
            (store.folder / "starts").symlink_to(kept.folder / "starts")
        execution = watched(project, Prepared(plan, remaining_of(plan, store)), options, store, quiet=True)
        if execution.not_installed:
            raise UserError(next(iter(execution.not_installed.values())))
        runs = store.runs()
        if not runs:
            return None
        attempt = store.attempt(runs[-1].attempt)[0]
        return Replayed(attempt, _answered(store.calls(runs[-1].attempt)), _tree(store, attempt)), server


def _plan(project: Project, kept: Store, shown: RunDetails, options: RunOptions, before: Attempt) -> Plan:
    """The plan of this one run, without what looks at it afterwards."""
    from orvl.plan.identities import adopted
    from orvl.plan.planning import make_plan
    from orvl.plan.versions import asker_for

    ask = asker_for(project, options.sandbox, options.image)
    plan = make_plan(project, options.selection, episodes=(shown.episode,), ask_version=ask)
    plan = adopted(plan, kept)
    cell = plan.cells[0]
    if cell.key != shown.cell.key:
        what = f"the agent {cell.agent.name} ({cell.agent.path}) or the eval {cell.eval.name} ({cell.eval.path})"
        if cell.version != shown.cell.version:
            what = f"{cell.agent.name} was version {shown.cell.version}, and is {cell.version}: it"
        raise UserError(
            f"The run {shown.key[:12]} cannot be replayed: {what} has changed since. "
            f"Make a new one: orvl run {options.selection}"
        )
    # The user says again what was said then, whatever checks and commands would make of it now.
    eval_ = replace(cell.eval, prompts=before.prompts, wordings=()) if before.prompts else cell.eval
    cell = replace(cell, eval=replace(eval_, checks=(), user=None))
    return replace(
        plan,
        cells=(cell,),
        runs=tuple(replace(planned, cell=cell) for planned in plan.runs),
        panels={name: replace(panel, metrics=(), weights=(), judges=()) for name, panel in plan.panels.items()},
    )


def _pointed_at(server: ReplayServer, recording: Recording, plan: Plan) -> Plan:
    """The plan with the recording in the provider's place."""
    from orvl.project.endpoints import Endpoint
    from orvl.project.providers import Provider

    cell = plan.cells[0]
    host = plan.endpoints.get(cell.key)
    provider = host.provider if host else Provider(cell.provider, {})
    spoken = recording.protocols
    addresses = {protocol: server.base_url(protocol) for protocol in (*provider.addresses, *spoken)}
    here = replace(provider, addresses=addresses, key=None, other_keys=(), concurrency=None, per_minute=None)
    protocol = host.protocol if host and host.protocol in spoken else spoken[0]
    return replace(plan, endpoints={cell.key: Endpoint(here, protocol)})


def _answered(calls: Sequence[ModelCall]) -> list[ModelCall]:
    return [call for call in calls if call.status is not None]


def _tree(store: Store, attempt: Attempt) -> list[Entry]:
    """What an attempt left, but for bytecode, which holds times."""
    from orvl.store import tree

    entries = tree.entries_of(store.blobs, attempt.tree)
    return [entry for entry in entries if tree.BYTECODE not in entry.path.split("/")]


# -- comparing


@dataclass(frozen=True)
class Compared:
    """A run as it was recorded, and as it came out again."""

    before: Attempt
    calls: list[ModelCall]
    tree: list[Entry]
    now: Replayed
    server: ReplayServer

    @property
    def changes(self) -> list[FileChange]:
        from orvl.capture.diff import changes

        return changes(self.tree, self.now.tree)

    @property
    def is_same(self) -> bool:
        has_same_end = self.before.outcome == self.now.attempt.outcome and len(self.calls) == len(self.now.calls)
        return has_same_end and not self.changes and not self.server.unmatched

    def as_json(self) -> dict[str, Any]:
        before, now = self.before, self.now.attempt
        return {
            "same": self.is_same,
            "outcome": {"recorded": before.outcome, "replayed": now.outcome},
            "reason": {"recorded": before.reason, "replayed": now.reason},
            "sandbox": {"recorded": before.sandbox, "replayed": now.sandbox},
            "calls": {"recorded": len(self.calls), "replayed": len(self.now.calls)},
            "files": [{"path": change.path, "change": change.kind} for change in self.changes],
            "unmatched": self.server.unmatched,
            "reworded": self.server.reworded,
            "unasked": self.server.unasked,
        }

    def print(self, out: Terminal, title: str) -> None:
        for line in (title, *self._lines()):
            out.print(plain(line))

    def _lines(self) -> list[str]:
        before, now = self.before, self.now.attempt
        why = f": {now.reason}" if now.reason else ""
        same_end = before.outcome == now.outcome
        lines = [f"  outcome: {before.outcome}" + (", again" if same_end else f", now {now.outcome}{why}")]
        if before.sandbox != now.sandbox:
            lines.append(f"  sandbox: {before.sandbox}, now {now.sandbox}")
        again = "again" if len(self.calls) == len(self.now.calls) else f"now {len(self.now.calls)}"
        lines.append(f"  calls of models: {len(self.calls)}, {again}")
        if self.server.reworded:
            lines.append(f"  {count(len(self.server.reworded), 'request')} in other words than the recorded ones")
        lines += [f"  {sentence}" for sentence in self.server.unmatched[:SHOWN]]
        changes = self.changes
        lines.append("  files: " + (count(len(changes), "difference") if changes else "all the same"))
        lines += [f"    {change.kind} {change.path}" for change in changes[:SHOWN]]
        if len(changes) > SHOWN:
            lines.append(f"    … and {len(changes) - SHOWN} more")
        return [*lines, "It came out the same." if self.is_same else "It did not come out the same."]

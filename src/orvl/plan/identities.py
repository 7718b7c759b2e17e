"""Which of the stored identities of a cell counts: the one of the files as they are now; and what differs in others.

Every command that speaks of stored runs asks this, so that all of them speak of the same ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orvl.errors import OrvlError
from orvl.plan.named_files import named_files
from orvl.plan.planning import cell_key, control_digest
from orvl.project.names import Contestant, count
from orvl.store.records import made_of, made_of_text
from orvl.types import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from orvl.plan.planning import Plan
    from orvl.project import Project
    from orvl.store import Store, StoredCell
    from orvl.store.rows import Names

MOST_SENTENCES = 5
NAMED = 3
"""Cells that a sentence names."""


@dataclass(frozen=True)
class Past:
    """An identity that does not count, and what differs from the one that does."""

    cell: StoredCell
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Identities:
    """The cells that have runs, sorted by whether they count."""

    project: Project
    cells: tuple[StoredCell, ...]
    """All that have runs."""
    current: Mapping[Names, StoredCell]
    """By their names, the one that counts; names whose files have all changed since have none."""
    now: Mapping[Names, Cell | None]
    """What the project's files make of the names; None where they cannot say."""
    broken: Mapping[str, str] = field(default_factory=dict)
    """Agents whose files cannot be loaded, and why."""

    @cached_property
    def ids(self) -> frozenset[int]:
        """The cells that count."""
        return frozenset(cell.id for cell in self.current.values())

    def past(self, keep: Callable[[Names], bool] = lambda _: True) -> list[Past]:
        """All that do not count, newest first."""
        others = [cell for cell in self.cells if cell.id not in self.ids and keep(cell.names)]
        return [Past(cell, self.changes(cell)) for cell in sorted(others, key=lambda cell: -cell.planned)]

    def changes(self, cell: StoredCell) -> tuple[str, ...]:
        """What differs between a stored cell and what counts now, in words."""
        counts, now = self.current.get(cell.names), self.now.get(cell.names)
        if now is not None:
            version = counts.version if counts else cell.version
            return tuple(changes(cell, replace(now, version=version), self.project))
        return tuple(between(cell, counts)) if counts else ()

    def sentences(self, keep: Callable[[Names], bool]) -> list[str]:
        """What is not on the board although its names are, and how to see it or run it again."""
        others = [cell for cell in self.cells if cell.id not in self.ids and keep(cell.names)]
        replaced = [cell for cell in others if cell.names in self.current]
        gone = [cell for cell in others if cell.names not in self.current]
        sentences = []
        if replaced:
            runs, cells = sum(cell.runs for cell in replaced), len({cell.names for cell in replaced})
            sentences.append(
                f"{count(runs, 'run')} of {count(cells, 'cell')} {_is(runs)} history: of an older agent, version or "
                "eval. See: orvl report --history"
            )
        for agent, why in self.broken.items():
            if any(cell.agent == agent and keep(cell.names) for cell in self.cells):
                sentences.append(f"{agent}: shown are its last runs, because it cannot be loaded now: {why}")
        groups = _by_agent(gone)
        for agent, some in list(groups.items())[:MOST_SENTENCES]:
            runs = sum(cell.runs for cell in some)
            what = Counter(change for cell in some for change in self.changes(cell))
            changed = ", ".join(name for name, _ in what.most_common(NAMED)) or "its files"
            have = "has" if len(what) < 2 else "have"
            sentences.append(
                f"{agent}: {changed} {have} changed since, so {count(runs, 'stored run')} {_is(runs)} history and not "
                f"shown here. Run it again: {_command(agent, some)}; see what there is: orvl report --history"
            )
        if len(groups) > MOST_SENTENCES:
            more = len(groups) - MOST_SENTENCES
            sentences.append(f"The same holds for {count(more, 'more agent')}. See: orvl report --history")
        return sentences


def identities(project: Project, cells: Iterable[StoredCell]) -> Identities:
    """Sorts stored cells. Of those that are as the project's files are now, the one counts that a command asked for
    last; so it is where the project cannot say: a store from elsewhere, an agent whose file is gone."""
    stored = tuple(cell for cell in cells if cell.runs)
    now: dict[Names, Cell | None] = {}
    broken: dict[str, str] = {}
    current: dict[Names, StoredCell] = {}
    for cell in sorted(stored, key=lambda cell: (cell.planned, cell.id)):
        if cell.names not in now:
            now[cell.names] = _as_now(project, cell, broken)
        if is_same(cell, now[cell.names]):
            current[cell.names] = cell
    counted = {names: current[names] for names in now if names in current}
    return Identities(project, stored, counted, now, broken)


def still_wanted(project: Project, cells: Iterable[StoredCell]) -> list[Names]:
    """The names of cells that were once asked for and that the project still has, run or not."""
    return list(dict.fromkeys(cell.names for cell in cells if _has(project, cell)))


def _has(project: Project, cell: StoredCell) -> bool:
    if Contestant.of(cell.agent).agent not in project.agent_files or cell.eval not in project.eval_files:
        return False
    try:
        return cell.model in project.agent(cell.agent).models.get(cell.provider, {})
    except OrvlError:
        return True  # a file that is broken now is not gone


def is_same(stored: StoredCell, now: Cell | None) -> bool:
    """Whether a stored cell is of the files as they are now, whatever version its agent had."""
    if now is None:
        return True
    parts = (now.agent, stored.version, now.provider, now.model, now.model_id, now.eval)
    if stored.key == cell_key(*parts, now.files):
        return True
    if not now.files or stored.key != cell_key(*parts):
        return False
    # Of a time when files were no part of the key: those that are noted beside it decide, or nothing speaks against it.
    recorded = made_of(stored.made_of)
    return recorded is None or recorded.get("files") == dict(now.files)


def adopted(plan: Plan, store: Store) -> Plan:
    """The plan under the keys by which the store knows the same cells: files were once no part of them."""
    if not any(cell.files for cell in plan.cells):
        return plan
    stored = {cell.key: cell for cell in store.cells()}
    keys: dict[str, str] = {}
    for cell in plan.cells:
        before = cell_key(cell.agent, cell.version, cell.provider, cell.model, cell.model_id, cell.eval)
        if cell.files and cell.key not in stored and before in stored and is_same(stored[before], cell):
            keys[cell.key] = before
    return plan.with_keys(keys) if keys else plan


def changes_of(project: Project, plan: Plan, store: Store) -> dict[str, tuple[str, ...]]:
    """By the keys of planned cells that the store knows under other identities alone: what has changed since."""
    stored = store.cells()
    known, keys = identities(project, stored), {cell.key for cell in stored if cell.runs}
    last: dict[Names, StoredCell] = {}
    for cell in sorted(known.cells, key=lambda cell: (cell.id in known.ids, cell.planned)):
        last[cell.names] = cell
    again = [cell for cell in plan.cells if cell.key not in keys and cell.names in last]
    return {cell.key: tuple(changes(last[cell.names], cell, project)) for cell in again}


def _as_now(project: Project, cell: StoredCell, broken: dict[str, str]) -> Cell | None:
    """The cell that the project's files make of a stored one's names; its version is the stored one's."""
    if Contestant.of(cell.agent).agent not in project.agent_files or cell.eval not in project.eval_files:
        return None
    try:
        agent = project.agent(cell.agent)
    except OrvlError as error:
        broken[cell.agent] = str(error)
        return None
    try:
        eval_ = project.eval(cell.eval)
        model_id = agent.models.get(cell.provider, {}).get(cell.model)
        if model_id is None:
            return None
        files = named_files(project, agent, cell.provider, model_id).on(agent, eval_)
        key = cell_key(agent, cell.version, cell.provider, cell.model, model_id, eval_, files)
        return Cell(key, agent, cell.version, cell.provider, cell.model, model_id, eval_, files)
    except OrvlError:
        return None  # whoever rates the eval's runs says what is wrong with it


# -- what differs, in words


def changes(stored: StoredCell, now: Cell, project: Project) -> list[str]:
    """What has changed from a stored cell to the one that would be run now."""
    before, after = made_of(stored.made_of), made_of(made_of_text(now)) or {}
    version = [f"the version ({stored.version or 'none'} → {now.version or 'none'})"]
    versions = version if stored.version != now.version else []
    if before is None:
        same = replace(now, version=stored.version)
        if is_same(stored, same):
            return versions
        return [*versions, f"{_file(now, project)} or the eval {now.eval.name} (which of them was not recorded then)"]
    return [*versions, *_changed_parts(before, after, now, project)]


def _changed_parts(before: Mapping[str, Any], after: Mapping[str, Any], now: Cell, project: Project) -> list[str]:
    said = [] if before.get("agent") == after["agent"] else [_file(now, project)]
    said += [f"the overlay {name}" for name in _differing(before.get("overlays"), after["overlays"])]
    said += _differing(before.get("files"), after["files"])
    if before.get("model_id") != after["model_id"]:
        said.append(f"the model's id ({before.get('model_id')} → {after['model_id']})")
    for part in ("prompts", "workspace", "limits", "setup", "network"):
        if before.get(part) != after[part]:
            said.append(f"the {part} of the eval {now.eval.name}")
    if before.get("when") != after.get("when"):
        said.append(f"checks of the eval {now.eval.name} that decide what is said")
    if before.get("user") != after.get("user"):
        said.append(f"the user of the eval {now.eval.name}, or [user] in orvl.toml")
    if before.get("variants") != after.get("variants"):
        said.append(f"what varies in the eval {now.eval.name}, or the seed in orvl.toml")
    if before.get("control", "") != control_digest(now.agent, now.eval):
        said.append(f"controls/{now.agent.control} of the eval {now.eval.name}")
    return said


def _differing(before: Any, after: Mapping[str, str]) -> list[str]:
    """Names whose hashes differ, or that only one side has."""
    known = before if isinstance(before, dict) else {}
    return sorted(name for name in {*known, *after} if known.get(name) != after.get(name))


def _file(now: Cell, project: Project) -> str:
    path = now.agent.path
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else path.name


def between(cell: StoredCell, other: StoredCell) -> list[str]:
    """What differs between two stored cells whose files are not here."""
    said = [f"the version ({cell.version or 'none'} → {other.version or 'none'})"] * (cell.version != other.version)
    before, after = made_of(cell.made_of), made_of(other.made_of)
    if before is None or after is None:
        return said or ["its files or the eval"]
    names = {"agent": "the agent's file", "model_id": "the model's id", "control": "the control"}
    for part in after:
        if before.get(part) == after[part] or part == "private":
            continue
        if part in ("files", "overlays"):
            said += _differing(before.get(part), after[part])
        else:
            said.append(names.get(part, f"the {part} of the eval"))
    return said


def _by_agent(cells: Iterable[StoredCell]) -> dict[str, list[StoredCell]]:
    groups: dict[str, list[StoredCell]] = {}
    for cell in cells:
        groups.setdefault(cell.agent, []).append(cell)
    return groups


def _command(agent: str, cells: Sequence[StoredCell]) -> str:
    evals = sorted({cell.eval for cell in cells})
    return f"orvl {agent}" + (f" --eval {','.join(evals)}" if len(evals) <= NAMED else "")


def _is(number: int) -> str:
    return "is" if number == 1 else "are"

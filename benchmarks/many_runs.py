"""A store with very many scored runs, filled with SQL.

The table `score` stays empty: it would hold 4.5 million rows, which take minutes to write, and the leaderboard reads
`card`, where the scores of a run lie side by side. Nobody abstains, so no reason is looked up in `score` either.
The evals have no checks of their own, so they share one layout, as plain evals do.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from orvl.store.sqlite import SqliteStore

AGENTS, MODELS, EVALS, EPISODES = 20, 5, 10, 300
CELLS = AGENTS * MODELS * EVALS
RUNS = CELLS * EPISODES
METRICS, JUDGES = ("functionality", "p", "q", "r", "took"), "abc"
EARNED = "took"
"""What of it counts is made when it is rated, from what the judges say of `functionality`."""
PROMPT = "Build a small thing.\n---\nNow change it.\n"


def filled(folder: Path) -> Path:
    """A project with such a store, made once for all benchmarks."""
    project = folder / "many-runs"
    if not project.exists():
        fill(project)
    return project


def fill(folder: Path) -> None:
    """Makes a project and its store; runs are stored in the order in which they would have been carried out."""
    from orvl.store.sqlite import SqliteStore

    make_project(folder)
    with SqliteStore(folder / ".orvl", write=True) as store:
        layouts = store.transaction([lambda store: add_cells(store, folder)])[0]
        store.transaction([lambda store: add_runs(store, layouts)])


def make_project(folder: Path) -> None:
    judges = (f'[judges.{name}]\nmodel = "fixed"\nprovider = "none"\n' for name in JUDGES)
    files = {"orvl.toml": "".join(judges)}
    files |= {f"scores/{name}.py": 'items = ["It is good.", "It is right."]\n' for name in METRICS}
    files |= {f"scores/{EARNED}.py": "earned = True\ndef score(run): return 60 / (60 + run.seconds)\n"}
    head = f"---\nmetrics: {{{', '.join(f'{name}: 1' for name in METRICS)}}}\n---\n"
    files |= {f"evals/{name}.md": head + PROMPT for name in eval_names()}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def eval_names() -> list[str]:
    return [f"eval-{number}" for number in range(EVALS)]


def add_cells(store: SqliteStore, folder: Path) -> list[int]:
    """Adds a call, the cells (numbered from 1, in the order of evals) and the evals' layouts."""
    from orvl.plan.layout import layout_of, panel_of
    from orvl.project import open_project

    store.add_call({"words": "all"}, 0)
    names = product(eval_names(), range(AGENTS), range(MODELS))
    rows = [(f"{e}:{a}:{m}", f"agent-{a}", f"model-{m}", "none", e, "1", "[]") for e, a, m in names]
    columns = "key, agent, model, provider, eval, version, prompts"
    store.db.executemany(f"INSERT INTO cell ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    project = open_project(folder)
    panels = [panel_of(project, project.eval(name), None, ()) for name in eval_names()]
    return [store.add_layout(layout_of(panel.eval, panel.metrics, panel.judges)) for panel in panels]


def add_runs(store: SqliteStore, layouts: list[int]) -> None:
    from orvl.plan.planning import run_key
    from orvl.store.records import ATTEMPT, attempt_row

    marks = ", ?" * len(ATTEMPT)
    one = attempt_row(attempt())
    places = list(enumerate(product(range(1, EPISODES + 1), range(1, CELLS + 1)), 1))
    runs = ((number, run_key(str(cell), episode), cell, episode) for number, (episode, cell) in places)
    store.db.executemany("INSERT INTO run VALUES (?, ?, ?, ?)", runs)
    attempts = ((number, number, 1, *one) for number, _ in places)
    store.db.executemany(f"INSERT INTO attempt (id, run, call, {', '.join(ATTEMPT)}) VALUES (?, ?, ?{marks})", attempts)
    layout_of_cell = [layouts[cell * EVALS // CELLS] for cell in range(CELLS)]
    cards = zip(places, tables(), strict=True)
    rows = ((layout_of_cell[cell - 1], number, cell, table) for (number, (_, cell)), table in cards)
    store.db.executemany("INSERT INTO card VALUES (?, ?, ?, ?)", rows)


def attempt() -> Any:
    """An attempt as a run of two turns leaves it."""
    from orvl.types import Attempt, Turn, Usage

    blob = "0123456789abcdef" * 4
    turn = Turn(31.4, 2.7, 0, None, "session-1", blob, blob, 4096)
    usage = Usage(62.8, 20_000, 15_000, 3_000, 25, 0.12, "agent")
    return Attempt("finished", None, 1.8e9, usage, (turn, turn), blob, blob, blob)


def tables() -> Iterator[bytes]:
    """A random S for each run, as bytes."""
    import numpy as np

    shape = (RUNS, len(JUDGES) * len(METRICS))
    S = np.random.default_rng(1).integers(0, 6, shape) / 5
    return (row.tobytes() for row in S.astype("<f8"))

"""The statistics on 5,200 real runs: 13 agent and model pairs, 80 tasks, five runs of each."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from orvl.rate.stats.intervals import mean_intervals, t_quantile
from orvl.rate.stats.paired import paired, quick_detectable, winner_set
from orvl.rate.stats.race import race

FILE = Path(__file__).parents[3] / "shared" / "data" / "terminal_bench_runs.json"
HARNESS = {"parse_error", "test_timeout", "unknown_agent_error", "agent_installation_failed"}

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the real runs are not here")


@pytest.fixture(scope="module")
def rows():
    return json.loads(FILE.read_text())["rows"]


@pytest.fixture(scope="module")
def runs(rows):
    """Contestants × tasks × runs."""
    contestants = sorted({(row[0], row[1]) for row in rows})
    tasks = sorted({row[2] for row in rows})
    table = np.full((len(contestants), len(tasks), 5), np.nan)
    for agent, model, task, run, score, _ in rows:
        table[contestants.index((agent, model)), tasks.index(task), run - 1] = score
    assert table.shape == (13, 80, 5)
    assert not np.isnan(table).any()
    return table


def errors(values):
    return values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def test_the_task_is_the_unit(runs):
    by_task, pooled = errors(runs.mean(axis=2)), errors(runs.reshape(13, 400))
    assert [by_task.min(), by_task.max()] == pytest.approx([0.029, 0.053], abs=6e-4)
    assert [pooled.min(), pooled.max()] == pytest.approx([0.017, 0.025], abs=6e-4)
    assert 1.7 < (by_task / pooled).mean() < 2.2


def test_with_eighty_tasks_the_interval_is_nearly_that_of_t(runs):
    values = runs.mean(axis=2)
    low, high = mean_intervals(values).T
    assert (high - low) == pytest.approx(2 * t_quantile(0.975, 79) * errors(values), rel=0.1)


def test_pairing_sees_more(runs):
    values = runs.mean(axis=2)
    alone = errors(values)
    ratios, beyond_paired, beyond_unpaired = [], 0, 0
    for i, j in combinations(range(13), 2):
        d = values[i] - values[j]
        together, apart = errors(d[None])[0], np.hypot(alone[i], alone[j])
        ratios.append(together / apart)
        beyond_paired += abs(d.mean()) > 1.96 * together
        beyond_unpaired += abs(d.mean()) > 1.96 * apart
    assert np.mean(ratios) == pytest.approx(0.657, abs=5e-4)
    assert (beyond_paired, beyond_unpaired) == (56, 41)


def test_the_winner_set_asks_for_more_evidence_than_a_pair(runs):
    values = runs.mean(axis=2)
    found = winner_set(values)
    pairs = [paired(values[i], values[j]) for i, j in combinations(range(13), 2)]
    alone = sum(pair.significant for pair in pairs)
    among_all = int((found.e_values >= found.needed).sum())
    assert 30 <= alone <= 56, "of the 56 that a z test finds"
    assert sum(pair.one_look_p <= 0.05 for pair in pairs) > alone
    assert among_all < alone
    assert int(values.mean(axis=1).argmax()) in found.winners
    assert 2 <= len(found.winners) <= 9


def halves(runs, tries):
    random = np.random.default_rng(1)
    for _ in range(tries):
        for contestant in runs:
            order = random.permutation(80)
            yield contestant[order[:40]], contestant[order[40:]]


def welch(a, b):
    return abs(a.mean() - b.mean()) / np.hypot(*errors(np.stack([a.ravel(), b.ravel()])))


def test_an_agent_is_not_better_than_itself(runs):
    pooled, by_task = zip(
        *((welch(a, b) > 1.96, welch(a.mean(axis=1), b.mean(axis=1)) > 1.96) for a, b in halves(runs, 80)), strict=True
    )
    assert 0.25 <= np.mean(pooled) <= 0.34
    assert 0.04 <= np.mean(by_task) <= 0.08


def test_an_agents_runs_paired_with_each_other_seldom_differ(runs):
    """Two runs against two others of the same agent on the same tasks: nothing is there to be found."""
    values = [(one[:, [a, b]].mean(axis=1), one[:, [c, d]].mean(axis=1)) for one in runs for a, b, c, d in SPLITS]
    assert np.mean([paired(a, b).significant for a, b in values]) <= 0.05


SPLITS = [(0, 1, 2, 3), (0, 2, 1, 4), (1, 3, 2, 4), (0, 3, 1, 4), (0, 4, 2, 3)]


def test_tasks_beat_repeats(runs):
    seen = []
    for count in (1, 3, 5):
        spreads = [
            np.std((runs[i] - runs[j])[:, chosen].mean(axis=1), ddof=1)
            for i, j in combinations(range(13), 2)
            for chosen in map(list, combinations(range(5), count))
        ]
        seen.append(quick_detectable(float(np.mean(spreads)), 80))
    assert seen == pytest.approx([0.159, 0.127, 0.119], abs=1.5e-3)


def test_what_the_harness_broke_moves_an_agent(rows):
    moved = []
    for contestant in {(row[0], row[1]) for row in rows}:
        own = [row for row in rows if (row[0], row[1]) == contestant]
        sound = [row[4] for row in own if row[5] not in HARNESS]
        moved.append(np.mean(sound) - np.mean([row[4] for row in own]))
    assert [min(moved), max(moved)] == pytest.approx([0.005, 0.076], abs=1e-3)


def test_a_race_over_the_tasks_costs_less_and_keeps_the_best(runs):
    values = runs.mean(axis=2)
    best = int(values.mean(axis=1).argmax())
    random = np.random.default_rng(2)
    races = [race(values[:, random.permutation(80)]) for _ in range(6)]
    assert all(best in result.left for result in races)
    assert 0.5 < np.mean([result.used / result.planned for result in races]) < 0.95

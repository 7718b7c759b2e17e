"""The tables, as migrations: a store of version n has had the first n of them. Never edit one; add the next.

A statement ends with `;` and holds none.
"""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE call (
        id INTEGER PRIMARY KEY,
        started REAL NOT NULL,
        orvl TEXT NOT NULL,
        words TEXT NOT NULL,
        seed INTEGER NOT NULL
    );
    CREATE TABLE cell (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        model TEXT NOT NULL,
        provider TEXT NOT NULL,
        eval TEXT NOT NULL,
        version TEXT NOT NULL,
        prompts TEXT NOT NULL
    );
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        cell INTEGER NOT NULL REFERENCES cell,
        episode INTEGER NOT NULL CHECK (episode >= 1),
        UNIQUE (cell, episode)
    );
    CREATE TABLE attempt (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run,
        call INTEGER NOT NULL REFERENCES call,
        outcome TEXT NOT NULL CHECK (outcome IN ('finished', 'failed', 'errored')),
        reason TEXT,
        started REAL NOT NULL,
        seconds REAL NOT NULL,
        input_tokens INTEGER,
        cached_tokens INTEGER,
        output_tokens INTEGER,
        tool_calls INTEGER,
        cost_usd REAL,
        cost_source TEXT,
        sandbox TEXT NOT NULL,
        start_tree TEXT,
        tree TEXT,
        steps TEXT,
        detail TEXT NOT NULL
    );
    CREATE INDEX attempt_of_run ON attempt (run);
    CREATE UNIQUE INDEX carried_out_once ON attempt (run) WHERE outcome <> 'errored';
    CREATE TABLE checked (
        attempt INTEGER NOT NULL REFERENCES attempt,
        key TEXT NOT NULL,
        results TEXT NOT NULL,
        PRIMARY KEY (attempt, key)
    ) WITHOUT ROWID;
    CREATE TABLE score (
        id INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL REFERENCES attempt,
        call INTEGER NOT NULL REFERENCES call,
        metric TEXT NOT NULL,
        metric_key TEXT NOT NULL,
        judge TEXT NOT NULL,
        judge_key TEXT NOT NULL,
        sample INTEGER NOT NULL,
        kind TEXT NOT NULL,
        value REAL CHECK (value BETWEEN 0 AND 1),
        reason TEXT,
        detail TEXT,
        UNIQUE (attempt, metric_key, judge_key, sample)
    );
    CREATE INDEX score_trouble ON score (attempt) WHERE kind <> 'scored';
    CREATE TABLE layout (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        judges TEXT NOT NULL,
        metrics TEXT NOT NULL,
        judged TEXT NOT NULL
    );
    CREATE TABLE card (
        layout INTEGER NOT NULL REFERENCES layout,
        attempt INTEGER NOT NULL REFERENCES attempt,
        cell INTEGER NOT NULL REFERENCES cell,
        S BLOB NOT NULL,
        PRIMARY KEY (layout, attempt)
    ) WITHOUT ROWID;
    """,
    # Results of checks, in the order in which they were made.
    """
    ALTER TABLE checked RENAME TO checked_before;
    CREATE TABLE checked (
        id INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL REFERENCES attempt,
        key TEXT NOT NULL,
        results TEXT NOT NULL,
        UNIQUE (attempt, key)
    );
    INSERT INTO checked (attempt, key, results) SELECT attempt, key, results FROM checked_before;
    DROP TABLE checked_before;
    """,
    # Calls of models, as the gateway saw them.
    """
    CREATE TABLE model_call (
        attempt INTEGER NOT NULL REFERENCES attempt,
        number INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        protocol TEXT NOT NULL,
        asked_model TEXT NOT NULL,
        started REAL NOT NULL,
        stream INTEGER NOT NULL,
        status INTEGER,
        trouble TEXT,
        left INTEGER NOT NULL,
        tries INTEGER NOT NULL,
        seconds REAL NOT NULL,
        waited REAL NOT NULL,
        first_token REAL,
        served_model TEXT,
        host TEXT,
        finish TEXT,
        input_tokens INTEGER,
        cached_tokens INTEGER,
        cache_write_tokens INTEGER,
        output_tokens INTEGER,
        reasoning_tokens INTEGER,
        cost_usd REAL,
        cost_source TEXT,
        tool_calls INTEGER NOT NULL,
        answers_back INTEGER NOT NULL,
        reasoning_given INTEGER NOT NULL,
        reasoning_back INTEGER,
        findings TEXT NOT NULL,
        PRIMARY KEY (attempt, number)
    ) WITHOUT ROWID;
    CREATE INDEX answered_by_others ON model_call (attempt)
        WHERE (instr(findings, '"another model"') OR instr(findings, '"another host"'));
    """,
    # What programs found out about captures; and verdicts that raised the injection alarm.
    """
    CREATE TABLE found (
        id INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL REFERENCES attempt,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        results TEXT NOT NULL,
        pictures TEXT NOT NULL,
        UNIQUE (attempt, kind, key)
    );
    CREATE INDEX alarmed ON score (attempt) WHERE instr(detail, '"alarm": ');
    """,
    # How far the judges can be trusted: certificates and calibrations, never changed; and what people say of runs.
    """
    CREATE TABLE trust (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        made REAL NOT NULL,
        content TEXT NOT NULL
    );
    CREATE TABLE label (
        id INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL REFERENCES attempt,
        metric TEXT NOT NULL,
        person TEXT NOT NULL,
        value REAL NOT NULL,
        note TEXT,
        drawn TEXT,
        made REAL NOT NULL
    );
    """,
    # Summaries of cells, so that a leaderboard does not read every run. They can be rebuilt at any time: whoever adds
    # to a cell deletes its summary in the same transaction.
    """
    CREATE INDEX card_of_cell ON card (layout, cell);
    CREATE TABLE cell_counts (
        cell INTEGER PRIMARY KEY REFERENCES cell,
        runs INTEGER NOT NULL,
        last_episode INTEGER NOT NULL,
        content TEXT NOT NULL
    );
    CREATE TABLE cell_tables (
        layout INTEGER NOT NULL REFERENCES layout,
        cell INTEGER NOT NULL REFERENCES cell,
        attempts BLOB NOT NULL,
        S BLOB NOT NULL,
        UNIQUE (layout, cell)
    );
    """,
    # Answers of judges from when they arrive until what they lead to is stored; and which calls came to their end.
    """
    CREATE TABLE judge_reply (
        about TEXT NOT NULL,
        scope TEXT NOT NULL,
        question TEXT NOT NULL,
        step INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (about, scope, question, step)
    ) WITHOUT ROWID;
    ALTER TABLE call ADD COLUMN ended REAL;
    UPDATE call SET ended = started;
    """,
    # What is an upper bound, where a provider's own count did not arrive, and how a run's time was spent.
    """
    ALTER TABLE model_call ADD COLUMN is_bound INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE spent (
        attempt INTEGER PRIMARY KEY REFERENCES attempt,
        is_bound INTEGER NOT NULL,
        model_seconds REAL,
        tools_seconds REAL,
        own_seconds REAL,
        waiting_seconds REAL
    );
    DELETE FROM cell_counts;
    """,
    # Runs whose speed tells about the machine.
    """
    CREATE INDEX on_loaded_machine ON attempt (run) WHERE instr(detail, '"loaded": true') > 0;
    """,
    # Runs whose agents called other models than their own.
    """
    CREATE INDEX asked_for_others ON model_call (attempt)
        WHERE instr(findings, '"agent asked for another model"') > 0;
    """,
    # What the identity of a cell is made of, null where it was not recorded; and when a command last asked for it, as a
    # number that only grows.
    """
    ALTER TABLE cell ADD COLUMN made_of TEXT;
    ALTER TABLE cell ADD COLUMN planned INTEGER NOT NULL DEFAULT 0;
    UPDATE cell SET planned = id;
    """,
    # Imported runs of which nobody knows how long they took: their `seconds` mean nothing.
    """
    ALTER TABLE spent ADD COLUMN untimed INTEGER NOT NULL DEFAULT 0;
    """,
    # Attempts that errored, so that a report finds the few there are among very many runs.
    """
    CREATE INDEX errored_attempts ON attempt (run) WHERE outcome = 'errored';
    """,
)

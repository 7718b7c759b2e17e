CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_of_workshop ON audit (workshop_id, id);
CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    kind TEXT NOT NULL,
    month TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed')),
    file TEXT,
    asked_by TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    done_at TEXT
);

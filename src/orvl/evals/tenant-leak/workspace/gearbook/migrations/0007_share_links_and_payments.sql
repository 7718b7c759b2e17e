ALTER TABLE jobs ADD COLUMN share TEXT;
CREATE UNIQUE INDEX jobs_by_share ON jobs (share);
ALTER TABLE workshops ADD COLUMN payment_secret TEXT NOT NULL DEFAULT '';
CREATE TABLE payment_events (
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    event TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (workshop_id, event)
);

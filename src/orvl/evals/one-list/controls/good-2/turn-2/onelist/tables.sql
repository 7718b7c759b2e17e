CREATE TABLE IF NOT EXISTS number (
    no     INTEGER PRIMARY KEY,
    record TEXT NOT NULL UNIQUE
);
-- what the exports have now
CREATE TABLE IF NOT EXISTS entry (
    record  TEXT PRIMARY KEY,
    source  TEXT NOT NULL,
    changed TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS statement (
    record TEXT NOT NULL REFERENCES entry ON DELETE CASCADE,
    field  TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (record, field)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS made_from (
    record TEXT NOT NULL REFERENCES entry ON DELETE CASCADE,
    field  TEXT NOT NULL,
    header TEXT NOT NULL,
    raw    TEXT NOT NULL,
    PRIMARY KEY (record, field, header)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mark (
    record TEXT NOT NULL REFERENCES entry ON DELETE CASCADE,
    mark   TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS mark_by_mark ON mark (mark);
-- decisions.txt, read anew by every command
CREATE TABLE IF NOT EXISTS decision (
    line   INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    record TEXT NOT NULL
);
-- which customer a record belongs to; made anew by every command
CREATE TABLE IF NOT EXISTS member (
    record TEXT PRIMARY KEY,
    no     INTEGER NOT NULL
);

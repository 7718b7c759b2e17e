-- First try. It has the cleaned cells only; the sheet "Where from" will need more than that.

CREATE TABLE IF NOT EXISTS people (
    id      INTEGER PRIMARY KEY,
    source  TEXT NOT NULL,
    key     TEXT NOT NULL UNIQUE,
    name    TEXT,
    email   TEXT,
    phone   TEXT,
    street  TEXT,
    zip     INTEGER,
    city    TEXT,
    mail    TEXT,
    since   TEXT,
    changed TEXT
);

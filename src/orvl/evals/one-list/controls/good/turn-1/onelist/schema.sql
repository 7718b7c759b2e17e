-- Records as they are in the exports; cells is JSON, by our names for the columns.
CREATE TABLE IF NOT EXISTS records (
    key      TEXT PRIMARY KEY,
    source   TEXT NOT NULL,
    position INTEGER NOT NULL,
    cells    TEXT NOT NULL
);

-- A record keeps its number for good, also while no export has it.
CREATE TABLE IF NOT EXISTS numbers (
    no     INTEGER PRIMARY KEY,
    record TEXT NOT NULL UNIQUE
);

-- The list, made anew by every command. The sheets read these two.
CREATE TABLE IF NOT EXISTS customers (
    no      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    email   TEXT NOT NULL,
    phone   TEXT NOT NULL,
    street  TEXT NOT NULL,
    zip     TEXT NOT NULL,
    city    TEXT NOT NULL,
    since   TEXT NOT NULL,
    mail    TEXT NOT NULL,
    records TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS origins (
    no     INTEGER NOT NULL REFERENCES customers,
    field  TEXT NOT NULL,
    record TEXT NOT NULL,
    header TEXT NOT NULL,
    raw    TEXT NOT NULL
);

-- Only hashes of what opens a door are kept.
CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    workshop_id INTEGER REFERENCES workshops (id),
    created_at TEXT NOT NULL
);
CREATE TABLE api_tokens (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    user_id INTEGER NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    revoked_at TEXT
);
CREATE TABLE resets (
    hash TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    used_at TEXT
);

-- What the shop in the Gerberstrasse had on paper cards.
CREATE TABLE workshops (
    id INTEGER PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL DEFAULT 'small',
    created_at TEXT NOT NULL
);
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER REFERENCES workshops (id),
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT 'mechanic' CHECK (role IN ('owner', 'mechanic', 'support')),
    password TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    number TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL DEFAULT '',
    phone TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    UNIQUE (workshop_id, number)
);
CREATE TABLE vehicles (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    plate TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    year INTEGER
);
-- customer_number, not an id: cards carry the number, and some customers were never typed in.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    customer_number TEXT NOT NULL,
    vehicle_id INTEGER REFERENCES vehicles (id),
    mechanic_id INTEGER REFERENCES users (id),
    title TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'waiting', 'done', 'cancelled')),
    price INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '',
    opened_on TEXT NOT NULL,
    closed_on TEXT
);
CREATE INDEX jobs_of_workshop ON jobs (workshop_id, opened_on);

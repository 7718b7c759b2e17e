-- Made when a database is opened for the first time. Other programs read `sales`, see tools/accounts.py.

CREATE TABLE IF NOT EXISTS sales (
    number TEXT,            -- eight digits; empty for what was typed in before 2021
    sold TEXT,              -- 2026-07-14 09:05:00
    venue TEXT,
    product TEXT,
    count INTEGER,
    price TEXT,             -- of one: 12.50
    total TEXT,             -- 25.00
    note TEXT,
    state TEXT,             -- ok, cancelled
    revision INTEGER,       -- how often it was corrected
    booked TEXT             -- the day it counts for: 2026-07-14
);

-- Corrections and cancellations of sales that have not come yet, in the order in which they came.
CREATE TABLE IF NOT EXISTS waiting (
    kind TEXT, number TEXT, sold TEXT, venue TEXT, product TEXT, count INTEGER, price TEXT, note TEXT,
    file TEXT, line INTEGER, raw TEXT
);

CREATE TABLE IF NOT EXISTS closed (month TEXT, since TEXT);
CREATE TABLE IF NOT EXISTS imports (id INTEGER PRIMARY KEY, file TEXT, started TEXT, finished TEXT, seen INTEGER, summary TEXT);
CREATE TABLE IF NOT EXISTS venues (code TEXT, name TEXT);
CREATE TABLE IF NOT EXISTS products (code TEXT, name TEXT);

-- Not unique: old sales share the empty number, and kiosk 4 gave some out twice.
CREATE INDEX IF NOT EXISTS sales_by_number ON sales (number);
CREATE INDEX IF NOT EXISTS sales_by_day ON sales (booked, venue);
CREATE INDEX IF NOT EXISTS waiting_by_number ON waiting (number);

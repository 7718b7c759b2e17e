CREATE TABLE invoices (
    id INTEGER PRIMARY KEY,
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    number TEXT NOT NULL,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    job_id INTEGER REFERENCES jobs (id),
    issued_on TEXT NOT NULL,
    due_on TEXT NOT NULL,
    paid_on TEXT,
    reminders INTEGER NOT NULL DEFAULT 0,
    credit_for INTEGER REFERENCES invoices (id),
    note TEXT NOT NULL DEFAULT '',
    UNIQUE (workshop_id, number)
);
CREATE TABLE invoice_lines (
    id INTEGER PRIMARY KEY,
    invoice_id INTEGER NOT NULL REFERENCES invoices (id),
    text TEXT NOT NULL,
    quantity INTEGER NOT NULL DEFAULT 1,
    unit INTEGER NOT NULL
);
CREATE INDEX lines_of_invoice ON invoice_lines (invoice_id);

CREATE TABLE search_terms (
    workshop_id INTEGER NOT NULL REFERENCES workshops (id),
    term TEXT NOT NULL,
    kind TEXT NOT NULL,
    ref INTEGER NOT NULL,
    PRIMARY KEY (term, kind, ref)
) WITHOUT ROWID;
CREATE INDEX terms_of_thing ON search_terms (kind, ref);

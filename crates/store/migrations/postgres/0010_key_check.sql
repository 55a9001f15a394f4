-- One row: a known text, sealed with the key that all secrets in this database are sealed with. A program with another key
-- learns from it that it has the wrong one.
CREATE TABLE key_check (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    sealed BYTEA NOT NULL,
    made_at BIGINT NOT NULL
);

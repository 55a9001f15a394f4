-- The answers to requests that may be repeated, for a day. status and body are null while the first is being answered.
CREATE TABLE repeatable_requests (
    account_id BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key_hash BLOB NOT NULL,
    body_hash BLOB NOT NULL,
    begun_at INTEGER NOT NULL,
    status INTEGER,
    body BLOB,
    PRIMARY KEY (account_id, key_hash)
) STRICT;
CREATE INDEX repeatable_requests_by_age ON repeatable_requests (begun_at);

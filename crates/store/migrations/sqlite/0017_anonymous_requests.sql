-- Requests without an account may be repeated, too. requester_id is the account's id, or a digest of the client's address and the
-- request; so it refers to no other table, and deleting an account deletes its rows by name.
CREATE TABLE repeated_requests (
    requester_id BLOB NOT NULL,
    key_hash BLOB NOT NULL,
    body_hash BLOB NOT NULL,
    begun_at INTEGER NOT NULL,
    status INTEGER,
    body BLOB,
    PRIMARY KEY (requester_id, key_hash)
) STRICT;
INSERT INTO repeated_requests (requester_id, key_hash, body_hash, begun_at, status, body)
SELECT account_id, key_hash, body_hash, begun_at, status, body FROM repeatable_requests;
DROP TABLE repeatable_requests;
ALTER TABLE repeated_requests RENAME TO repeatable_requests;
CREATE INDEX repeatable_requests_by_age ON repeatable_requests (begun_at);

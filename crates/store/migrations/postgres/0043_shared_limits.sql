-- The current windows of limits that several processes share: how much of each was granted to all of them. Always empty on SQLite, which one process uses.
CREATE TABLE shared_limits (
    key_hash BYTEA PRIMARY KEY,
    ends BIGINT NOT NULL,
    granted BIGINT NOT NULL,
    latest BIGINT NOT NULL
);
CREATE INDEX shared_limits_by_end ON shared_limits (ends);

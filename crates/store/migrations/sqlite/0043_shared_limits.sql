-- The current windows of limits that several processes share: how much of each was granted to all of them. Always empty on SQLite, which one process uses.
CREATE TABLE shared_limits (
    key_hash BLOB PRIMARY KEY NOT NULL,
    ends INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    latest INTEGER NOT NULL
) STRICT;
CREATE INDEX shared_limits_by_end ON shared_limits (ends);

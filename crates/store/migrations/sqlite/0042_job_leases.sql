-- The background jobs that one of several processes runs, until when which process runs each. Always empty on SQLite, which one process uses.
CREATE TABLE job_leases (
    name TEXT PRIMARY KEY NOT NULL,
    holder_id BLOB NOT NULL,
    until INTEGER NOT NULL
) STRICT;

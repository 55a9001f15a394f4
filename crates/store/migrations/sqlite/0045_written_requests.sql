-- process_id is the process that handles the request: after a restart, the new one may handle a repeat. has_written is true once the
-- request has changed something: then it is not handled again. Former versions did not record this, so it may be true of their requests.
ALTER TABLE repeatable_requests ADD COLUMN process_id BLOB;
ALTER TABLE repeatable_requests ADD COLUMN has_written INTEGER NOT NULL DEFAULT 1;

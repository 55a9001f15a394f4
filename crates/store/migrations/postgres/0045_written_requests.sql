-- process_id is the node that handles the request: when its lease has ended, another one may handle a repeat. has_written is true once the
-- request has changed something: then it is not handled again. Former versions did not record this, so it may be true of their requests.
ALTER TABLE repeatable_requests ADD COLUMN process_id UUID;
ALTER TABLE repeatable_requests ADD COLUMN has_written BOOLEAN NOT NULL DEFAULT TRUE;

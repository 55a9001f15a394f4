-- The source that manages an alert, such as a set of files, and the alert's name there. NULL: people manage it.
ALTER TABLE alerts ADD COLUMN managed_source TEXT;
ALTER TABLE alerts ADD COLUMN managed_name TEXT;
CREATE UNIQUE INDEX alerts_managed ON alerts (account_id, managed_source, managed_name)
    WHERE managed_source IS NOT NULL AND deleted_at IS NULL;
-- The number of changes of the alerts of a source, except those of their status, so that of two programs that have read the same state
-- only one can change it.
CREATE TABLE alert_sources (
    account_id UUID NOT NULL REFERENCES accounts (id),
    source TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (account_id, source)
);

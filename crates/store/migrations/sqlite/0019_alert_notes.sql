-- The note and the tags of an alert; tags are a JSON array, null if there are none.
ALTER TABLE alerts ADD COLUMN note TEXT;
ALTER TABLE alerts ADD COLUMN tags TEXT;

-- The tags of accounts' alerts again, by which lists are filtered. Deleted alerts have no rows.
CREATE TABLE alert_tags (
    account_id BLOB NOT NULL,
    tag TEXT NOT NULL,
    alert_seq INTEGER NOT NULL,
    PRIMARY KEY (account_id, tag, alert_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_of_alert ON alert_tags (alert_seq);

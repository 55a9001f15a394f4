-- Each page of a list is found by an index, and no rows are read but those of the page.

-- An entry of a member that the owner of its alert over many stocks was told of has that alert's seq. So the alert's history is read
-- in one order, however many members it has.
ALTER TABLE history ADD COLUMN parent_seq INTEGER;
UPDATE history SET parent_seq = (SELECT alerts.parent_seq FROM alerts WHERE alerts.seq = history.alert_seq)
WHERE action IN ('triggered', 'expired', 'not_evaluated', 'notification_sent', 'notification_failed')
    AND alert_seq IN (SELECT seq FROM alerts WHERE parent_seq IS NOT NULL);
CREATE INDEX history_of_members ON history (parent_seq) WHERE parent_seq IS NOT NULL;

-- With the time, firings since an instant are counted in the index.
DROP INDEX events_of_account;
CREATE INDEX events_of_account ON events (account_id, seq, at) WHERE account_id IS NOT NULL;

-- The list of all deliveries merges those of each status. A webhook has one delivery of an event, so event_seq orders those of one
-- time. SQLite finds a place among equal times by any column but the primary key.
DROP INDEX deliveries_of_webhook;
CREATE INDEX deliveries_of_webhook ON deliveries (webhook_seq, status, created_at, event_seq);

-- The members of an alert are listed by their symbols.
DROP INDEX alerts_of_parent;
CREATE INDEX alerts_of_parent ON alerts (parent_seq, symbol) WHERE parent_seq IS NOT NULL;

CREATE INDEX outbox_of_channel ON outbox (channel);
CREATE INDEX feedback_by_likes ON feedback (likes);

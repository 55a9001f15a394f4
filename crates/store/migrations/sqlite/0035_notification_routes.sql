-- Where messages about firings go. alerts.routing is that of an alert as JSON; an alert without a route has that of its account, and an
-- account without one uses its own address and number.
ALTER TABLE alerts ADD COLUMN routing TEXT;

CREATE TABLE notification_routes (
    account_id BLOB PRIMARY KEY NOT NULL REFERENCES accounts (id),
    route TEXT NOT NULL
) STRICT;

-- NULL: the message goes to the account's own address or number, or to that in recipient.
ALTER TABLE messages ADD COLUMN notification_channel_seq INTEGER;
CREATE INDEX messages_of_event ON messages (event_seq) WHERE notification_channel_seq IS NOT NULL;

-- Firings whose next channel is used if the current message (or delivery) fails for good, or if nobody acknowledges the firing.
-- next_channels is a JSON array of the remaining channels. due_at is when the next one is used; NULL: after a failure only.
CREATE TABLE escalations (
    event_seq INTEGER PRIMARY KEY NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    account_id BLOB NOT NULL,
    current_id BLOB NOT NULL,
    next_channels TEXT NOT NULL,
    ack_timeout INTEGER,
    due_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX escalations_due ON escalations (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX escalations_current ON escalations (current_id);
CREATE INDEX escalations_of_account ON escalations (account_id);

-- Until then messages about alerts are kept, as in quiet hours.
ALTER TABLE accounts ADD COLUMN away_until INTEGER;

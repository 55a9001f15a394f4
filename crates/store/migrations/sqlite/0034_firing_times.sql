-- The times of a firing: when its quote was made, when it was judged, and when its transaction wrote it. at is when the quote arrived.
-- Firings of former versions have none.
ALTER TABLE events ADD COLUMN quoted_at INTEGER;
ALTER TABLE events ADD COLUMN judged_at INTEGER;
ALTER TABLE events ADD COLUMN committed_at INTEGER;
CREATE UNIQUE INDEX events_by_id ON events (id);

-- Firings that somebody has acknowledged. via is api, or the channel by which it was done.
CREATE TABLE acknowledgements (
    event_seq INTEGER PRIMARY KEY NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    account_id BLOB NOT NULL,
    at INTEGER NOT NULL,
    acknowledged_by TEXT NOT NULL,
    via TEXT NOT NULL
) STRICT;
CREATE INDEX acknowledgements_of_account ON acknowledgements (account_id);

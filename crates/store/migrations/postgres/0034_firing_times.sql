-- The times of a firing: when its quote was made, when it was judged, and when its transaction wrote it. at is when the quote arrived.
-- Firings of former versions have none.
ALTER TABLE events ADD COLUMN quoted_at BIGINT;
ALTER TABLE events ADD COLUMN judged_at BIGINT;
ALTER TABLE events ADD COLUMN committed_at BIGINT;
CREATE UNIQUE INDEX events_by_id ON events (id);

-- Firings that somebody has acknowledged. via is api, or the channel by which it was done.
CREATE TABLE acknowledgements (
    event_seq BIGINT PRIMARY KEY NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    account_id UUID NOT NULL,
    at BIGINT NOT NULL,
    acknowledged_by TEXT NOT NULL,
    via TEXT NOT NULL
);
CREATE INDEX acknowledgements_of_account ON acknowledgements (account_id);

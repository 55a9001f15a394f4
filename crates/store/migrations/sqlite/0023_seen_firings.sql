-- The position in the history up to which an account has seen its firings. Existing accounts have seen all of them.
ALTER TABLE accounts ADD COLUMN seen_firings INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET seen_firings = (SELECT COALESCE(MAX(seq), 0) FROM history);

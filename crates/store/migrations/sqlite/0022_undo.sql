-- The states of alerts before a change that its owner can undo, for a few minutes.
CREATE TABLE undo_states (
    undo_id BLOB NOT NULL,
    alert_seq INTEGER NOT NULL REFERENCES alerts (seq),
    account_id BLOB NOT NULL REFERENCES accounts (id),
    changed_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    status TEXT NOT NULL,
    initial_price INTEGER,
    initial_price_set_at INTEGER NOT NULL,
    armed_at INTEGER NOT NULL,
    triggered_at INTEGER,
    rsi_side TEXT,
    options TEXT,
    lifecycle TEXT,
    PRIMARY KEY (undo_id, alert_seq)
) STRICT;
CREATE INDEX undo_states_of_account ON undo_states (account_id);
CREATE INDEX undo_states_by_time ON undo_states (changed_at);

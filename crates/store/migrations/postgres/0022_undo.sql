-- The states of alerts before a change that its owner can undo, for a few minutes.
CREATE TABLE undo_states (
    undo_id UUID NOT NULL,
    alert_seq BIGINT NOT NULL REFERENCES alerts (seq),
    account_id UUID NOT NULL REFERENCES accounts (id),
    changed_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    status TEXT NOT NULL,
    initial_price BIGINT,
    initial_price_set_at BIGINT NOT NULL,
    armed_at BIGINT NOT NULL,
    triggered_at BIGINT,
    rsi_side TEXT,
    options TEXT,
    lifecycle TEXT,
    PRIMARY KEY (undo_id, alert_seq)
);
CREATE INDEX undo_states_of_account ON undo_states (account_id);
CREATE INDEX undo_states_by_time ON undo_states (changed_at);

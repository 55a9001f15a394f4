-- Whether an account's owner wants to be told when alerts cannot be judged for want of fresh quotes.
ALTER TABLE accounts ADD COLUMN notify_blind INTEGER NOT NULL DEFAULT 0;
CREATE INDEX accounts_told_of_blindness ON accounts (id) WHERE notify_blind;

-- Of which stocks without fresh quotes the owners of alerts were told. Rows of an account with the same told_at are one
-- letter, and one stretch of blindness; they go when its alerts are judged again. since is when the stock's quotes were stale.
CREATE TABLE blind_stretches (
    account_id BLOB NOT NULL REFERENCES accounts (id),
    symbol TEXT NOT NULL,
    since INTEGER NOT NULL,
    told_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, symbol)
) STRICT;

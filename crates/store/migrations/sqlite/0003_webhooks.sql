-- Secrets are sealed by the service: without its key they are noise.
-- failing_since is the first failure since the last success.
CREATE TABLE webhooks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    account_id BLOB NOT NULL REFERENCES accounts (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    signature TEXT NOT NULL,
    secret BLOB,
    previous_secret BLOB,
    previous_until INTEGER,
    created_at INTEGER NOT NULL,
    failing_since INTEGER,
    last_success_at INTEGER,
    disabled_at INTEGER,
    disabled_reason TEXT,
    deleted_at INTEGER
) STRICT;
CREATE INDEX webhooks_of_account ON webhooks (account_id) WHERE deleted_at IS NULL;

-- A delivery is made by the transaction that fires. While lease is not null somebody is at it, until due_at; then it is
-- anybody's again. tries counts since it was queued last.
CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    webhook_seq INTEGER NOT NULL,
    event_seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    tries INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    lease INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
-- Each webhook is a lane of its own in it: who claims goes from lane to lane.
CREATE INDEX deliveries_due ON deliveries (webhook_seq, due_at) WHERE status = 'pending';
CREATE INDEX deliveries_of_webhook ON deliveries (webhook_seq, created_at);

CREATE TABLE delivery_attempts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    http_status INTEGER,
    duration_ms INTEGER NOT NULL,
    response TEXT
) STRICT;
CREATE INDEX delivery_attempts_of_delivery ON delivery_attempts (delivery_seq);

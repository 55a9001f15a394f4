-- Secrets are sealed by the service: without its key they are noise.
-- failing_since is the first failure since the last success.
CREATE TABLE webhooks (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    signature TEXT NOT NULL,
    secret BYTEA,
    previous_secret BYTEA,
    previous_until BIGINT,
    created_at BIGINT NOT NULL,
    failing_since BIGINT,
    last_success_at BIGINT,
    disabled_at BIGINT,
    disabled_reason TEXT,
    deleted_at BIGINT
);
CREATE INDEX webhooks_of_account ON webhooks (account_id) WHERE deleted_at IS NULL;

-- A delivery is made by the transaction that fires. While lease is not null somebody is at it, until due_at; then it is
-- anybody's again. tries counts since it was queued last.
CREATE TABLE deliveries (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    webhook_seq BIGINT NOT NULL,
    event_seq BIGINT NOT NULL,
    status TEXT NOT NULL,
    tries BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    lease BIGINT,
    created_at BIGINT NOT NULL
);
-- Each webhook is a lane of its own in it: who claims goes from lane to lane.
CREATE INDEX deliveries_due ON deliveries (webhook_seq, due_at) WHERE status = 'pending';
CREATE INDEX deliveries_of_webhook ON deliveries (webhook_seq, created_at, seq);

CREATE TABLE delivery_attempts (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery_seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    http_status BIGINT,
    duration_ms BIGINT NOT NULL,
    response TEXT
);
CREATE INDEX delivery_attempts_of_delivery ON delivery_attempts (delivery_seq);

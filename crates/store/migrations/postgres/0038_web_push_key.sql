-- One row: the private key that signs push messages to browsers, sealed. It is generated at the first start, unless the operator has set
-- one. Browsers subscribe with its public key, so it must not change.
CREATE TABLE web_push_keys (
    seq BIGINT PRIMARY KEY CHECK (seq = 1),
    id UUID NOT NULL UNIQUE,
    private_key BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

-- The answers to requests that may be repeated, for a day. status and body are null while the first is being answered.
CREATE TABLE repeatable_requests (
    account_id UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key_hash BYTEA NOT NULL,
    body_hash BYTEA NOT NULL,
    begun_at BIGINT NOT NULL,
    status BIGINT,
    body BYTEA,
    PRIMARY KEY (account_id, key_hash)
);
CREATE INDEX repeatable_requests_by_age ON repeatable_requests (begun_at);

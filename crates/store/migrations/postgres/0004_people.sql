-- What an account's owner can say about themselves. Quiet hours are minutes since midnight in the account's time zone.
-- A deleted account keeps its row, with nothing in it that tells whose it was.
ALTER TABLE accounts ADD COLUMN phone TEXT;
ALTER TABLE accounts ADD COLUMN phone_verified_at BIGINT;
ALTER TABLE accounts ADD COLUMN quiet_from BIGINT;
ALTER TABLE accounts ADD COLUMN quiet_until BIGINT;
ALTER TABLE accounts ADD COLUMN deactivated_at BIGINT;
ALTER TABLE accounts ADD COLUMN deleted_at BIGINT;

-- A session is a family of refresh tokens and, where a browser signed in, a cookie. Tokens and cookies are kept as SHA-256.
CREATE TABLE sessions (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    cookie_hash BYTEA UNIQUE,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX sessions_of_account ON sessions (account_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- used_at is when it was exchanged for the next one; who shows it after that ends the session.
CREATE TABLE refresh_tokens (
    hash BYTEA PRIMARY KEY NOT NULL,
    session_seq BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_seq);

-- What is sent to somebody so that they show that it reached them: links and codes. subject is what it is about: an address,
-- a number, an alert's id. A hash is of purpose, subject and secret together, so that none is good for anything else. tries
-- counts guesses at codes that are short. payload is what a code is about besides: a guest's alert.
CREATE TABLE codes (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purpose TEXT NOT NULL,
    account_id UUID,
    subject TEXT NOT NULL,
    payload TEXT,
    hash BYTEA NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    tries BIGINT NOT NULL
);
CREATE INDEX codes_of_subject ON codes (purpose, subject, created_at);
CREATE INDEX codes_of_account ON codes (account_id, purpose, created_at) WHERE account_id IS NOT NULL;
CREATE INDEX codes_by_expiry ON codes (expires_at);

-- Mails and text messages on their way. Those about a firing have its event and are made by its transaction, from
-- the event and the account as they are when they are sent; all others have their content here, sealed, as there are links in it
-- that open accounts, until they are sent. lane is made of the recipient. lease and due_at are as in deliveries. admitted_at is
-- when a message was found to be within all limits; what was admitted is what is counted.
CREATE TABLE messages (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL,
    lane BIGINT NOT NULL,
    recipient TEXT,
    account_id UUID,
    alert_seq BIGINT,
    event_seq BIGINT,
    content BYTEA,
    status TEXT NOT NULL,
    tries BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    lease BIGINT,
    admitted_at BIGINT,
    provider_id TEXT,
    outcome TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX messages_due ON messages (channel, lane, due_at) WHERE status = 'pending';
CREATE INDEX messages_admitted_of ON messages (account_id, channel, admitted_at) WHERE admitted_at IS NOT NULL;
CREATE INDEX messages_admitted_to ON messages (recipient, channel, admitted_at) WHERE admitted_at IS NOT NULL;
CREATE INDEX messages_admitted ON messages (channel, admitted_at, kind) WHERE admitted_at IS NOT NULL;
CREATE INDEX messages_finished ON messages (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX messages_at_provider ON messages (provider_id) WHERE provider_id IS NOT NULL;

-- What was written instead of sent, where the transport is the outbox. Sealed: there are links in it that open accounts.
CREATE TABLE outbox (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    recipient TEXT NOT NULL,
    content BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX outbox_to ON outbox (recipient, seq);

-- Addresses whose owners want no more mail about alerts.
CREATE TABLE unsubscribed (
    address TEXT PRIMARY KEY NOT NULL,
    at BIGINT NOT NULL
);

CREATE TABLE feedback (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    category TEXT NOT NULL,
    likes BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE feedback_likes (
    feedback_seq BIGINT NOT NULL,
    account_id UUID NOT NULL,
    PRIMARY KEY (feedback_seq, account_id)
);

-- Whether what agents want to change waits until the account's owner has said yes.
ALTER TABLE accounts ADD COLUMN agents_wait BOOLEAN NOT NULL DEFAULT FALSE;

-- What agents want to change, and what became of it. arguments are those of the tool that was called, as JSON; asked_by is who
-- asked, in the form of alerts.created_by. begun_at is when it was approved and began to be done.
CREATE TABLE approvals (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    preview TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    begun_at BIGINT,
    decided_at BIGINT
);
CREATE INDEX approvals_of_account ON approvals (account_id, seq);
CREATE INDEX approvals_by_expiry ON approvals (expires_at);

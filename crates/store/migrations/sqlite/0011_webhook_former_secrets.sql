-- Secrets that rotations have replaced. They sign beside the current one until expires_at. They are sealed as webhooks.secret is,
-- and for the same place.
CREATE TABLE webhook_former_secrets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_seq INTEGER NOT NULL,
    secret BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX former_secrets_of_webhook ON webhook_former_secrets (webhook_seq);

INSERT INTO webhook_former_secrets (webhook_seq, secret, expires_at)
SELECT seq, previous_secret, previous_until FROM webhooks
WHERE previous_secret IS NOT NULL AND previous_until IS NOT NULL;

ALTER TABLE webhooks DROP COLUMN previous_secret;
ALTER TABLE webhooks DROP COLUMN previous_until;

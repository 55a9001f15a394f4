-- Places to which firings are sent: Slack, Telegram, further email addresses and others. `config` is the configuration as JSON, sealed,
-- without the webhook of a channel of type `webhook`, which `webhook_seq` names. A deleted channel keeps its row without its
-- configuration, because messages refer to it. `link_hash` is the hash of the code that links a Telegram chat.
CREATE TABLE notification_channels (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    config BYTEA,
    webhook_seq BIGINT,
    created_at BIGINT NOT NULL,
    verified_at BIGINT,
    last_success_at BIGINT,
    last_error TEXT,
    is_enabled BOOLEAN NOT NULL,
    link_hash BYTEA,
    link_expires_at BIGINT,
    deleted_at BIGINT
);
CREATE INDEX notification_channels_of_account ON notification_channels (account_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX notification_channels_link ON notification_channels (link_hash) WHERE link_hash IS NOT NULL;

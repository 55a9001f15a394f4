-- The Telegram channels with a linked chat, whose bots are read for buttons.
CREATE INDEX notification_channels_linked ON notification_channels (seq)
    WHERE type = 'telegram' AND verified_at IS NOT NULL AND deleted_at IS NULL;

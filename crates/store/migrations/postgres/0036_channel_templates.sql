-- The templates of a notification channel as JSON: title, text and payload. NULL: messages have the default texts.
ALTER TABLE notification_channels ADD COLUMN templates TEXT;
CREATE INDEX notification_channels_templates ON notification_channels (webhook_seq) WHERE templates IS NOT NULL;

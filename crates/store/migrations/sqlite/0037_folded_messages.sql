-- How many messages a notification channel gets: at most burst_limit within a minute, those of a digest in one, at most daily_budget on
-- a day. NULL: the default of the service, each at once, any number.
ALTER TABLE notification_channels ADD COLUMN burst_limit INTEGER;
ALTER TABLE notification_channels ADD COLUMN digest TEXT;
ALTER TABLE notification_channels ADD COLUMN daily_budget INTEGER;

-- A message that was folded into another has that one's seq, and the status 'folded' until that one is finished. burst_at is when a
-- message got the firings of a burst.
ALTER TABLE messages ADD COLUMN folded_into INTEGER;
ALTER TABLE messages ADD COLUMN burst_at INTEGER;
CREATE INDEX messages_folded ON messages (folded_into) WHERE folded_into IS NOT NULL;

-- Whether the webhook is a channel of the firing's route. A firing that no channel of its route could get goes to the account's own address.
ALTER TABLE deliveries ADD COLUMN is_routed INTEGER NOT NULL DEFAULT FALSE;
CREATE INDEX deliveries_routed ON deliveries (event_seq) WHERE is_routed;

-- Whether the message goes to the account's own address because no channel of the firing's route could get it.
ALTER TABLE messages ADD COLUMN is_fallback INTEGER NOT NULL DEFAULT FALSE;

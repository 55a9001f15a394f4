-- When an alert's condition was set, and when its initial price was. A split that becomes known late moves only what was set
-- before its day. Alerts of before this migration take both from their history.
ALTER TABLE alerts ADD COLUMN threshold_set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alerts ADD COLUMN initial_price_set_at INTEGER NOT NULL DEFAULT 0;
UPDATE alerts SET
    threshold_set_at = COALESCE(
        (SELECT MAX(at) FROM history WHERE history.alert_seq = alerts.seq AND action IN ('created', 'updated')), created_at),
    initial_price_set_at = COALESCE(
        (SELECT MAX(at) FROM history WHERE history.alert_seq = alerts.seq AND action IN ('created', 'reactivated', 'verified')),
        created_at);

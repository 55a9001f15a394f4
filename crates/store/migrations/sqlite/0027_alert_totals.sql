-- How many alerts each account has, by status. Those over many stocks count as 'scoped', since their status is derived from their
-- members, which count as 'member_' and their status. Written in the transaction that changes the alerts.
CREATE TABLE alert_totals (
    account_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    alerts INTEGER NOT NULL,
    PRIMARY KEY (account_id, kind)
) STRICT, WITHOUT ROWID;

INSERT INTO alert_totals (account_id, kind, alerts)
SELECT account_id,
       CASE WHEN parent_seq IS NOT NULL THEN 'member_' || status WHEN scope IS NOT NULL THEN 'scoped' ELSE status END,
       COUNT(*)
FROM alerts WHERE account_id IS NOT NULL AND deleted_at IS NULL
GROUP BY 1, 2;

-- A list reads the alerts that it shows, and no others.
DROP INDEX alerts_by_creation;
CREATE INDEX alerts_by_creation ON alerts (account_id, created_at) WHERE deleted_at IS NULL AND parent_seq IS NULL;
CREATE INDEX alerts_over_many_stocks ON alerts (account_id) WHERE scope IS NOT NULL AND deleted_at IS NULL;

-- How often the alerts of each account have changed. Written in the transaction that changes them; lists that have not changed are
-- recognised by it.
CREATE TABLE alert_revisions (
    account_id UUID NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);

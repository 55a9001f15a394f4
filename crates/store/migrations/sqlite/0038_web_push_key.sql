-- One row: the private key that signs push messages to browsers, sealed. It is generated at the first start, unless the operator has set
-- one. Browsers subscribe with its public key, so it must not change.
CREATE TABLE web_push_keys (
    seq INTEGER PRIMARY KEY NOT NULL CHECK (seq = 1),
    id BLOB NOT NULL UNIQUE,
    private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Programs that have registered themselves. All that is known of them is what they say of themselves. last_used_at is when
-- somebody last allowed one something; nobody misses those that were never allowed anything. id is a text, as grants have it.
CREATE TABLE oauth_clients (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT;
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE last_used_at IS NULL;
CREATE INDEX oauth_clients_by_use ON oauth_clients (last_used_at) WHERE last_used_at IS NOT NULL;

-- What an account's owner has allowed a program. It is the family of the code that was made with it and of all tokens that came
-- of that code: they are good for nothing once it has ended. client_id is a registered client's id or the address of a metadata
-- document.
CREATE TABLE oauth_grants (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    account_id BLOB NOT NULL REFERENCES accounts (id),
    client_id TEXT NOT NULL,
    client_name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
CREATE INDEX oauth_grants_of_account ON oauth_grants (account_id, seq);
CREATE INDEX oauth_grants_live ON oauth_grants (account_id, expires_at) WHERE ended_at IS NULL;
CREATE INDEX oauth_grants_unused ON oauth_grants (expires_at) WHERE last_used_at IS NULL;
CREATE INDEX oauth_grants_of_client ON oauth_grants (client_id) WHERE ended_at IS NULL;
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);
CREATE INDEX oauth_grants_ended ON oauth_grants (ended_at) WHERE ended_at IS NOT NULL;

-- Codes are kept after they were used, so that whoever shows one once more is known for it. challenge is of PKCE, method S256.
CREATE TABLE oauth_codes (
    hash BLOB PRIMARY KEY NOT NULL,
    grant_seq INTEGER NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT;
CREATE INDEX oauth_codes_of_grant ON oauth_codes (grant_seq);

-- Access tokens end by themselves, and have the scopes that they were asked for with. Refresh tokens go on as long as their
-- grant, and are kept as long after they were used: whoever shows one again ends it.
CREATE TABLE oauth_access_tokens (
    hash BLOB PRIMARY KEY NOT NULL,
    grant_seq INTEGER NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_access_tokens_of_grant ON oauth_access_tokens (grant_seq);
CREATE INDEX oauth_access_tokens_by_expiry ON oauth_access_tokens (expires_at);

CREATE TABLE oauth_refresh_tokens (
    hash BLOB PRIMARY KEY NOT NULL,
    grant_seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT;
CREATE INDEX oauth_refresh_tokens_of_grant ON oauth_refresh_tokens (grant_seq, created_at);

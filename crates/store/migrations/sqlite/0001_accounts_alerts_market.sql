-- Instants are microseconds since 1970, dates are days since 1970-01-01, prices and other decimals are millionths.
-- JSON is TEXT, so that it comes back as it was put in.

CREATE TABLE accounts (
    id BLOB PRIMARY KEY NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    full_name TEXT,
    plan TEXT NOT NULL,
    is_operator INTEGER NOT NULL,
    is_verified INTEGER NOT NULL,
    time_zone TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    account_id BLOB NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_of_account ON api_keys (account_id);

-- seq is the order of creation. No index has a column that a firing changes (status, revision, triggered_at), so that
-- firing many alerts at once rewrites their rows and nothing else.
CREATE TABLE alerts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    account_id BLOB REFERENCES accounts (id),
    guest_email TEXT,
    symbol TEXT NOT NULL,
    condition TEXT NOT NULL,
    threshold INTEGER,
    moment INTEGER,
    parameters TEXT,
    notification TEXT NOT NULL,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    initial_price INTEGER,
    created_at INTEGER NOT NULL,
    armed_at INTEGER NOT NULL,
    triggered_at INTEGER,
    rsi_side TEXT,
    onboarding_id TEXT,
    created_by TEXT,
    deleted_at INTEGER,
    CHECK ((account_id IS NULL) <> (guest_email IS NULL))
) STRICT;
CREATE INDEX alerts_by_creation ON alerts (account_id, created_at);
CREATE INDEX alerts_by_wish ON alerts (account_id, symbol, condition, threshold);
CREATE INDEX alerts_of_symbol ON alerts (symbol);
CREATE INDEX alerts_of_guest ON alerts (guest_email, symbol) WHERE guest_email IS NOT NULL;
CREATE INDEX alerts_by_onboarding ON alerts (onboarding_id) WHERE onboarding_id IS NOT NULL;

-- seq is the order of all that happened to alerts: the change feed.
CREATE TABLE history (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    alert_seq INTEGER NOT NULL,
    action TEXT NOT NULL,
    previous_status TEXT,
    new_status TEXT NOT NULL,
    at INTEGER NOT NULL,
    price INTEGER,
    details TEXT
) STRICT;
CREATE INDEX history_of_alert ON history (alert_seq);

-- seq is that of the firing's history entry.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    account_id BLOB,
    alert_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_account ON events (account_id) WHERE account_id IS NOT NULL;

CREATE TABLE marks (
    name TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- name_lower is the name in lower case, for searching.
CREATE TABLE stocks (
    symbol TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    name_lower TEXT NOT NULL,
    kind TEXT,
    sector TEXT,
    industry TEXT,
    country TEXT,
    exchange TEXT,
    isin TEXT,
    is_active INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bars (
    symbol TEXT NOT NULL,
    date INTEGER NOT NULL,
    open INTEGER NOT NULL,
    high INTEGER NOT NULL,
    low INTEGER NOT NULL,
    close INTEGER NOT NULL,
    volume INTEGER NOT NULL,
    PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID;

CREATE TABLE quotes (
    symbol TEXT PRIMARY KEY NOT NULL,
    session INTEGER NOT NULL,
    open INTEGER NOT NULL,
    high INTEGER NOT NULL,
    low INTEGER NOT NULL,
    last INTEGER NOT NULL,
    volume INTEGER,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE fundamentals (
    symbol TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    eps_ttm INTEGER,
    eps_forward INTEGER,
    market_cap INTEGER,
    dividend_yield INTEGER,
    dividend_amount INTEGER,
    beta INTEGER,
    PRIMARY KEY (symbol, as_of)
) STRICT, WITHOUT ROWID;

CREATE TABLE earnings (
    symbol TEXT NOT NULL,
    date INTEGER NOT NULL,
    time TEXT NOT NULL,
    eps_estimate INTEGER,
    PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID;

CREATE TABLE dividends (
    symbol TEXT NOT NULL,
    ex_date INTEGER NOT NULL,
    payment_date INTEGER,
    amount INTEGER,
    PRIMARY KEY (symbol, ex_date)
) STRICT, WITHOUT ROWID;

-- applied is 1 once the alerts of the stock were moved into the new shares.
CREATE TABLE splits (
    symbol TEXT NOT NULL,
    date INTEGER NOT NULL,
    ratio INTEGER NOT NULL,
    applied INTEGER NOT NULL,
    PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID;

-- The same trade may be delivered again and again, and one filing may have two trades that look the same: ordinal counts
-- those within one delivery. traded_on is -2147483648 where it is not known.
CREATE TABLE insider_trades (
    symbol TEXT NOT NULL,
    filed_on INTEGER NOT NULL,
    traded_on INTEGER NOT NULL,
    insider TEXT NOT NULL,
    code TEXT NOT NULL,
    side TEXT NOT NULL,
    shares INTEGER NOT NULL,
    price INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (filed_on, symbol, insider, traded_on, code, side, shares, price, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE mentions (
    symbol TEXT NOT NULL,
    time INTEGER NOT NULL,
    mentions INTEGER NOT NULL,
    PRIMARY KEY (time, symbol)
) STRICT, WITHOUT ROWID;

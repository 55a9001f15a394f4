-- Instants are microseconds since 1970, dates are days since 1970-01-01, prices and other decimals are millionths.
-- JSON is TEXT, so that it comes back as it was put in.
-- What lists are sorted by has the order of its bytes, as in SQLite.

CREATE TABLE accounts (
    id UUID PRIMARY KEY NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    full_name TEXT,
    plan TEXT NOT NULL,
    is_operator BOOLEAN NOT NULL,
    is_verified BOOLEAN NOT NULL,
    time_zone TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE INDEX api_keys_of_account ON api_keys (account_id);

-- seq is the order of creation. No index has a column that a firing changes (status, revision, triggered_at), so that
-- firing many alerts at once rewrites their rows and nothing else; the pages have room for the new versions.
CREATE TABLE alerts (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    account_id UUID REFERENCES accounts (id),
    guest_email TEXT,
    symbol TEXT COLLATE "C" NOT NULL,
    condition TEXT COLLATE "C" NOT NULL,
    threshold BIGINT,
    moment BIGINT,
    parameters TEXT,
    notification TEXT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    initial_price BIGINT,
    created_at BIGINT NOT NULL,
    armed_at BIGINT NOT NULL,
    triggered_at BIGINT,
    rsi_side TEXT,
    onboarding_id TEXT,
    created_by TEXT,
    deleted_at BIGINT,
    CHECK ((account_id IS NULL) <> (guest_email IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX alerts_by_creation ON alerts (account_id, created_at, seq);
CREATE INDEX alerts_by_wish ON alerts (account_id, symbol, condition, threshold);
CREATE INDEX alerts_of_symbol ON alerts (symbol);
CREATE INDEX alerts_of_guest ON alerts (guest_email, symbol) WHERE guest_email IS NOT NULL;
CREATE INDEX alerts_by_onboarding ON alerts (onboarding_id) WHERE onboarding_id IS NOT NULL;

-- seq is the order of all that happened to alerts: the change feed.
CREATE TABLE history (
    seq BIGINT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME history_order) PRIMARY KEY,
    alert_seq BIGINT NOT NULL,
    action TEXT NOT NULL,
    previous_status TEXT,
    new_status TEXT NOT NULL,
    at BIGINT NOT NULL,
    price BIGINT,
    details TEXT
);
CREATE INDEX history_of_alert ON history (alert_seq, seq);

-- seq is that of the firing's history entry.
CREATE TABLE events (
    seq BIGINT PRIMARY KEY,
    id UUID NOT NULL,
    account_id UUID,
    alert_seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX events_of_account ON events (account_id, seq) WHERE account_id IS NOT NULL;

CREATE TABLE marks (
    name TEXT PRIMARY KEY NOT NULL,
    at BIGINT NOT NULL
);

-- name_lower is the name in lower case, for searching.
CREATE TABLE stocks (
    symbol TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    name_lower TEXT NOT NULL,
    kind TEXT,
    sector TEXT,
    industry TEXT,
    country TEXT,
    exchange TEXT,
    isin TEXT,
    is_active BOOLEAN NOT NULL
);

CREATE TABLE bars (
    symbol TEXT COLLATE "C" NOT NULL,
    date BIGINT NOT NULL,
    open BIGINT NOT NULL,
    high BIGINT NOT NULL,
    low BIGINT NOT NULL,
    close BIGINT NOT NULL,
    volume BIGINT NOT NULL,
    PRIMARY KEY (symbol, date)
);

CREATE TABLE quotes (
    symbol TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    session BIGINT NOT NULL,
    open BIGINT NOT NULL,
    high BIGINT NOT NULL,
    low BIGINT NOT NULL,
    last BIGINT NOT NULL,
    volume BIGINT,
    at BIGINT NOT NULL
);

CREATE TABLE fundamentals (
    symbol TEXT COLLATE "C" NOT NULL,
    as_of BIGINT NOT NULL,
    eps_ttm BIGINT,
    eps_forward BIGINT,
    market_cap BIGINT,
    dividend_yield BIGINT,
    dividend_amount BIGINT,
    beta BIGINT,
    PRIMARY KEY (symbol, as_of)
);

CREATE TABLE earnings (
    symbol TEXT COLLATE "C" NOT NULL,
    date BIGINT NOT NULL,
    time TEXT NOT NULL,
    eps_estimate BIGINT,
    PRIMARY KEY (symbol, date)
);

CREATE TABLE dividends (
    symbol TEXT COLLATE "C" NOT NULL,
    ex_date BIGINT NOT NULL,
    payment_date BIGINT,
    amount BIGINT,
    PRIMARY KEY (symbol, ex_date)
);

-- applied is 1 once the alerts of the stock were moved into the new shares.
CREATE TABLE splits (
    symbol TEXT COLLATE "C" NOT NULL,
    date BIGINT NOT NULL,
    ratio BIGINT NOT NULL,
    applied BIGINT NOT NULL,
    PRIMARY KEY (symbol, date)
);

-- The same trade may be delivered again and again, and one filing may have two trades that look the same: ordinal counts
-- those within one delivery. traded_on is -2147483648 where it is not known.
CREATE TABLE insider_trades (
    symbol TEXT COLLATE "C" NOT NULL,
    filed_on BIGINT NOT NULL,
    traded_on BIGINT NOT NULL,
    insider TEXT COLLATE "C" NOT NULL,
    code TEXT NOT NULL,
    side TEXT NOT NULL,
    shares BIGINT NOT NULL,
    price BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    PRIMARY KEY (filed_on, symbol, insider, traded_on, code, side, shares, price, ordinal)
);

CREATE TABLE mentions (
    symbol TEXT COLLATE "C" NOT NULL,
    time BIGINT NOT NULL,
    mentions BIGINT NOT NULL,
    PRIMARY KEY (time, symbol)
);

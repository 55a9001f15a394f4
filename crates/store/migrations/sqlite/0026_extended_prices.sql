-- The newest price of a stock in extended hours, if an alert is judged by it. It counts until its session is observed.
CREATE TABLE extended_prices (
    symbol TEXT PRIMARY KEY NOT NULL,
    -- Date of the session that opens next, in days since 1970.
    session INTEGER NOT NULL,
    price INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bid INTEGER,
    ask INTEGER
) STRICT, WITHOUT ROWID;

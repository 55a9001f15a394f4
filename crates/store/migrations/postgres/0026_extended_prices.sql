-- The newest price of a stock in extended hours, if an alert is judged by it. It counts until its session is observed.
CREATE TABLE extended_prices (
    symbol TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    -- Date of the session that opens next, in days since 1970.
    session BIGINT NOT NULL,
    price BIGINT NOT NULL,
    at BIGINT NOT NULL,
    bid BIGINT,
    ask BIGINT
);

-- The intraday bars of recent sessions, from sources that deliver them, in the shares of their days.
CREATE TABLE intraday_bars (
    symbol TEXT COLLATE "C" NOT NULL,
    -- The instant at which the bar begins, in microseconds since 1970.
    time BIGINT NOT NULL,
    open BIGINT NOT NULL,
    high BIGINT NOT NULL,
    low BIGINT NOT NULL,
    close BIGINT NOT NULL,
    volume BIGINT NOT NULL,
    PRIMARY KEY (symbol, time)
);
CREATE INDEX intraday_bars_time ON intraday_bars (time);

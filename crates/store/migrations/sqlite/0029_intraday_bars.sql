-- The intraday bars of recent sessions, from sources that deliver them, in the shares of their days.
CREATE TABLE intraday_bars (
    symbol TEXT NOT NULL,
    -- The instant at which the bar begins, in microseconds since 1970.
    time INTEGER NOT NULL,
    open INTEGER NOT NULL,
    high INTEGER NOT NULL,
    low INTEGER NOT NULL,
    close INTEGER NOT NULL,
    volume INTEGER NOT NULL,
    PRIMARY KEY (symbol, time)
) STRICT, WITHOUT ROWID;
CREATE INDEX intraday_bars_time ON intraday_bars (time);

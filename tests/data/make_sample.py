#!/usr/bin/env python3
"""Writes the market data of tests/data/sample: invented stocks, in the format of docs/data-folder.md, and reference values.

    pip install numpy==2.4.6 TA-Lib==0.8.2 exchange_calendars==4.13.2
    tests/data/make_sample.py

The prices are random walks from a fixed seed; no real company and no vendor's data is behind them. Averages, RSI and the other
indicators are computed by TA-Lib, sessions and holidays come from the package exchange_calendars, crosses and extremes are computed
here in integers.
"""

import gzip
import io
from pathlib import Path

import exchange_calendars
import numpy
import talib

FOLDER = Path(__file__).parent / "sample"
SEED = 20190102
ADJUSTED = ["ZQAL", "ZQBO", "ZQCU", "ZQDI"]
AS_TRADED = {"ZQSP": [("2020-08-31", 4)], "ZQTW": [("2021-03-15", 20), ("2023-06-05", 2)]}
FIRST, LAST = "2019-01-02", "2024-03-08"


def write(name, header, rows):
    text = ",".join(header) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not name.endswith(".gz"):
        path.write_text(text)
        return
    data = io.BytesIO()
    with gzip.GzipFile(fileobj=data, mode="wb", mtime=0, compresslevel=9) as packed:
        packed.write(text.encode())
    path.write_bytes(data.getvalue())


def dollars(cents):
    return f"{cents / 100:.2f}".rstrip("0").rstrip(".")


def bars(days, start, random):
    """A random walk in cents with clusters of volatility, a crash, and trends that change about twice a year."""
    close, volatility, trend = start, 0.015, 0.0
    made = []
    for day in days:
        volatility = 0.94 * volatility + 0.06 * abs(random.normal(0, 0.016)) + 0.0003
        if random.random() < 0.012:
            trend = random.normal(0.0004, 0.0022)
        crash = -0.03 if "2020-02-24" <= day <= "2020-03-20" else 0.0
        opened = max(100, round(close * (1 + random.normal(0, 0.005))))
        close = max(100, round(opened * (1 + trend + crash + random.normal(0, volatility))))
        high = max(opened, close) + round(close * abs(random.normal(0, volatility / 2)))
        low = max(50, min(opened, close) - round(close * abs(random.normal(0, volatility / 2))))
        volume = int(1_000_000 * numpy.exp(random.normal(0, 0.35)) * (1 + 30 * volatility))
        made.append((day, opened, high, low, close, volume))
    return made


def bar_rows(symbol, made):
    return [(symbol, day, *map(dollars, prices), volume) for day, *prices, volume in made]


def as_traded(made, splits):
    """The bars as they were traded: before a split, prices are higher and volumes lower."""
    rows = []
    for day, *prices, volume in made:
        factor = int(numpy.prod([ratio for date, ratio in splits if day < date]))
        rows.append((day, *(price * factor for price in prices), volume // factor))
    return rows


def indicators(symbol, made):
    day, _, high, low, close, volume = (list(column) for column in zip(*made))
    prices = numpy.array(close) / 100
    highs, lows, volumes = numpy.array(high) / 100, numpy.array(low) / 100, numpy.array(volume, dtype=float)
    macd, signal, _ = talib.MACD(prices, 12, 26, 9)
    upper, _, lower = talib.BBANDS(prices, 20, 2, 2)
    columns = [
        talib.SMA(prices, 50), talib.SMA(prices, 200), talib.RSI(prices, 14), talib.SMA(volumes, 20), talib.SMA(volumes, 100),
        talib.EMA(prices, 12), talib.EMA(prices, 200), macd, signal, upper, lower, talib.ATR(highs, lows, prices, 14),
        talib.STDDEV(prices, 20),
    ]
    rows = []
    for at in range(len(day)):
        values = ["" if numpy.isnan(column[at]) else repr(round(float(column[at]), 9)) for column in columns]
        extremes = []
        for end in (at + 1, at):
            window = slice(end - 252, end)
            extremes += [dollars(max(high[window])), dollars(min(low[window]))] if end >= 252 else ["", ""]
        rows.append((symbol, day[at], dollars(close[at]), *values, *extremes))
    return rows


def crosses(symbol, made):
    """The days at whose close the 50-day average is strictly beyond the 200-day average and was not the day before."""
    closes = [bar[4] for bar in made]
    side = lambda end: 4 * sum(closes[end - 50 : end]) - sum(closes[end - 200 : end])
    found = []
    for at in range(200, len(made)):
        before, now = side(at), side(at + 1)
        if before <= 0 < now:
            found.append((symbol, made[at][0], "golden_cross"))
        elif before >= 0 > now:
            found.append((symbol, made[at][0], "death_cross"))
    return found


def calendar():
    """Sessions of the New York Stock Exchange from 2000 to 2030."""
    nyse = exchange_calendars.get_calendar("XNYS", start="2000-01-01", end="2030-12-31")
    early = set(nyse.early_closes)
    utc = lambda instant: instant.strftime("%Y-%m-%dT%H:%M:%SZ")
    header = ("session", "open_utc", "close_utc", "early_close")
    rows = [
        (session.date(), utc(row.open), utc(row.close), int(session in early)) for session, row in nyse.schedule.iterrows()
    ]
    write("reference/nyse_sessions_2000_2030.csv.gz", header, rows)
    write("reference/nyse_early_closes_2000_2030.csv", header, [row for row in rows if row[3]])
    named = nyse.regular_holidays.holidays("2000-01-01", "2030-12-31", return_name=True).items()
    closed = {day.date(): name for day, name in named}
    for day in nyse.adhoc_holidays:
        if day.date().year >= 2000:
            closed.setdefault(day.date(), "AD HOC:")
    write("reference/nyse_holidays_2000_2030.csv", ("date", "weekday", "name"),
          [(day, f"{day:%A}", name) for day, name in sorted(closed.items()) if day.weekday() < 5])


def main():
    calendar()
    random = numpy.random.default_rng(SEED)
    nyse = exchange_calendars.get_calendar("XNYS", start="2015-01-01", end="2030-12-31")
    days = [str(day.date()) for day in nyse.sessions_in_range(FIRST, LAST)]
    made = {symbol: bars(days, start, random) for symbol, start in zip(ADJUSTED, (3_950, 11_200, 980, 27_300))}
    adjusted = [row for symbol in ADJUSTED for row in bar_rows(symbol, made[symbol])]
    header = ("symbol", "date", "open", "high", "low", "close", "volume")
    write("us500/bars/us500_2019_2024.csv.gz", header, adjusted)
    write("reference/indicators_10_symbols.csv.gz",
          ("symbol", "date", "close", "sma50", "sma200", "rsi14", "vol_sma20", "vol_sma100", "ema12", "ema200", "macd",
           "macd_signal", "bb_upper", "bb_lower", "atr14", "stdev20", "hi252_high", "lo252_low", "hi252_high_prev",
           "lo252_low_prev"),
          [row for symbol in ADJUSTED for row in indicators(symbol, made[symbol])])
    write("reference/golden_death_crosses_10_symbols.csv", ("symbol", "date", "event"),
          [row for symbol in ADJUSTED for row in crosses(symbol, made[symbol])])

    quarters = days[30::63]
    write("us500/dividends.csv.gz", ("symbol", "ex_date", "payment_date", "amount"),
          [(symbol, day, "", round(0.2 + 0.01 * at, 2))
           for symbol in ADJUSTED[:2] for at, day in enumerate(quarters)])
    write("us500/earnings.csv.gz", ("symbol", "date", "time", "eps_estimate"),
          [(symbol, day, ("before_open", "after_close")[at % 2], round(0.5 + 0.03 * at, 2))
           for symbol in ADJUSTED for at, day in enumerate(days[20::63])])
    write("us500/fundamentals.csv.gz", ("symbol", "as_of", "eps_ttm"),
          [(symbol, day, round(float(random.normal(2, 1)), 2)) for symbol in ADJUSTED for day in days[25::63]])
    write("us500/insiders.csv.gz", ("symbol", "filed_on", "traded_on", "insider", "code", "side", "shares", "price"),
          [(symbol, days[at + 2], days[at], f"Insider {int(random.integers(1, 7))}", code, side,
            int(random.integers(1_000, 40_000)), dollars(made[symbol][at][4]))
           for symbol in ADJUSTED for at in range(700, 1_000, 7)
           for code, side in [[("P", "buy"), ("S", "sell"), ("F", "sell"), ("A", "buy")][int(random.integers(0, 4))]]])

    random = numpy.random.default_rng([SEED, 23])
    traded, splits = [], []
    for symbol, of_symbol in AS_TRADED.items():
        traded += bar_rows(symbol, as_traded(bars(days, 6_400, random), of_symbol))
        splits += [(symbol, date, float(ratio)) for date, ratio in of_symbol]
    write("unadjusted/bars/unadjusted_2019_2025.csv.gz", header, traded)
    write("unadjusted/splits.csv", ("symbol", "date", "ratio"), splits)
    write("unadjusted/dividends.csv", ("symbol", "ex_date", "payment_date", "amount"), [])

    random = numpy.random.default_rng([SEED, 2])
    hours = numpy.datetime64("2023-02-26T21:00:00") + numpy.arange(1_300) * numpy.timedelta64(1, "h")
    write("mentions/mentions.csv.gz", ("symbol", "time", "mentions"),
          [(symbol, f"{hour}Z", int(random.poisson(40 * (8 if 600 <= at % 900 < 620 else 1))))
           for symbol in ADJUSTED[:2] for at, hour in enumerate(hours)])


if __name__ == "__main__":
    main()

"""The level of all paper trades at each close, computed by NumPy: one matrix of trades by sessions, no loop over days.

Reads the inputs (see numpy.rs) and prints a JSON list. Written from docs/paper-trades.md, independently of the Rust code.
"""

import csv
import glob
import gzip
import json
import os
import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import numpy as np

inputs = json.load(open(sys.argv[1]))
dates = [row[0] for row in inputs["sessions"]]
opens = np.array([row[1] for row in inputs["sessions"]])
closes_at = np.array([row[2] for row in inputs["sessions"]])
count = len(dates)
trades = inputs["trades"]
wanted = {trade["symbol"] for trade in trades}


def rows(path):
    for name in glob.glob(path) + glob.glob(path + ".gz"):
        with gzip.open(name, "rt") if name.endswith(".gz") else open(name) as file:
            yield from csv.DictReader(file)


def path(*parts):
    return os.path.join(inputs["folder"], *parts)


def new_york_date(instant):
    return str(datetime.fromtimestamp(instant, timezone.utc).astimezone(ZoneInfo("America/New_York")).date())


splits = [(row["symbol"], row["date"], float(row["ratio"])) for row in rows(path("splits.csv"))]


def factor(symbol, date):
    """New shares at the end for each share of `date`."""
    return np.prod([ratio for of, day, ratio in splits if of == symbol and day > date])


number = {date: at for at, date in enumerate(dates)}
close = {symbol: np.full(count, np.nan) for symbol in wanted}
for row in rows(path("bars", "*.csv")):
    if row["symbol"] in wanted and row["date"] in number:
        close[row["symbol"]][number[row["date"]]] = float(row["close"])
for symbol, column in close.items():
    if any(of == symbol for of, _, _ in splits):
        column /= np.array([factor(symbol, date) for date in dates])

dividend = {symbol: np.zeros(count) for symbol in wanted}
for row in rows(path("dividends.csv")):
    at = int(np.searchsorted(dates, row["ex_date"]))
    if row["symbol"] in wanted and row["amount"] and at < count:
        dividend[row["symbol"]][at] += float(row["amount"]) / factor(row["symbol"], row["ex_date"])

never = np.iinfo(np.int64).max
entry_at = np.array([trade["entry"][0] for trade in trades])
exit_at = np.array([trade["exit"][0] if trade["exit"] else never for trade in trades])
first = np.searchsorted(closes_at, entry_at)  # the first session that closes at or after
last = np.searchsorted(closes_at, exit_at)
price = lambda trade, end: float(trade[end][1]) / factor(trade["symbol"], new_york_date(trade[end][0]))
entry = np.array([price(trade, "entry") for trade in trades])
sign = np.array([trade["sign"] for trade in trades])

# prices[:, 0] is the entry price, prices[:, d + 1] the price at the end of session d.
prices = np.full((len(trades), count + 1), np.nan)
for at, trade in enumerate(trades):
    prices[at, 1:] = close[trade["symbol"]]
    prices[at, : first[at] + 1] = entry[at]
    if trade["exit"] and last[at] < count:
        prices[at, last[at] + 1 :] = price(trade, "exit")
seen = np.where(np.isnan(prices), 0, np.arange(count + 1))
prices = np.take_along_axis(prices, np.maximum.accumulate(seen, axis=1), axis=1)

days = np.arange(count)
held = (first[:, None] <= days) & (days <= last[:, None])
entitled = held & (entry_at[:, None] < opens) & (opens <= exit_at[:, None])
shares = (1000.0 / entry)[:, None]
paid = np.array([dividend[trade["symbol"]] for trade in trades]) * entitled
profit = (sign[:, None] * shares * (np.diff(prices, axis=1) * held + paid)).sum(axis=0)
base = (shares * prices[:, :-1] * held).sum(axis=0)
returns = np.divide(profit, base, out=np.zeros(count), where=base > 0)
json.dump(np.cumprod(1.0 + returns).tolist(), sys.stdout)

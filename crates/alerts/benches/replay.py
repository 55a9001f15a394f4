"""The replay of replay.rs as a vectorised NumPy scan: python3 replay.py DIRECTORY ROUNDS STOCKS DAYS WARM_UP

Reads what the bench wrote into the directory, finds for every alert the observation at which it fires first (-1: never), and
writes that. Prints two processor times in seconds, each the best of ROUNDS without reading files: of the scan (every observation compared
with every threshold) and of a shorter way that a batch job may take and a live service may not (running extremes of the whole
future, searched for the thresholds).
"""

import sys
import time

import numpy as np

PRICE, CHANGE, EXTREME, CROSS, TOUCH, RSI, VOLUME, PE = range(8)
PERCENT = 100_000_000  # 100 % in millionths of a percent


def scan(series, keys):
    """Where each key is reached first, by comparing everything with everything."""
    reached = series[None, :] >= keys[:, None]
    first = reached.argmax(axis=1)
    return np.where(reached[np.arange(len(keys)), first], first, -1)


def search(series, keys):
    """The same by binary search in the running maximum."""
    first = np.searchsorted(np.maximum.accumulate(series), keys)
    return np.where(first < len(series), first, -1)


def first_true(events):
    """The first observation of each stock at which an event happens."""
    first = events.argmax(axis=1)
    return np.where(np.take_along_axis(events, first[:, None], 1)[:, 0], first, -1)


def rolling_max(values, width):
    """The maximum of each `width` (a power of two) values in a row."""
    span = 1
    while span < width:
        values = np.maximum(values[:, :-span], values[:, span:])
        span *= 2
    return values


class Market:
    def __init__(self, directory, stocks, days, warm_up):
        def read(name, *shape):
            return np.fromfile(f"{directory}/{name}", np.int64).reshape(shape)

        self.high, self.low, self.close, self.volume = (
            read(name, stocks, days) for name in ("high", "low", "close", "volume")
        )
        self.day = read("day", days)
        replayed = days - warm_up
        self.price, self.traded = (
            read(name, stocks, replayed, 4) for name in ("price", "traded")
        )
        self.alerts = read("alerts", -1, 5)
        self.days = np.arange(warm_up, days)

    def sums(self, values):
        """A function to the sums of the last n values before each replayed session."""
        total = np.zeros((values.shape[0], values.shape[1] + 1), np.int64)
        np.cumsum(values, axis=1, out=total[:, 1:])
        return lambda n: (total[:, self.days] - total[:, self.days - n])[:, :, None]

    def flat(self, values):
        return np.ascontiguousarray(values).reshape(len(self.price), -1)

    def rsi(self):
        """Wilder's RSI(14) of every observation, in millionths of a point."""
        gains = np.empty((len(self.days), len(self.close)))
        losses = np.empty_like(gains)
        closes = np.ascontiguousarray(self.close.T)
        change = np.diff(closes, axis=0).astype(np.float64)
        up, down = np.maximum(change, 0.0), np.maximum(-change, 0.0)
        gain, loss = up[:14].sum(axis=0) / 14.0, down[:14].sum(axis=0) / 14.0
        for at in range(14, len(closes) - 1):
            if at >= self.days[0] - 1:
                gains[at + 1 - self.days[0]], losses[at + 1 - self.days[0]] = gain, loss
            gain = (gain * 13.0 + up[at]) / 14.0
            loss = (loss * 13.0 + down[at]) / 14.0
        moved = (self.price - self.close[:, self.days - 1][:, :, None]).astype(np.float64)
        gain = (gains.T[:, :, None] * 13.0 + np.maximum(moved, 0.0)) / 14.0
        loss = (losses.T[:, :, None] * 13.0 + np.maximum(-moved, 0.0)) / 14.0
        value = 100.0 * gain / (gain + loss)
        return np.floor(value * 1e6 + 0.5).astype(np.int64)

    def beyond_extreme(self, price, before):
        """Where `price` is beyond the highest of `before` over 364 days and of the session so far."""
        start = np.searchsorted(self.day, self.day[self.days] - 364)
        length = self.days - start
        assert length.min() >= 128 and length.max() <= 256
        highest = rolling_max(before, 128)
        known = np.maximum(highest[:, start], highest[:, self.days - 128])
        so_far = np.concatenate([known[:, :, None], price[:, :, :3]], axis=2)
        return price > np.maximum.accumulate(so_far, axis=2)

    def replay(self, find):
        stock, kind, side, a, b = self.alerts.T
        first = np.full(len(stock), -1)
        price, sums = self.price, self.sums(self.close)

        def by_level(chosen, series, keys):
            """Alerts that wait for a series to reach a number, stock by stock."""
            order = np.flatnonzero(chosen)
            order = order[np.argsort(stock[order], kind="stable")]
            bounds = np.searchsorted(stock[order], np.arange(len(price) + 1))
            for at in range(len(price)):
                these = order[bounds[at] : bounds[at + 1]]
                if len(these):
                    first[these] = find(series[at], keys[these])

        def by_event(chosen, events):
            """Alerts that wait for the same thing as all others of their stock."""
            first[chosen] = first_true(self.flat(events))[stock[chosen]]

        percent = b * (PERCENT + side * a)
        level = np.where(kind == PRICE, a, 0)
        level = np.where(kind == CHANGE, side * -(-side * percent // PERCENT), level)
        level = np.where(kind == PE, side * -(-side * a * b // 1_000_000), level)
        of_price = (kind == PRICE) | (kind == CHANGE) | (kind == PE)
        rsi = self.flat(self.rsi())
        prices = self.flat(price)
        for way in (1, -1):
            of_way = side == way
            by_level(of_price & of_way, way * prices, way * level)
            by_level((kind == RSI) & of_way, way * rsi, way * a)
            known = self.high if way > 0 else -self.low
            by_event((kind == EXTREME) & of_way, self.beyond_extreme(way * price, known))
            stood = way * (4 * sums(50) - sums(200)) > 0
            crossed = way * (3 * price - (sums(199) - 4 * sums(49))) > 0
            by_event((kind == CROSS) & of_way, crossed & ~stood)
        for period in (20, 50, 200):
            place = self.flat(np.sign(price * (period - 1) - sums(period - 1)))
            for way in (1, -1):
                came = np.zeros(place.shape, bool)
                came[:, 1:] = (place[:, :-1] == -way) & (place[:, 1:] != -way)
                by_event((kind == TOUCH) & (side == way) & (a == period), came)
        volumes = self.sums(self.volume)
        for sessions in (20, 100):
            above = self.traded * (sessions * PERCENT) // volumes(sessions) - PERCENT
            by_level((kind == VOLUME) & (b == sessions), self.flat(above), a)
        return first


def main():
    directory, rounds = sys.argv[1], int(sys.argv[2])
    market = Market(directory, *map(int, sys.argv[3:6]))
    answers, times = [], []
    for find in (scan, search):
        best = float("inf")
        for _ in range(rounds):
            start = time.process_time()
            answer = market.replay(find)
            best = min(best, time.process_time() - start)
        answers.append(answer)
        times.append(best)
    assert (answers[0] == answers[1]).all()
    answers[0].astype(np.int64).tofile(f"{directory}/first")
    print(*times)


main()

//! The sessions of which all intraday bars are stored.

use market::calendar::new_york_date;
use market::{Bar, Calendar, IntradayBar};

/// Returns the intraday bars of those sessions alone whose bars add up to the daily bar: a replay observes them in its place, so with
/// missing bars it would not see all prices. They begin and end with its open and close, reach its high and low, and have at
/// least nine tenths of its volume: the trades of auctions are in no intraday bar of some sources.
pub(super) fn whole_sessions(bars: &[IntradayBar], daily: &[Bar], calendar: &Calendar) -> Vec<IntradayBar> {
    let mut whole = Vec::new();
    for of_day in bars.chunk_by(|one, next| new_york_date(one.time) == new_york_date(next.time)) {
        let Some(session) = of_day.first().and_then(|bar| calendar.session(new_york_date(bar.time))) else {
            continue;
        };
        let is_within = |bar: &&IntradayBar| session.open <= bar.time && bar.time < session.close;
        let within: Vec<IntradayBar> = of_day.iter().filter(is_within).copied().collect();
        let day = daily.binary_search_by_key(&session.date, |bar| bar.date);
        if day.is_ok_and(|at| add_up(&within, &daily[at])) {
            whole.extend(within);
        }
    }
    whole
}

fn add_up(bars: &[IntradayBar], day: &Bar) -> bool {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        return false;
    };
    let high = bars.iter().map(|bar| bar.high).max();
    let low = bars.iter().map(|bar| bar.low).min();
    let volume: i128 = bars.iter().map(|bar| i128::from(bar.volume)).sum();
    (first.open, last.close) == (day.open, day.close)
        && high >= Some(day.high)
        && low <= Some(day.low)
        && volume * 10 >= i128::from(day.volume) * 9
}

#[cfg(test)]
mod tests {
    use super::*;
    use market::Price;

    const MINUTES: [&str; 3] = ["13:30", "13:33", "19:59"];

    fn price(units: i64) -> Price {
        Price::from_micros(units * market::MICROS_PER_UNIT).unwrap()
    }

    /// Returns a bar of 8 July 2024 with its open, high, low and close.
    fn intraday(time: &str, [open, high, low, close]: [i64; 4]) -> IntradayBar {
        IntradayBar {
            time: format!("2024-07-08T{time}:00Z").parse().unwrap(),
            open: price(open),
            high: price(high),
            low: price(low),
            close: price(close),
            volume: 100,
        }
    }

    fn session() -> Vec<IntradayBar> {
        let prices = [[10, 12, 10, 11], [11, 11, 8, 9], [9, 10, 9, 10]];
        MINUTES
            .iter()
            .zip(prices)
            .map(|(time, prices)| intraday(time, prices))
            .collect()
    }

    fn kept(bars: &[IntradayBar], volume: i64, calendar: &Calendar) -> usize {
        let day = intraday("13:30", [10, 12, 8, 10]).with_date("2024-07-08".parse().unwrap());
        whole_sessions(bars, &[Bar { volume, ..day }], calendar).len()
    }

    #[test]
    fn session_whose_bars_add_up_is_whole() {
        assert_eq!(kept(&session(), 300, &Calendar::nyse()), 3);
    }

    #[test]
    fn session_with_a_missing_bar_is_left_out() {
        for (missing, time) in MINUTES.iter().enumerate() {
            let mut bars = session();
            bars.remove(missing);
            assert_eq!(kept(&bars, 200, &Calendar::nyse()), 0, "{time}");
        }
    }

    #[test]
    fn a_tenth_of_the_volume_may_be_in_no_intraday_bar() {
        assert_eq!(kept(&session(), 333, &Calendar::nyse()), 3);
        assert_eq!(kept(&session(), 334, &Calendar::nyse()), 0);
    }

    #[test]
    fn bars_outside_of_the_session_do_not_count() {
        let low_after_the_close = [10, 10, 8, 10];
        let mut bars = session();
        bars[1] = intraday("13:33", [11, 11, 9, 9]);
        bars.push(intraday("20:00", low_after_the_close));
        assert_eq!(kept(&bars, 300, &Calendar::nyse()), 0);
        let mut bars = session();
        bars.insert(0, intraday("13:29", low_after_the_close));
        assert_eq!(kept(&bars, 300, &Calendar::nyse()), 3);
    }
}

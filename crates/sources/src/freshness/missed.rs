//! Converts the minute bars of a gap to quotes.

use jiff::SignedDuration;
use market::records::QuoteRow;

use crate::provider::{MinuteBar, TimeRange};

/// Converts the minute bars of a gap to quotes, ordered by time. Each minute gives its open at its beginning; its low and
/// high at one and two thirds of it, the one nearer to the open first (the low on a tie); and its close at its end. The
/// replay treats a daily bar in the same way. Minutes that begin outside the gap are left out.
///
/// The quotes have no volume: a quote's volume is that of the session so far, which minute bars do not give.
#[must_use]
pub fn quotes_from_minutes(minutes: &[MinuteBar], gap: TimeRange) -> Vec<QuoteRow> {
    let mut rows: Vec<QuoteRow> = minutes
        .iter()
        .filter(|minute| gap.contains(minute.bar.time))
        .flat_map(of)
        .collect();
    // Stable sort: at one instant, the close of a minute stays before the open of the next.
    rows.sort_by_key(|row| row.time);
    rows
}

fn of(minute: &MinuteBar) -> [QuoteRow; 4] {
    let bar = &minute.bar;
    let from_open = |price: market::Price| (price.micros() - bar.open.micros()).abs();
    let mut inner = [bar.low, bar.high];
    // Stable sort: on a tie the low stays first.
    inner.sort_by_key(|&price| from_open(price));
    let at = |third: i64, price| QuoteRow {
        symbol: minute.symbol,
        price,
        volume: None,
        time: bar.time.checked_add(SignedDuration::from_secs(20 * third)).ok(),
        bid: None,
        ask: None,
        vwap: None,
    };
    [at(0, bar.open), at(1, inner[0]), at(2, inner[1]), at(3, bar.close)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use market::IntradayBar;

    fn minute(symbol: &str, time: &str, prices: [&str; 4]) -> MinuteBar {
        let [open, high, low, close] = prices.map(|price| price.parse().unwrap());
        MinuteBar {
            symbol: symbol.parse().unwrap(),
            bar: IntradayBar {
                time: time.parse().unwrap(),
                open,
                high,
                low,
                close,
                volume: 5,
            },
        }
    }

    fn seen(minutes: &[MinuteBar]) -> Vec<String> {
        let gap = TimeRange {
            from: "2024-03-08T15:00:00Z".parse().unwrap(),
            to: "2024-03-08T15:02:00Z".parse().unwrap(),
        };
        let rows = quotes_from_minutes(minutes, gap);
        let second = |row: &QuoteRow| row.time.unwrap().strftime("%M:%S").to_string();
        rows.iter()
            .map(|row| format!("{} {} {}", second(row), row.symbol, row.price))
            .collect()
    }

    #[test]
    fn nearer_extreme_comes_first_and_the_low_on_a_tie() {
        let nearer_high = minute("A", "2024-03-08T15:00:00Z", ["10", "11", "8", "9"]);
        assert_eq!(
            seen(&[nearer_high]),
            ["00:00 A 10", "00:20 A 11", "00:40 A 8", "01:00 A 9"]
        );
        let tie = minute("A", "2024-03-08T15:00:00Z", ["10", "11", "9", "9"]);
        assert_eq!(seen(&[tie])[1], "00:20 A 9");
    }

    #[test]
    fn quotes_of_all_stocks_are_sorted_by_time() {
        let minutes = [
            minute("A", "2024-03-08T15:00:00Z", ["1"; 4]),
            minute("A", "2024-03-08T15:01:00Z", ["2"; 4]),
            minute("B", "2024-03-08T15:00:00Z", ["3"; 4]),
        ];
        let seen = seen(&minutes);
        assert!(seen.is_sorted_by_key(|line| line[..5].to_owned()), "{seen:?}");
        assert_eq!(seen.len(), 12);
    }

    #[test]
    fn minutes_outside_the_gap_are_left_out() {
        let before = minute("A", "2024-03-08T14:59:00Z", ["1"; 4]);
        let behind = minute("A", "2024-03-08T15:02:00Z", ["1"; 4]);
        assert!(seen(&[before, behind]).is_empty());
    }
}

//! Trading time: the time that passes while the exchange trades.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::Calendar;
use super::zone::new_york_date;

/// The hours of a trading day that count as trading time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TradingHours {
    /// The session: 09:30–16:00 New York, or to 13:00.
    #[default]
    Regular,
    /// 04:00–20:00 New York on every trading day, also on one with an early close.
    Extended,
}

impl Calendar {
    /// Returns the trading time between two instants; zero if `to` is not after `from`.
    ///
    /// For an always-open calendar all time is trading time.
    #[must_use]
    pub fn trading_time_between(&self, from: Timestamp, to: Timestamp, hours: TradingHours) -> SignedDuration {
        if to <= from {
            return SignedDuration::ZERO;
        }
        if self.is_always_open() {
            return to.duration_since(from);
        }
        self.trading_intervals(new_york_date(from), new_york_date(to), hours)
            .map(|(start, end)| end.min(to).duration_since(start.max(from)))
            .filter(|overlap| overlap.is_positive())
            .fold(SignedDuration::ZERO, SignedDuration::saturating_add)
    }

    /// Returns the first instant at which a trading time has passed since `from`; `None` beyond representable time.
    #[must_use]
    pub fn after_trading_time(
        &self,
        from: Timestamp,
        trading_time: SignedDuration,
        hours: TradingHours,
    ) -> Option<Timestamp> {
        if !trading_time.is_positive() {
            return Some(from);
        }
        if self.is_always_open() {
            return from.checked_add(trading_time).ok();
        }
        let mut remaining = trading_time;
        for (start, end) in self.trading_intervals(new_york_date(from), Date::MAX, hours) {
            let start = start.max(from);
            let available = end.duration_since(start);
            if available >= remaining {
                return start.checked_add(remaining).ok();
            }
            if available.is_positive() {
                remaining = remaining.saturating_sub(available);
            }
        }
        None
    }

    /// Returns the start and the end of trading on the trading days from `from` to `to`, both included.
    fn trading_intervals(
        &self,
        from: Date,
        to: Date,
        hours: TradingHours,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        self.sessions(from, to).map(move |session| match hours {
            TradingHours::Regular => (session.open, session.close),
            TradingHours::Extended => session.with_extended_hours(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// Minutes from Friday, 2024-07-05 to Monday, 2024-07-08, in New York: `(from, to, regular, extended)`.
    const INTERVALS: [(&str, &str, i64, i64); 8] = [
        ("2024-07-05T13:30:00Z", "2024-07-05T13:30:00Z", 0, 0),
        ("2024-07-05T14:00:00Z", "2024-07-05T13:30:00Z", 0, 0),
        ("2024-07-05T13:30:00Z", "2024-07-05T14:00:00Z", 30, 30),
        ("2024-07-05T08:00:00Z", "2024-07-06T00:00:00Z", 390, 960),
        ("2024-07-05T07:00:00Z", "2024-07-06T03:00:00Z", 390, 960),
        ("2024-07-05T19:50:00Z", "2024-07-08T13:40:00Z", 20, 250 + 340),
        ("2024-07-06T12:00:00Z", "2024-07-07T12:00:00Z", 0, 0),
        ("2024-07-03T16:00:00Z", "2024-07-03T22:00:00Z", 60, 360),
    ];

    #[test]
    fn nights_weekends_and_time_after_an_early_close_do_not_count() {
        let nyse = Calendar::nyse();
        for (from, to, regular, extended) in INTERVALS {
            let minutes = |hours| nyse.trading_time_between(instant(from), instant(to), hours).as_mins();
            let found = (minutes(TradingHours::Regular), minutes(TradingHours::Extended));
            assert_eq!(found, (regular, extended), "{from} to {to}");
        }
    }

    #[test]
    fn trading_time_ends_at_the_close_and_not_at_the_next_open() {
        let nyse = Calendar::nyse();
        let half_past_three = instant("2024-07-05T19:30:00Z");
        for (minutes, end) in [
            (0, "2024-07-05T19:30:00Z"),
            (30, "2024-07-05T20:00:00Z"),
            (31, "2024-07-08T13:31:00Z"),
            (30 + 390, "2024-07-08T20:00:00Z"),
        ] {
            let found = nyse.after_trading_time(
                half_past_three,
                SignedDuration::from_mins(minutes),
                TradingHours::Regular,
            );
            assert_eq!(found, Some(instant(end)), "{minutes}");
        }
    }

    #[test]
    fn always_open_calendar_counts_all_time() {
        let calendar = Calendar::nyse().always_open();
        let (saturday, sunday) = (instant("2024-07-06T12:00:00Z"), instant("2024-07-07T12:00:00Z"));
        let day = SignedDuration::from_hours(24);
        assert_eq!(
            calendar.trading_time_between(saturday, sunday, TradingHours::Regular),
            day
        );
        assert_eq!(
            calendar.after_trading_time(saturday, day, TradingHours::Regular),
            Some(sunday)
        );
    }
}

//! The rule for which prices count as current.
//!
//! A price is current if it was observed within the freshness limit of the running session or, while the market is closed, if it
//! is the close of the latest session or later. Everything else is an old price: it can be shown with its time, but nothing may
//! start from it.

use jiff::{SignedDuration, Timestamp};

use crate::calendar::{Calendar, Session, new_york_date};
use crate::price::Price;

/// How far ahead of the clock the time of a price may lie: two clocks never agree exactly.
const MAX_CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_secs(5);

/// A price with the time at which it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedPrice {
    /// The price, per today's share.
    pub price: Price,
    /// When it was made.
    pub at: Timestamp,
}

/// A price that is current. Only [`PriceFreshness::current`] makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurrentPrice(ObservedPrice);

impl CurrentPrice {
    /// The price.
    #[must_use]
    pub const fn price(self) -> Price {
        self.0.price
    }

    /// When the price was made.
    #[must_use]
    pub const fn observed_at(self) -> Timestamp {
        self.0.at
    }
}

/// The rule for how old a current price may be.
#[derive(Clone, Debug)]
pub struct PriceFreshness {
    /// When the market is open.
    pub calendar: Calendar,
    /// The greatest age of a price that no source has confirmed.
    pub limit: SignedDuration,
    /// The greatest age of a price that a source has confirmed as the newest within `limit`: nothing was traded since.
    pub confirmed_limit: SignedDuration,
}

impl PriceFreshness {
    /// Returns `observed` as a current price at `now`, or `None` if it is not current. `confirmed_at` is when a source last
    /// answered that it knows no newer price.
    ///
    /// ```
    /// use jiff::SignedDuration;
    /// use market::{Calendar, ObservedPrice, PriceFreshness};
    ///
    /// let freshness = PriceFreshness {
    ///     calendar: Calendar::nyse(),
    ///     limit: SignedDuration::from_mins(2),
    ///     confirmed_limit: SignedDuration::from_mins(15),
    /// };
    /// let observed = ObservedPrice { price: "200".parse()?, at: "2024-03-08T15:00:00Z".parse()? };
    /// assert!(freshness.current(observed, None, "2024-03-08T15:02:00Z".parse()?).is_some());
    /// assert!(freshness.current(observed, None, "2024-03-08T15:02:01Z".parse()?).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn current(
        &self,
        observed: ObservedPrice,
        confirmed_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<CurrentPrice> {
        let is_within = |at: Timestamp, limit: SignedDuration| {
            let age = now.duration_since(at);
            -MAX_CLOCK_DIFFERENCE <= age && age <= limit
        };
        if now.duration_since(observed.at) < -MAX_CLOCK_DIFFERENCE {
            return None;
        }
        let is_current = if self.calendar.session_at(now).is_some() {
            let is_confirmed = confirmed_at.is_some_and(|at| is_within(at, self.limit));
            is_within(observed.at, self.limit) || is_confirmed && is_within(observed.at, self.confirmed_limit)
        } else {
            let session = latest_session(&self.calendar, now)?;
            let last_minutes = session.close.saturating_sub(self.limit).unwrap_or(session.close);
            let is_confirmed = confirmed_at.is_some_and(|at| at >= session.close && is_within(at, SignedDuration::MAX));
            observed.at >= last_minutes || is_confirmed && observed.at >= session.open
        };
        is_current.then_some(CurrentPrice(observed))
    }
}

/// The latest session that is over, on a market that is closed at `now`.
fn latest_session(calendar: &Calendar, now: Timestamp) -> Option<Session> {
    let today = new_york_date(now);
    let of_today = calendar.session(today).filter(|session| session.close < now);
    of_today.or_else(|| calendar.previous_session_before(today))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a price of `at`, confirmed at `confirmed_at`, is current at `now`; all on 2024-03-08 (open 14:30, close 21:00)
    /// unless a date is given.
    fn is_current(at: &str, confirmed_at: Option<&str>, now: &str) -> bool {
        let freshness = PriceFreshness {
            calendar: Calendar::nyse(),
            limit: SignedDuration::from_mins(2),
            confirmed_limit: SignedDuration::from_mins(15),
        };
        let instant = |text: &str| -> Timestamp {
            let text = if text.contains('T') {
                text.to_owned()
            } else {
                format!("2024-03-08T{text}Z")
            };
            text.parse().unwrap()
        };
        let observed = ObservedPrice {
            price: "200".parse().unwrap(),
            at: instant(at),
        };
        let current = freshness.current(observed, confirmed_at.map(instant), instant(now));
        assert!(current.is_none_or(|current| current.observed_at() == observed.at));
        current.is_some()
    }

    #[test]
    fn price_within_the_limit_of_an_open_market_is_current() {
        assert!(is_current("15:00:00", None, "15:02:00"));
        assert!(!is_current("15:00:00", None, "15:02:01"));
        // A price from before the open counts by its age.
        assert!(is_current("14:29:00", None, "14:30:30"));
        assert!(!is_current("2024-03-07T21:00:00Z", None, "14:30:00"));
    }

    #[test]
    fn older_price_is_current_only_if_a_source_has_just_confirmed_it() {
        assert!(is_current("15:00:00", Some("15:14:00"), "15:15:00"));
        assert!(!is_current("15:00:00", Some("15:14:00"), "15:15:01"));
        assert!(is_current("15:00:00", Some("15:08:00"), "15:10:00"));
        assert!(!is_current("15:00:00", Some("15:07:59"), "15:10:00"));
    }

    #[test]
    fn close_of_the_latest_session_is_current_while_the_market_is_closed() {
        for now in ["21:00:01", "2024-03-09T12:00:00Z", "2024-03-11T13:29:59Z"] {
            assert!(is_current("21:00:00", None, now), "{now}");
            assert!(is_current("20:58:00", None, now), "{now}");
            assert!(!is_current("20:57:59", None, now), "{now}");
        }
        // Monday's session is open: Friday's close is an old price.
        assert!(!is_current("21:00:00", None, "2024-03-11T13:30:00Z"));
        assert!(!is_current("2024-03-07T21:00:00Z", None, "2024-03-09T12:00:00Z"));
        // Trading after hours is later than the close.
        assert!(is_current("22:10:00", None, "2024-03-09T12:00:00Z"));
    }

    #[test]
    fn last_trade_of_a_session_is_its_close_if_a_source_confirms_it_after_the_close() {
        assert!(is_current("15:00:00", Some("21:00:00"), "2024-03-09T12:00:00Z"));
        assert!(!is_current("15:00:00", Some("20:59:59"), "2024-03-09T12:00:00Z"));
        assert!(is_current("14:30:00", Some("22:00:00"), "2024-03-09T12:00:00Z"));
        assert!(!is_current("14:29:59", Some("22:00:00"), "2024-03-09T12:00:00Z"));
    }

    #[test]
    fn price_of_the_future_is_not_current() {
        assert!(is_current("15:00:05", None, "15:00:00"));
        assert!(!is_current("15:00:06", None, "15:00:00"));
        assert!(!is_current("2024-03-10T12:00:00Z", None, "2024-03-09T12:00:00Z"));
    }

    #[test]
    fn market_that_never_closes_goes_by_age_alone() {
        let freshness = PriceFreshness {
            calendar: Calendar::nyse().always_open(),
            limit: SignedDuration::from_mins(15),
            confirmed_limit: SignedDuration::from_mins(15),
        };
        let observed = ObservedPrice {
            price: "200".parse().unwrap(),
            at: "2024-03-09T04:50:00Z".parse().unwrap(),
        };
        let is_current = |now: &str| freshness.current(observed, None, now.parse().unwrap()).is_some();
        // Midnight in New York is in between.
        assert!(is_current("2024-03-09T05:05:00Z") && !is_current("2024-03-09T05:05:01Z"));
    }
}

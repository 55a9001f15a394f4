//! Decides whether a quote of a stock is older than its last one.
//!
//! Quotes count by the times at which they were made. A time after the present is one of a clock that is ahead, of the source or compared
//! with this machine's; then the quote counts as made when it arrived. Otherwise present quotes would be older until that time. If the time
//! is only a little later, this machine's clock may be behind. Then the times of the sources count nevertheless among such quotes, and once
//! the clock has reached that of the last one: a quote that was sent again may arrive after a later one.

use jiff::{SignedDuration, Timestamp};

/// By how much a quote may be later than the clock so that its own time counts.
const MAX_LEAD: SignedDuration = SignedDuration::from_secs(10);

/// The time of a stock's last quote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LastQuote {
    /// When it was made, or when it arrived if that is earlier.
    pub(super) at: Timestamp,
    /// When it was made by its source, or when it arrived if that is far later.
    made_at: Timestamp,
}

impl LastQuote {
    /// A quote that arrives now.
    pub(super) fn new(made_at: Timestamp, now: Timestamp) -> Self {
        let is_far_later = made_at.duration_since(now) > MAX_LEAD;
        Self {
            at: made_at.min(now),
            made_at: if is_far_later { now } else { made_at },
        }
    }

    /// Returns the time of the last quote if `next`, which arrives now, is older.
    pub(super) fn time_if_newer_than(self, next: Self, now: Timestamp) -> Option<Timestamp> {
        if next.at < self.at {
            return Some(self.at);
        }
        let is_comparable = next.made_at > now || self.made_at <= now;
        (is_comparable && next.made_at < self.made_at).then_some(self.made_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// Whether a quote that is made and arrives at some seconds is older than one before it.
    fn is_older(last: (i64, i64), next: (i64, i64)) -> bool {
        let quote = |(made_at, arrives_at)| LastQuote::new(second(made_at), second(arrives_at));
        quote(last).time_if_newer_than(quote(next), second(next.1)).is_some()
    }

    #[test]
    fn quote_is_older_if_it_was_made_earlier() {
        assert!(is_older((10, 10), (9, 11)));
        assert!(!is_older((10, 10), (10, 11)));
    }

    #[test]
    fn quote_is_not_older_than_one_whose_time_is_not_reached() {
        assert!(!is_older((15, 10), (11, 12)));
        assert!(!is_older((15, 10), (10, 12)));
        assert!(is_older((15, 10), (9, 12)), "that one had arrived before");
    }

    #[test]
    fn time_far_after_the_present_counts_neither_then_nor_later() {
        for (arrives_at, made_at) in [(12, 13), (12, 21), (20, 20), (22, 20)] {
            assert!(!is_older((21, 10), (made_at, arrives_at)), "{made_at}");
        }
        assert!(is_older((20, 10), (19, 12)));
        assert!(is_older((20, 10), (19, 20)));
    }

    #[test]
    fn quotes_that_were_made_after_the_present_are_compared_by_their_times() {
        assert!(is_older((15, 10), (14, 11)));
        assert!(!is_older((15, 10), (15, 11)));
    }

    #[test]
    fn time_after_the_present_counts_once_the_clock_has_reached_it() {
        assert!(!is_older((15, 10), (14, 14)));
        assert!(is_older((15, 10), (14, 15)));
        assert!(!is_older((15, 10), (15, 15)));
    }
}

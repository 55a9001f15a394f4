//! How far two clocks are apart.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::UNIX_EPOCH;

use jiff::{SignedDuration, Timestamp};

const UNKNOWN: i64 = i64::MIN;

/// By how much a provider's clock is ahead of ours at least, by the `Date` of its last answer. That was written at some time
/// between the question and the answer, so a `Date` between the two says that the clocks agree, however long it took. It is
/// told in whole seconds, so less than a second is none.
#[derive(Debug)]
pub struct Skew(AtomicI64);

impl Default for Skew {
    fn default() -> Self {
        Self(AtomicI64::new(UNKNOWN))
    }
}

impl Skew {
    /// Takes in the `Date` of an answer that came at `answered` to a question of `asked`.
    pub fn measure(&self, date: Option<&str>, asked: Timestamp, answered: Timestamp) {
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let second = date.and_then(|date| i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok());
        if let Some(second) = second {
            let possible = second.clamp(asked.as_second(), answered.as_second().max(asked.as_second()));
            self.0.store(second - possible, Ordering::Relaxed);
        }
    }

    /// By how much the provider's clock is ahead; `None` before it has answered.
    #[must_use]
    pub fn get(&self) -> Option<SignedDuration> {
        let seconds = self.0.load(Ordering::Relaxed);
        (seconds != UNKNOWN).then(|| match seconds {
            -1..=1 => SignedDuration::ZERO,
            _ => SignedDuration::from_secs(seconds),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(date: &str) -> Option<i64> {
        let skew = Skew::default();
        let at = |text: &str| text.parse().unwrap();
        skew.measure(Some(date), at("2024-03-08T14:29:30.2Z"), at("2024-03-08T14:30:00.9Z"));
        skew.get().map(|skew| skew.as_secs())
    }

    #[test]
    fn a_clock_is_ahead_or_behind_and_a_second_is_neither() {
        assert_eq!(measured("Fri, 08 Mar 2024 14:32:00 GMT"), Some(120));
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:20 GMT"), Some(-10));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:01 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:02 GMT"), Some(2));
        assert_eq!(measured("yesterday"), None);
    }

    #[test]
    fn a_slow_answer_does_not_make_a_clock_slow() {
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:30 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:29:45 GMT"), Some(0));
        assert_eq!(measured("Fri, 08 Mar 2024 14:30:00 GMT"), Some(0));
    }
}

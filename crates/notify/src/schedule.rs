//! When a delivery is tried again, and when it is given up.
//!
//! One try, and up to three more after 10 s, 60 s and 300 s. Each delay is made up to a fifth longer or shorter by chance, so
//! that what failed together does not come back together. A receiver that says how long to leave it alone (`Retry-After`)
//! is left alone for at least that long, up to an hour. Who answers that it is gone is not tried again at all. And an
//! endpoint that has only failed for five days is switched off.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::time::later;

/// `Retry-After` is honoured up to here.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(1);

/// For so long an endpoint may only fail before it is switched off.
pub const PATIENCE: SignedDuration = SignedDuration::from_hours(5 * 24);

/// What an attempt comes to, whatever the channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It was taken.
    Delivered,
    /// It was not taken, and may be tried again.
    Failed {
        /// The receiver asks to be left alone for so long.
        not_before: Option<SignedDuration>,
    },
    /// It was not taken and never will be; the endpoint may take another one.
    Refused,
    /// The endpoint takes nothing any more.
    Gone,
}

/// What a channel tells of an attempt.
pub trait Report: Send + Sync + 'static {
    /// The report of an attempt, begun at `at`, that broke down within this service.
    fn broken(at: Timestamp) -> Self;

    /// What it comes to.
    fn verdict(&self) -> Verdict;
}

/// What happens next to a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Nothing: it was taken.
    Delivered,
    /// It is tried again.
    RetryAt(Timestamp),
    /// Nothing: it is given up.
    GivenUp,
    /// Nothing: it is given up, and its endpoint is switched off.
    SwitchOff,
    /// It was not tried after all and goes back as it was.
    Released,
}

/// After how long a delivery is tried again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetryDelays(Vec<SignedDuration>);

impl Default for RetryDelays {
    fn default() -> Self {
        Self([10, 60, 300].map(SignedDuration::from_secs).to_vec())
    }
}

impl RetryDelays {
    /// A try more after each of these. None: one try is all.
    #[must_use]
    pub fn new(delays: Vec<SignedDuration>) -> Self {
        Self(delays)
    }

    /// What happens to a delivery of which `tries` attempts were made before this one, which ended at `ended_at`. `chance`
    /// is any number, evenly drawn.
    #[must_use]
    pub fn next(&self, verdict: Verdict, tries: u32, ended_at: Timestamp, chance: u64) -> Next {
        let not_before = match verdict {
            Verdict::Delivered => return Next::Delivered,
            Verdict::Gone => return Next::SwitchOff,
            Verdict::Refused => return Next::GivenUp,
            Verdict::Failed { not_before } => not_before,
        };
        let delay = usize::try_from(tries).ok().and_then(|tries| self.0.get(tries));
        let Some(delay) = delay else {
            return Next::GivenUp;
        };
        let asked = not_before.unwrap_or_default().min(LONGEST_WAIT);
        Next::RetryAt(later(ended_at, jittered(*delay, chance).max(asked)))
    }
}

/// From four to six fifths of a delay.
fn jittered(delay: SignedDuration, chance: u64) -> SignedDuration {
    // In steps of a ten-thousandth, whole numbers all the way.
    let tenthousandths = 8_000 + i128::from(chance % 4_001);
    let nanos = delay.as_nanos().saturating_mul(tenthousandths) / 10_000;
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    SignedDuration::new(seconds, i32::try_from(nanos % 1_000_000_000).unwrap_or_default())
}

/// Whether an endpoint that has just failed has only failed for [`PATIENCE`]. `first_failure_at` is the first failure there
/// is to know of; one that came before the last success does not count.
#[must_use]
pub fn only_failed_for_long(
    first_failure_at: Option<Timestamp>,
    last_success_at: Option<Timestamp>,
    now: Timestamp,
) -> bool {
    let failing_since = first_failure_at.filter(|first| last_success_at.is_none_or(|success| *first > success));
    failing_since.is_some_and(|since| now.duration_since(since) >= PATIENCE)
}

/// How long a `Retry-After` asks to wait: a number of seconds, or an HTTP date. `None`, if it says nothing of the kind; a date
/// that has passed asks for nothing.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large to be one is a long time.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let date = Timestamp::try_from(date).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    const FAILED: Verdict = Verdict::Failed { not_before: None };

    fn asking(seconds: i64) -> Verdict {
        Verdict::Failed {
            not_before: Some(SignedDuration::from_secs(seconds)),
        }
    }

    /// Milliseconds until the next try, without chance.
    fn wait(verdict: Verdict, tries: u32) -> Option<i128> {
        let now = at("2026-03-06T14:30:00Z");
        match RetryDelays::default().next(verdict, tries, now, 2_000) {
            Next::RetryAt(at) => Some(at.duration_since(now).as_millis()),
            _ => None,
        }
    }

    #[test]
    fn a_failure_is_tried_again_after_10_60_and_300_seconds_and_then_given_up() {
        let waits = [0, 1, 2, 3, 4].map(|tries| wait(FAILED, tries));
        assert_eq!(waits, [Some(10_000), Some(60_000), Some(300_000), None, None]);
        let now = at("2026-03-06T14:30:00Z");
        assert_eq!(RetryDelays::default().next(FAILED, 3, now, 0), Next::GivenUp);
        assert_eq!(RetryDelays::new(vec![]).next(FAILED, 0, now, 0), Next::GivenUp);
        assert_eq!(RetryDelays::default().next(FAILED, u32::MAX, now, 0), Next::GivenUp);
    }

    #[test]
    fn what_was_taken_refused_or_is_gone_is_not_tried_again() {
        for (verdict, next) in [
            (Verdict::Delivered, Next::Delivered),
            (Verdict::Refused, Next::GivenUp),
            (Verdict::Gone, Next::SwitchOff),
        ] {
            assert_eq!(RetryDelays::default().next(verdict, 0, Timestamp::UNIX_EPOCH, 7), next);
        }
    }

    #[test]
    fn chance_makes_a_delay_up_to_a_fifth_shorter_or_longer() {
        let ten = SignedDuration::from_secs(10);
        assert_eq!(jittered(ten, 0), SignedDuration::from_secs(8));
        assert_eq!(jittered(ten, 4_000), SignedDuration::from_secs(12));
        assert_eq!(jittered(ten, 4_001), SignedDuration::from_secs(8));
        for chance in (0..u64::MAX).step_by(usize::MAX / 1_000) {
            let delay = jittered(ten, chance).as_millis();
            assert!((8_000..=12_000).contains(&delay), "{delay}");
        }
        assert!(jittered(SignedDuration::MAX, u64::MAX) > SignedDuration::ZERO);
    }

    #[test]
    fn a_receiver_is_left_alone_as_long_as_it_asks_up_to_an_hour() {
        assert_eq!(wait(asking(0), 0), Some(10_000));
        assert_eq!(wait(asking(9), 0), Some(10_000));
        assert_eq!(wait(asking(30), 0), Some(30_000));
        assert_eq!(wait(asking(3_600), 0), Some(3_600_000));
        assert_eq!(wait(asking(3_601), 0), Some(3_600_000));
        assert_eq!(wait(asking(i64::MAX), 2), Some(3_600_000));
        assert_eq!(wait(asking(30), 3), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = at("2026-03-06T14:30:00Z");
        for (value, seconds) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 120 ", Some(120)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Fri, 06 Mar 2026 14:31:00 GMT", Some(60)),
            ("Friday, 06-Mar-26 14:31:00 GMT", Some(60)),
            ("Fri Mar  6 14:31:00 2026", Some(60)),
            ("Fri, 06 Mar 2026 14:29:00 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
        ] {
            assert_eq!(retry_after(value, now), seconds.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn an_endpoint_that_only_failed_for_five_days_is_known() {
        let (day0, day5) = (at("2026-03-01T12:00:00Z"), at("2026-03-06T12:00:00Z"));
        let before = |at: Timestamp| later(at, SignedDuration::from_millis(-1));
        assert!(only_failed_for_long(Some(day0), None, day5));
        assert!(only_failed_for_long(Some(day0), Some(before(day0)), day5));
        assert!(!only_failed_for_long(Some(day0), None, before(day5)));
        assert!(!only_failed_for_long(Some(day0), Some(day0), day5));
        assert!(!only_failed_for_long(Some(day0), Some(before(day5)), day5));
        assert!(!only_failed_for_long(None, None, day5));
    }
}

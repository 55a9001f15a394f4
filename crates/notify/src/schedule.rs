//! The retry schedule: when a delivery is retried, when it is given up, and when an endpoint is disabled.
//!
//! By default there is one attempt and up to three retries, after 10 s, 60 s and 300 s. Random jitter makes each delay up to 20 %
//! longer or shorter, so that deliveries that failed together are not retried together. `Retry-After` from the receiver is respected
//! up to one hour. After 410 (gone) there is no retry. An endpoint that has failed without a success for five days is disabled.

use std::time::Duration;

use http::header::{HeaderMap, RETRY_AFTER};
use jiff::{SignedDuration, Timestamp};

use clock::later;

/// Maximum delay that a `Retry-After` can request.
pub(crate) const MAX_RETRY_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// An endpoint without a success for this long is disabled.
pub const DISABLE_AFTER: SignedDuration = SignedDuration::from_hours(5 * 24);

/// The result of an attempt, the same for all channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptResult {
    /// The receiver accepted the delivery.
    Delivered,
    /// The attempt failed, and may be retried.
    Failed {
        /// The minimum delay before a retry that the receiver requests.
        not_before: Option<SignedDuration>,
    },
    /// The receiver rejected this delivery for good. It may accept others.
    Refused,
    /// The endpoint does not accept deliveries any more.
    Gone,
}

/// The report of a channel about an attempt.
pub trait AttemptReport: Send + Sync + 'static {
    /// Returns the report of an attempt, started at `at`, that failed because of an error in this service.
    fn internal_error(at: Timestamp) -> Self;

    /// Returns the result of the attempt.
    fn result(&self) -> AttemptResult;
}

/// The next step for a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextStep {
    /// None: it was delivered.
    Delivered,
    /// Retry at this time.
    RetryAt(Timestamp),
    /// None: it is given up.
    GivenUp,
    /// None: it is given up, and its endpoint is disabled.
    DisableEndpoint,
    /// It was not attempted, and returns to the outbox unchanged.
    Released,
}

/// The delays before the retries of a delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetrySchedule(Vec<SignedDuration>);

impl Default for RetrySchedule {
    fn default() -> Self {
        Self([10, 60, 300].map(SignedDuration::from_secs).to_vec())
    }
}

impl RetrySchedule {
    /// One retry after each of these delays. Without delays there is one attempt only.
    #[must_use]
    pub fn new(delays: Vec<SignedDuration>) -> Self {
        Self(delays)
    }

    /// Returns the next step after an attempt that ended at `ended_at` and came after `previous_attempts` others. `random` is a
    /// uniformly distributed random number.
    #[must_use]
    pub fn next(&self, result: AttemptResult, previous_attempts: u32, ended_at: Timestamp, random: u64) -> NextStep {
        let not_before = match result {
            AttemptResult::Delivered => return NextStep::Delivered,
            AttemptResult::Gone => return NextStep::DisableEndpoint,
            AttemptResult::Refused => return NextStep::GivenUp,
            AttemptResult::Failed { not_before } => not_before,
        };
        let delay = usize::try_from(previous_attempts)
            .ok()
            .and_then(|index| self.0.get(index));
        let Some(delay) = delay else {
            return NextStep::GivenUp;
        };
        let requested = not_before.unwrap_or_default().min(MAX_RETRY_AFTER);
        NextStep::RetryAt(later(ended_at, jittered(*delay, random).max(requested)))
    }
}

/// Returns 80 % to 120 % of a delay.
fn jittered(delay: SignedDuration, random: u64) -> SignedDuration {
    // In steps of 0.01 %, with integers only.
    let tenthousandths = 8_000 + i128::from(random % 4_001);
    let nanos = delay.as_nanos().saturating_mul(tenthousandths) / 10_000;
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    SignedDuration::new(seconds, i32::try_from(nanos % 1_000_000_000).unwrap_or_default())
}

/// Returns the delay that the `Retry-After` header of a response requests.
pub(crate) fn requested_delay(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?, now)
}

/// Parses `Retry-After`: a number of seconds, or an HTTP date. `None` if it is neither. A date in the past means no delay.
fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Values above the maximum are clamped.
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

    const FAILED: AttemptResult = AttemptResult::Failed { not_before: None };

    fn retry_after_seconds(seconds: i64) -> AttemptResult {
        AttemptResult::Failed {
            not_before: Some(SignedDuration::from_secs(seconds)),
        }
    }

    /// Milliseconds until the retry, without jitter.
    fn delay_ms(result: AttemptResult, previous_attempts: u32) -> Option<i128> {
        let now = at("2026-03-06T14:30:00Z");
        match RetrySchedule::default().next(result, previous_attempts, now, 2_000) {
            NextStep::RetryAt(at) => Some(at.duration_since(now).as_millis()),
            _ => None,
        }
    }

    #[test]
    fn failure_is_retried_after_10_60_and_300_seconds_and_then_given_up() {
        let delays = [0, 1, 2, 3, 4].map(|previous_attempts| delay_ms(FAILED, previous_attempts));
        assert_eq!(delays, [Some(10_000), Some(60_000), Some(300_000), None, None]);
        let now = at("2026-03-06T14:30:00Z");
        assert_eq!(RetrySchedule::default().next(FAILED, 3, now, 0), NextStep::GivenUp);
        assert_eq!(RetrySchedule::new(vec![]).next(FAILED, 0, now, 0), NextStep::GivenUp);
        assert_eq!(
            RetrySchedule::default().next(FAILED, u32::MAX, now, 0),
            NextStep::GivenUp
        );
    }

    #[test]
    fn delivered_refused_and_gone_are_not_retried() {
        for (result, next) in [
            (AttemptResult::Delivered, NextStep::Delivered),
            (AttemptResult::Refused, NextStep::GivenUp),
            (AttemptResult::Gone, NextStep::DisableEndpoint),
        ] {
            assert_eq!(RetrySchedule::default().next(result, 0, Timestamp::UNIX_EPOCH, 7), next);
        }
    }

    #[test]
    fn jitter_changes_a_delay_by_up_to_20_percent() {
        let ten = SignedDuration::from_secs(10);
        assert_eq!(jittered(ten, 0), SignedDuration::from_secs(8));
        assert_eq!(jittered(ten, 4_000), SignedDuration::from_secs(12));
        assert_eq!(jittered(ten, 4_001), SignedDuration::from_secs(8));
        for random in (0..u64::MAX).step_by(usize::MAX / 1_000) {
            let delay = jittered(ten, random).as_millis();
            assert!((8_000..=12_000).contains(&delay), "{delay}");
        }
        assert!(jittered(SignedDuration::MAX, u64::MAX) > SignedDuration::ZERO);
    }

    #[test]
    fn retry_after_is_respected_up_to_one_hour() {
        assert_eq!(delay_ms(retry_after_seconds(0), 0), Some(10_000));
        assert_eq!(delay_ms(retry_after_seconds(9), 0), Some(10_000));
        assert_eq!(delay_ms(retry_after_seconds(30), 0), Some(30_000));
        assert_eq!(delay_ms(retry_after_seconds(3_600), 0), Some(3_600_000));
        assert_eq!(delay_ms(retry_after_seconds(3_601), 0), Some(3_600_000));
        assert_eq!(delay_ms(retry_after_seconds(i64::MAX), 2), Some(3_600_000));
        assert_eq!(delay_ms(retry_after_seconds(30), 3), None);
    }

    #[test]
    fn retry_after_accepts_seconds_and_http_dates() {
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
}

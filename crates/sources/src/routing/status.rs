//! The backoff of a provider after failures.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::provider::ProviderError;

/// The backoff after the first failure. It doubles with each further failure.
const FIRST_BACKOFF: Duration = Duration::from_secs(30);
/// The maximum backoff, unless the provider asks for a longer one.
const MAX_BACKOFF: Duration = Duration::from_secs(15 * 60);

/// The recent failures of a provider in one capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProviderStatus {
    failures: u32,
    backing_off_until: Option<Timestamp>,
}

impl ProviderStatus {
    /// Returns the end of the backoff; `None` if requests can be sent.
    #[must_use]
    pub fn backing_off(&self, now: Timestamp) -> Option<Timestamp> {
        self.backing_off_until.filter(|&until| now < until)
    }

    /// Records a success: the backoff ends.
    pub fn record_success(&mut self) {
        *self = Self::default();
    }

    /// Records a failure. A wrong key or plan needs a person to fix it, so the backoff is the maximum at once. A provider's
    /// `Retry-After` is respected.
    pub fn record_failure(&mut self, error: &ProviderError, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        let doubled = FIRST_BACKOFF
            .saturating_mul(2_u32.saturating_pow(self.failures - 1))
            .min(MAX_BACKOFF);
        let pause = match error {
            ProviderError::RateLimited {
                retry_after: Some(wait),
                ..
            } => doubled.max(*wait),
            error if error.is_account_error() => MAX_BACKOFF,
            _ => doubled,
        };
        let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
        self.backing_off_until = Some(now.saturating_add(pause).unwrap_or(Timestamp::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// The backoff in seconds after these errors, all at second 0.
    fn pause(errors: &[ProviderError]) -> i64 {
        let mut status = ProviderStatus::default();
        for error in errors {
            status.record_failure(error, at(0));
        }
        status.backing_off(at(0)).unwrap().as_second()
    }

    #[test]
    fn backoff_doubles_up_to_fifteen_minutes() {
        let cut = ProviderError::Truncated { provider: "test" };
        let pauses: Vec<_> = [1, 2, 3, 6, 60].map(|times| pause(&vec![cut.clone(); times])).to_vec();
        assert_eq!(pauses, [30, 60, 120, 900, 900]);
    }

    #[test]
    fn backoff_ends_in_time_and_after_a_success() {
        let mut status = ProviderStatus::default();
        status.record_failure(&ProviderError::Truncated { provider: "test" }, at(0));
        assert_eq!(status.backing_off(at(29)), Some(at(30)));
        assert_eq!(status.backing_off(at(30)), None);
        status.record_success();
        assert_eq!(status, ProviderStatus::default());
    }

    #[test]
    fn wrong_key_has_the_maximum_backoff_and_retry_after_is_respected() {
        assert_eq!(pause(&[ProviderError::Unauthorized { provider: "test" }]), 900);
        let limited = ProviderError::RateLimited {
            provider: "test",
            retry_after: Some(Duration::from_secs(3_600)),
        };
        assert_eq!(pause(&[limited]), 3_600);
    }
}

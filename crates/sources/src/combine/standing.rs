//! Whether a provider is asked, or left alone for a while.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::provider::ProviderError;

/// After the first failure it is left alone so long; it doubles.
const FIRST: Duration = Duration::from_secs(30);
/// It is never left alone longer, unless it asks for it.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// How a provider did lately, in one capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    failures: u32,
    left_alone_until: Option<Timestamp>,
}

impl Standing {
    /// Until when it is left alone; `None` if it can be asked.
    #[must_use]
    pub fn left_alone(&self, now: Timestamp) -> Option<Timestamp> {
        self.left_alone_until.filter(|&until| now < until)
    }

    /// It answered.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// It did not answer: a key or a plan takes a person to mend, so it is left alone longest; who asks for time gets it.
    pub fn failed(&mut self, error: &ProviderError, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        let doubled = FIRST
            .saturating_mul(2_u32.saturating_pow(self.failures - 1))
            .min(LONGEST);
        let pause = match error {
            ProviderError::RateLimited {
                retry_after: Some(wait),
                ..
            } => doubled.max(*wait),
            error if error.is_of_the_account() => LONGEST,
            _ => doubled,
        };
        let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
        self.left_alone_until = Some(now.saturating_add(pause).unwrap_or(Timestamp::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// For how long it is left alone after these errors, all at second 0.
    fn pause(errors: &[ProviderError]) -> i64 {
        let mut standing = Standing::default();
        for error in errors {
            standing.failed(error, at(0));
        }
        standing.left_alone(at(0)).unwrap().as_second()
    }

    #[test]
    fn it_is_left_alone_longer_each_time_and_never_longer_than_a_quarter_of_an_hour() {
        let cut = ProviderError::Cut { provider: "test" };
        let pauses: Vec<_> = [1, 2, 3, 6, 60].map(|times| pause(&vec![cut.clone(); times])).to_vec();
        assert_eq!(pauses, [30, 60, 120, 900, 900]);
    }

    #[test]
    fn it_is_asked_again_when_the_time_has_come() {
        let mut standing = Standing::default();
        standing.failed(&ProviderError::Cut { provider: "test" }, at(0));
        assert_eq!(standing.left_alone(at(29)), Some(at(30)));
        assert_eq!(standing.left_alone(at(30)), None);
        standing.succeeded();
        assert_eq!(standing, Standing::default());
    }

    #[test]
    fn a_wrong_key_takes_a_person_and_who_asks_for_time_gets_it() {
        assert_eq!(pause(&[ProviderError::Unauthorized { provider: "test" }]), 900);
        let limited = ProviderError::RateLimited {
            provider: "test",
            retry_after: Some(Duration::from_secs(3_600)),
        };
        assert_eq!(pause(&[limited]), 3_600);
    }
}

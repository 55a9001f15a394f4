//! Retry policy: number of attempts and delays between them.

use std::time::Duration;

use rand::Rng;

/// The number of attempts and the delays between them (exponential backoff with jitter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of attempts, at least one.
    pub max_attempts: u32,
    /// The upper bound of the delay before the second attempt. It doubles with each further attempt.
    pub first_delay: Duration,
    /// The upper bound of every delay.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
        }
    }
}

impl RetryPolicy {
    /// Returns the delay after this many failures: between half of the backoff and all of it, at random, so that clients that failed
    /// together do not retry together.
    pub fn delay(&self, failures: u32, random: &mut impl Rng) -> Duration {
        let doubled = self
            .first_delay
            .saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        doubled.min(self.max_delay).mul_f64(random.random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn delays_double_up_to_the_maximum_with_half_as_jitter() {
        let (retry, mut random) = (RetryPolicy::default(), ChaCha8Rng::seed_from_u64(1));
        for (failures, max) in [(1, 500), (2, 1_000), (3, 2_000), (7, 30_000), (u32::MAX, 30_000)] {
            for _ in 0..100 {
                let pause = retry.delay(failures, &mut random);
                let max = Duration::from_millis(max);
                assert!(pause <= max && pause >= max / 2, "{failures}: {pause:?}");
            }
        }
    }

    #[test]
    fn simultaneous_failures_get_different_delays() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        assert_ne!(
            RetryPolicy::default().delay(3, &mut random),
            RetryPolicy::default().delay(3, &mut random)
        );
    }
}

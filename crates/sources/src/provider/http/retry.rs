//! When to ask again.

use std::time::Duration;

use rand::Rng;

/// How often a request is made, and how long to wait in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often it is made in all, at least once.
    pub attempts: u32,
    /// The longest wait before the second time; it doubles each time.
    pub first: Duration,
    /// No wait is longer.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 4,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
        }
    }
}

impl Retry {
    /// How long to wait after so many failures: half of it is certain, half is chance, so that those who failed together do
    /// not come back together.
    pub fn pause(&self, failures: u32, chance: &mut impl Rng) -> Duration {
        let doubled = self
            .first
            .saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        doubled.min(self.longest).mul_f64(chance.random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn waits_double_up_to_the_longest_and_are_at_least_half_as_long() {
        let (retry, mut chance) = (Retry::default(), ChaCha8Rng::seed_from_u64(1));
        for (failures, most) in [(1, 500), (2, 1_000), (3, 2_000), (7, 30_000), (u32::MAX, 30_000)] {
            for _ in 0..100 {
                let pause = retry.pause(failures, &mut chance);
                let most = Duration::from_millis(most);
                assert!(pause <= most && pause >= most / 2, "{failures}: {pause:?}");
            }
        }
    }

    #[test]
    fn two_who_failed_together_do_not_come_back_together() {
        let mut chance = ChaCha8Rng::seed_from_u64(1);
        assert_ne!(
            Retry::default().pause(3, &mut chance),
            Retry::default().pause(3, &mut chance)
        );
    }
}

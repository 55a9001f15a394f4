//! Random numbers from a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A generator of random numbers that depend on its seed alone.
#[derive(Clone, Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// Creates the generator of one part of a round.
    pub(crate) fn new(seed: u64, part: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(part);
        Self(random)
    }

    /// Returns a number from `least` to `most`.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let range = (most - least).unsigned_abs() + 1;
        least.saturating_add_unsigned(self.0.next_u64() % range)
    }

    /// Returns true with a probability in percent.
    pub(crate) fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    /// Returns one of some values.
    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        let last = i64::try_from(values.len()).unwrap() - 1;
        values[usize::try_from(self.between(0, last)).unwrap()]
    }

    /// Returns 128 random bits, for an id.
    pub(crate) fn id(&mut self) -> uuid::Uuid {
        uuid::Uuid::from_u64_pair(self.0.next_u64(), self.0.next_u64())
    }
}

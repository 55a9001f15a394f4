//! Chance as a parameter: ids and secrets come from a generator that is passed in.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use rand::RngCore;
use uuid::{Builder, Uuid};

/// Where ids and secrets come from. In the program it is seeded by the operating system, in tests by a number.
pub struct Chance(Mutex<Box<dyn RngCore + Send>>);

impl Chance {
    /// Chance from a generator, which has to be fit for secrets unless this is a test.
    #[must_use]
    pub fn new(generator: Box<dyn RngCore + Send>) -> Self {
        Self(Mutex::new(generator))
    }

    /// So many random bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // A panic elsewhere while the lock was held leaves the generator as fit as it was.
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generator.fill_bytes(&mut bytes);
        bytes
    }

    /// A UUID of version 4.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        Builder::from_random_bytes(self.bytes()).into_uuid()
    }
}

impl fmt::Debug for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chance")
    }
}

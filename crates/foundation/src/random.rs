//! Random numbers as a dependency: ids and secrets come from a given generator.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use rand::RngCore;
use uuid::{Builder, Uuid};

/// Source of ids and secrets. In production the operating system seeds the generator, in tests a number does.
pub struct Random(Mutex<Box<dyn RngCore + Send>>);

impl Random {
    /// Wraps a generator. Outside of tests it must be cryptographically secure.
    #[must_use]
    pub fn new(generator: Box<dyn RngCore + Send>) -> Self {
        Self(Mutex::new(generator))
    }

    /// Returns `N` random bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // A panic elsewhere does not affect the generator.
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generator.fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a random UUID (version 4).
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        Builder::from_random_bytes(self.bytes()).into_uuid()
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}

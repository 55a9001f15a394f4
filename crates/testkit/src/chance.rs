//! Chance that can be looked at: the generator of a test, and the secrets that were drawn from it.

use std::sync::{Arc, Mutex, PoisonError};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The bytes of a secret. Ids, salts and nonces have others.
const SECRET_BYTES: usize = 32;

/// A generator from a number, that notes the secrets which are drawn from it.
#[derive(Debug)]
pub struct Generator {
    inner: ChaCha20Rng,
    drawn: Drawn,
}

/// The secrets that were drawn from a [`Generator`], oldest first.
#[derive(Clone, Debug, Default)]
pub struct Drawn(Arc<Mutex<Vec<[u8; SECRET_BYTES]>>>);

impl Drawn {
    /// All of them so far.
    #[must_use]
    pub fn all(&self) -> Vec<[u8; SECRET_BYTES]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The one that was drawn last.
    #[must_use]
    pub fn last(&self) -> [u8; SECRET_BYTES] {
        *self.all().last().expect("no secret was drawn yet")
    }
}

/// A generator from a number, with what notes its secrets.
#[must_use]
pub fn chance(seed: u64) -> (Generator, Drawn) {
    let drawn = Drawn::default();
    let inner = ChaCha20Rng::seed_from_u64(seed);
    let generator = Generator {
        inner,
        drawn: drawn.clone(),
    };
    (generator, drawn)
}

impl RngCore for Generator {
    fn next_u32(&mut self) -> u32 {
        self.inner.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.inner.fill_bytes(bytes);
        if let Ok(secret) = <[u8; SECRET_BYTES]>::try_from(&*bytes) {
            self.drawn.0.lock().unwrap_or_else(PoisonError::into_inner).push(secret);
        }
    }
}

//! Time as a parameter: who waits for an instant asks a [`Clock`], so that a test can let a year pass in a moment.

use std::future::Future;
use std::pin::Pin;

use jiff::Timestamp;

/// A clock to read and to wait by.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// Waits until `at` has come; at once if it has.
    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

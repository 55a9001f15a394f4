//! What the conformance table is made with.

pub mod clock;
pub mod server;
pub mod subject;
pub mod telephone;

use std::sync::Arc;
use std::time::Duration;

use clock::TestClock;
use sources::provider::http::Setup;

/// When the tests play: a Friday, in the session.
pub const NOW: &str = "2024-03-08T15:30:00Z";

/// A key that must not be seen anywhere.
pub const KEY: &str = "pk-open-sesame";

/// The usual setup on `clock`, with bodies of at most 100 kB.
pub fn setup(clock: &Arc<TestClock>) -> Setup {
    let clock: Arc<TestClock> = Arc::clone(clock);
    Setup {
        deadline: Duration::from_secs(20),
        most_bytes: 100_000,
        most_catalog_bytes: 100_000,
        ..Setup::new(clock, 1)
    }
}

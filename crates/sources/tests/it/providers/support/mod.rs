//! Fixtures of the conformance tests.

pub mod case;
pub mod clock;
pub mod server;
pub mod websocket;

use std::sync::Arc;
use std::time::Duration;

use clock::TestClock;
use sources::provider::http::AdapterSetup;

/// The start time of the tests: a Friday during the session.
pub const NOW: &str = "2024-03-08T15:30:00Z";

/// A key that must not be printed anywhere.
pub const KEY: &str = "pk-open-sesame";

/// Returns the default setup with `clock` and a limit of 100 kB per response body.
pub fn setup(clock: &Arc<TestClock>) -> AdapterSetup {
    let clock: Arc<TestClock> = Arc::clone(clock);
    AdapterSetup {
        timeout: Duration::from_secs(20),
        max_response_bytes: 100_000,
        max_catalog_bytes: 100_000,
        ..AdapterSetup::new(clock, 1)
    }
}

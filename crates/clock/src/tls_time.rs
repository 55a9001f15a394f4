//! The time at which TLS certificates are verified.

use std::sync::Arc;

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

use crate::Clock;

/// A [`Clock`] as the time provider of rustls.
#[derive(Debug)]
pub struct TlsTime(pub Arc<dyn Clock>);

impl TimeProvider for TlsTime {
    fn current_time(&self) -> Option<UnixTime> {
        let since_1970 = self.0.now().as_duration();
        Some(UnixTime::since_unix_epoch(since_1970.try_into().ok()?))
    }
}

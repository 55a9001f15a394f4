//! TLS: whom the client trusts.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};

use super::SetupError;
use crate::Clock;

/// The authorities that browsers trust. What they sign is verified at the time that the [`Clock`] tells.
pub(crate) fn config(clock: &Arc<dyn Clock>) -> Result<ClientConfig, SetupError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_details(provider, Arc::new(Calendar(Arc::clone(clock))))
        .with_safe_default_protocol_versions()
        .map_err(|error| SetupError::Tls(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The time for certificates.
struct Calendar(Arc<dyn Clock>);

impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Calendar")
    }
}

impl TimeProvider for Calendar {
    fn current_time(&self) -> Option<UnixTime> {
        let since_1970 = self.0.now().as_duration();
        Some(UnixTime::since_unix_epoch(since_1970.try_into().ok()?))
    }
}

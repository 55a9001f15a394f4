//! TLS configuration of the provider clients.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

use super::AdapterSetupError;
use clock::{Clock, TlsTime};

/// Returns a client configuration that trusts the Mozilla root certificates and verifies validity at the [`Clock`]'s time.
pub(crate) fn config(clock: &Arc<dyn Clock>) -> Result<ClientConfig, AdapterSetupError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_details(provider, Arc::new(TlsTime(Arc::clone(clock))))
        .with_safe_default_protocol_versions()
        .map_err(|error| AdapterSetupError::Tls(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

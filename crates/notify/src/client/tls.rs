//! TLS configuration: trusted certificate authorities.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, RootCertStore};

use super::TlsFailure;
use clock::{Clock, TlsTime};

/// An error in the setup of TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// An additional certificate of the operator is invalid.
    #[error("not a valid certificate of a certificate authority: {0}")]
    BadRoot(rustls::Error),
    /// The TLS library does not support the required settings.
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

/// Returns a configuration that trusts the public certificate authorities and those in `extra_roots`. Certificates are verified at
/// the time of the given [`Clock`].
pub(crate) fn config(
    extra_roots: &[CertificateDer<'static>],
    time: &Arc<dyn Clock>,
) -> Result<ClientConfig, TlsSetupError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for root in extra_roots {
        roots.add(root.clone()).map_err(TlsSetupError::BadRoot)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_details(provider, Arc::new(TlsTime(Arc::clone(time))))
        .with_safe_default_protocol_versions()
        .map_err(TlsSetupError::Setup)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Classifies a TLS error.
pub(crate) fn failure(error: &std::io::Error) -> TlsFailure {
    let error = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(error)) = error else {
        return TlsFailure::Handshake;
    };
    match error {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsFailure::Expired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsFailure::WrongName,
        CertificateError::UnknownIssuer => TlsFailure::UnknownIssuer,
        _ => TlsFailure::BadCertificate,
    }
}

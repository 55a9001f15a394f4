//! TLS: whom the client trusts.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{CertificateError, ClientConfig, RootCertStore};

use super::TlsFault;
use crate::time::Time;

/// What the client cannot work without.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate of the operator's own is none.
    #[error("this is no certificate of an authority: {0}")]
    BadRoot(rustls::Error),
    /// The library does not offer what is asked of it.
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

/// The authorities that browsers trust, and the operator's own. What they sign is verified at the time that [`Time`] tells.
pub(crate) fn config(own_roots: &[CertificateDer<'static>], time: &Arc<dyn Time>) -> Result<ClientConfig, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for root in own_roots {
        roots.add(root.clone()).map_err(TlsError::BadRoot)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_details(provider, Arc::new(Calendar(Arc::clone(time))))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Setup)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The time for certificates.
struct Calendar(Arc<dyn Time>);

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

/// Why there is no secure connection.
pub(crate) fn fault(error: &std::io::Error) -> TlsFault {
    let error = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(error)) = error else {
        return TlsFault::Handshake;
    };
    match error {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsFault::Expired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsFault::WrongName,
        CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
        _ => TlsFault::BadCertificate,
    }
}

//! How connections to the SMTP server are encrypted.

use std::sync::Arc;

use lettre::transport::smtp::client::{Certificate, TlsParameters};
use rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::TlsConnector;

use super::EmailError;
use super::server::{SmtpServer, SmtpUrlError, TlsMode};
use crate::client::tls;
use clock::Clock;

/// How connections are encrypted.
pub(super) enum Encryption {
    /// Not at all.
    None,
    /// From the command STARTTLS on.
    StartTls(TlsParameters),
    /// From the first byte on, with the name that the certificate must have.
    Implicit(TlsConnector, ServerName<'static>),
}

impl Encryption {
    /// Creates the encryption for a server. It trusts the public certificate authorities and those in `extra_roots`.
    pub(super) fn new(
        server: &SmtpServer,
        extra_roots: &[CertificateDer<'static>],
        time: &Arc<dyn Clock>,
    ) -> Result<Self, EmailError> {
        // Certificates are checked even if they are not needed.
        let config = tls::config(extra_roots, time)?;
        match server.tls_mode {
            TlsMode::None => Ok(Self::None),
            TlsMode::StartTls => {
                let mut parameters = TlsParameters::builder(server.host.clone());
                for root in extra_roots {
                    parameters = parameters.add_root_certificate(Certificate::from_der(root.to_vec())?);
                }
                Ok(Self::StartTls(parameters.build_rustls()?))
            }
            TlsMode::Implicit => {
                let name = ServerName::try_from(server.host.clone()).map_err(|_| SmtpUrlError::BadHost)?;
                Ok(Self::Implicit(Arc::new(config).into(), name))
            }
        }
    }
}

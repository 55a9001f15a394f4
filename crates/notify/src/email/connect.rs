//! Connects to the SMTP server: DNS, connection, TLS, authentication. Also classifies the errors of lettre.

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::extension::{ClientId, Extension};

use super::encryption::Encryption;
use super::pool::Connection;
use super::server::SmtpServer;
use super::stream::SmtpStream;
use crate::address::{ByteStream, Dialer, Resolver};
use crate::client::{TlsFailure, tls};
use crate::message_attempt::MessageOutcome;

/// The failure of an attempt, with the reply text of the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SendFailure {
    pub(super) outcome: MessageOutcome,
    pub(super) detail: Option<String>,
}

impl From<MessageOutcome> for SendFailure {
    fn from(outcome: MessageOutcome) -> Self {
        Self { outcome, detail: None }
    }
}

/// Makes connections to the server.
pub(super) struct SmtpConnector {
    pub(super) server: SmtpServer,
    pub(super) encryption: Encryption,
    pub(super) hello: ClientId,
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) dialer: Arc<dyn Dialer>,
}

impl SmtpConnector {
    /// Returns an authenticated connection.
    pub(super) async fn connect(&self) -> Result<Connection, SendFailure> {
        let (stream, address) = self.dial().await?;
        let stream = match &self.encryption {
            Encryption::None | Encryption::StartTls(_) => SmtpStream::new(stream, address),
            Encryption::Implicit(connector, name) => {
                let encrypted = connector.connect(name.clone(), stream).await;
                let encrypted = encrypted.map_err(|error| MessageOutcome::TlsFailed(tls::failure(&error)))?;
                SmtpStream::new(Box::new(encrypted), address)
            }
        };
        let greeted = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &self.hello).await;
        let mut smtp = greeted.map_err(|error| temporary_failure(&error, MessageOutcome::ConnectionFailed))?;
        if let Encryption::StartTls(parameters) = &self.encryption {
            if !smtp.server_info().supports_feature(Extension::StartTls) {
                return Err(MessageOutcome::TlsNotOffered.into());
            }
            let upgraded = smtp.starttls(parameters.clone(), &self.hello).await;
            upgraded.map_err(|error| temporary_failure(&error, MessageOutcome::TlsFailed(TlsFailure::Handshake)))?;
        }
        if let Some((user, password)) = &self.server.credentials {
            authenticate(&mut smtp, user, password).await?;
        }
        Ok(Connection {
            smtp,
            messages: 0,
            needs_reset: false,
        })
    }

    /// Connects to the first address that accepts.
    async fn dial(&self) -> Result<(Box<dyn ByteStream>, SocketAddr), SendFailure> {
        for address in self.addresses().await? {
            let address = SocketAddr::new(address, self.server.port);
            if let Ok(stream) = self.dialer.dial(address).await {
                return Ok((stream, address));
            }
        }
        Err(MessageOutcome::ConnectionFailed.into())
    }

    async fn addresses(&self) -> Result<Vec<IpAddr>, SendFailure> {
        let host = self.server.host.as_str();
        if let Ok(address) = host.parse() {
            return Ok(vec![address]);
        }
        let found = self.resolver.resolve(host).await;
        let found = found.map_err(|_| MessageOutcome::NameNotFound)?;
        if found.is_empty() {
            return Err(MessageOutcome::NameNotFound.into());
        }
        Ok(found)
    }
}

async fn authenticate(smtp: &mut AsyncSmtpConnection, user: &str, password: &str) -> Result<(), SendFailure> {
    const MECHANISMS: &[Mechanism] = &[Mechanism::Plain, Mechanism::Login];
    if smtp.server_info().get_auth_mechanism(MECHANISMS).is_none() {
        return Err(SendFailure {
            outcome: MessageOutcome::NotAuthenticated,
            detail: Some("the server offers neither AUTH PLAIN nor AUTH LOGIN on this connection".to_owned()),
        });
    }
    let credentials = Credentials::new(user.to_owned(), password.to_owned());
    match smtp.auth(MECHANISMS, &credentials).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_permanent() => Err(SendFailure {
            outcome: MessageOutcome::NotAuthenticated,
            detail: reply_text(&error),
        }),
        Err(error) => Err(temporary_failure(&error, MessageOutcome::ConnectionLost)),
    }
}

/// Classifies an error before the message: it is always temporary. `otherwise` is the outcome if the connection fails without a
/// reply.
pub(super) fn temporary_failure(error: &Error, otherwise: MessageOutcome) -> SendFailure {
    if let Some(code) = reply_code(error) {
        return SendFailure {
            outcome: MessageOutcome::Deferred {
                code,
                retry_after: None,
            },
            detail: reply_text(error),
        };
    }
    if let Some(failure) = tls_failure(error) {
        return MessageOutcome::TlsFailed(failure).into();
    }
    if error.is_response() {
        // The error text of lettre for a connection that ends before the reply does.
        let is_cut = reply_text(error).is_some_and(|text| text == "incomplete response");
        let outcome = if is_cut {
            MessageOutcome::ConnectionLost
        } else {
            MessageOutcome::InvalidResponse
        };
        return outcome.into();
    }
    if error.to_string().starts_with("network error") {
        return MessageOutcome::ConnectionLost.into();
    }
    otherwise.into()
}

/// Classifies an error about a message.
pub(super) fn message_failure(error: &Error) -> SendFailure {
    match reply_code(error) {
        // The server requires authentication.
        Some(530 | 535 | 538) => SendFailure {
            outcome: MessageOutcome::NotAuthenticated,
            detail: reply_text(error),
        },
        Some(code) if error.is_permanent() => SendFailure {
            outcome: MessageOutcome::Refused { code },
            detail: reply_text(error),
        },
        _ => temporary_failure(error, MessageOutcome::ConnectionLost),
    }
}

/// Returns the reply code of the server.
pub(super) fn reply_code(error: &Error) -> Option<u32> {
    error.status().map(|code| u16::from(code).into())
}

/// Returns the reply text of the server.
fn reply_text(error: &Error) -> Option<String> {
    error.source().map(ToString::to_string)
}

/// Returns the reason of a TLS failure, if TLS failed.
fn tls_failure(error: &Error) -> Option<TlsFailure> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
            return is_tls.then(|| tls::failure(error));
        }
        source = error.source();
    }
    error.is_tls().then_some(TlsFailure::Handshake)
}

//! Getting to the server: its address, the connection, TLS, the credentials. And what lettre's errors come to.

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, SocketAddr};

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::{ClientId, Extension};
use tokio::net::lookup_host;

use super::pool::Connection;
use super::server::{Security, Server};
use crate::client::{TlsFault, tls};
use crate::message_attempt::MessageOutcome;

/// What went wrong, and what the server said to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) outcome: MessageOutcome,
    pub(super) detail: Option<String>,
}

impl From<MessageOutcome> for Fault {
    fn from(outcome: MessageOutcome) -> Self {
        Self { outcome, detail: None }
    }
}

/// What it takes to get to the server.
pub(super) struct Dialler {
    pub(super) server: Server,
    pub(super) tls: TlsParameters,
    pub(super) hello: ClientId,
}

impl Dialler {
    /// A connection on which a message may be sent.
    pub(super) async fn dial(&self) -> Result<Connection, Fault> {
        let addresses = self.addresses().await?;
        let at_once = (self.server.security == Security::Implicit).then(|| self.tls.clone());
        let connected = AsyncSmtpConnection::connect_tokio1(&addresses[..], None, &self.hello, at_once, None).await;
        let mut smtp = connected.map_err(|error| not_now(&error, MessageOutcome::ConnectionFailed))?;
        if self.server.security == Security::StartTls {
            if !smtp.server_info().supports_feature(Extension::StartTls) {
                return Err(MessageOutcome::TlsNotOffered.into());
            }
            let upgraded = smtp.starttls(self.tls.clone(), &self.hello).await;
            upgraded.map_err(|error| not_now(&error, MessageOutcome::TlsFailed(TlsFault::Handshake)))?;
        }
        if let Some((user, password)) = &self.server.credentials {
            authenticate(&mut smtp, user, password).await?;
        }
        Ok(Connection {
            smtp,
            messages: 0,
            is_soiled: false,
        })
    }

    async fn addresses(&self) -> Result<Vec<SocketAddr>, Fault> {
        let (host, port) = (self.server.host.as_str(), self.server.port);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let found = lookup_host((host, port)).await;
        let found: Vec<_> = found.map_err(|_| MessageOutcome::NameNotFound)?.collect();
        if found.is_empty() {
            return Err(MessageOutcome::NameNotFound.into());
        }
        Ok(found)
    }
}

async fn authenticate(smtp: &mut AsyncSmtpConnection, user: &str, password: &str) -> Result<(), Fault> {
    const MECHANISMS: &[Mechanism] = &[Mechanism::Plain, Mechanism::Login];
    if smtp.server_info().get_auth_mechanism(MECHANISMS).is_none() {
        return Err(Fault {
            outcome: MessageOutcome::NotAuthenticated,
            detail: Some("the server offers neither AUTH PLAIN nor AUTH LOGIN on this connection".to_owned()),
        });
    }
    let credentials = Credentials::new(user.to_owned(), password.to_owned());
    match smtp.auth(MECHANISMS, &credentials).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_permanent() => Err(Fault {
            outcome: MessageOutcome::NotAuthenticated,
            detail: said(&error),
        }),
        Err(error) => Err(not_now(&error, MessageOutcome::ConnectionLost)),
    }
}

/// What an error comes to, while it is not about a message: nothing is refused for good. `else_` is what it is when the
/// connection itself fails without further word.
pub(super) fn not_now(error: &Error, else_: MessageOutcome) -> Fault {
    if let Some(code) = code(error) {
        return Fault {
            outcome: MessageOutcome::Deferred {
                code,
                retry_after: None,
            },
            detail: said(error),
        };
    }
    if let Some(fault) = tls_fault(error) {
        return MessageOutcome::TlsFailed(fault).into();
    }
    if error.is_response() {
        // lettre's word for a connection that ends before the answer does.
        let is_cut = said(error).is_some_and(|said| said == "incomplete response");
        let outcome = if is_cut {
            MessageOutcome::ConnectionLost
        } else {
            MessageOutcome::BadAnswer
        };
        return outcome.into();
    }
    if error.to_string().starts_with("network error") {
        return MessageOutcome::ConnectionLost.into();
    }
    else_.into()
}

/// What an error comes to, when it is about a message.
pub(super) fn about_message(error: &Error) -> Fault {
    match code(error) {
        // The server has changed its mind about who we are.
        Some(530 | 535 | 538) => Fault {
            outcome: MessageOutcome::NotAuthenticated,
            detail: said(error),
        },
        Some(code) if error.is_permanent() => Fault {
            outcome: MessageOutcome::Refused { code },
            detail: said(error),
        },
        _ => not_now(error, MessageOutcome::ConnectionLost),
    }
}

/// The server's reply.
pub(super) fn code(error: &Error) -> Option<u32> {
    error.status().map(|code| u16::from(code).into())
}

/// The text of the server's reply.
fn said(error: &Error) -> Option<String> {
    error.source().map(ToString::to_string)
}

/// Why TLS failed, if it is TLS that failed.
fn tls_fault(error: &Error) -> Option<TlsFault> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
            return is_tls.then(|| tls::fault(error));
        }
        source = error.source();
    }
    error.is_tls().then_some(TlsFault::Handshake)
}

//! Sends emails through an SMTP server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use lettre::message::Mailbox;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use lettre::transport::smtp::response::Response;
use lettre::transport::smtp::{self};

use super::compose::{self, ComposedMessage};
use super::connect::{self, SendFailure, SmtpConnector};
use super::encryption::Encryption;
use super::pool::{Connection, Pool};
use super::server::SmtpServer;
use super::{Email, EmailError, SmtpConfig};
use crate::address::{Dialer, Resolver};
use crate::message_attempt::{MessageAttempt, MessageOutcome};
use clock::Clock;

/// SMTP reply code 421: the server closes the connection.
const SERVICE_CLOSING_CODE: u32 = 421;

/// The external dependencies of a [`Mailer`].
#[derive(Clone, Debug)]
pub struct MailerPorts {
    /// The clock.
    pub time: Arc<dyn Clock>,
    /// Looks the name of the server up.
    pub resolver: Arc<dyn Resolver>,
    /// Opens connections to the server.
    pub dialer: Arc<dyn Dialer>,
}

/// Sends emails through an SMTP server.
pub struct Mailer {
    connector: SmtpConnector,
    from: Mailbox,
    pool: Pool,
    timeout: Duration,
    time: Arc<dyn Clock>,
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl Mailer {
    /// Creates a mailer. It connects when an email is sent.
    ///
    /// # Errors
    /// [`EmailError`] if a setting is invalid.
    pub fn new(settings: SmtpConfig, ports: MailerPorts) -> Result<Self, EmailError> {
        let server = SmtpServer::from_url(&settings.url)?;
        let hello = match settings.hello_name {
            None => ClientId::default(),
            Some(name) if is_host_name(&name) => ClientId::Domain(name),
            Some(_) => return Err(EmailError::BadHelloName),
        };
        let connector = SmtpConnector {
            encryption: Encryption::new(&server, &settings.extra_roots, &ports.time)?,
            server,
            hello,
            resolver: ports.resolver,
            dialer: ports.dialer,
        };
        Ok(Self {
            connector,
            from: compose::sender(&settings.from).ok_or(EmailError::BadFrom)?,
            pool: Pool::default(),
            timeout: settings.timeout,
            time: ports.time,
        })
    }

    /// Makes one attempt to send an email.
    pub async fn send(&self, email: &Email) -> MessageAttempt {
        let at = self.time.now();
        let ended = |outcome, detail: Option<&str>| MessageAttempt::ended(at, self.time.now(), outcome, detail);
        let composed = match compose::compose(email, &self.from) {
            Ok(composed) => composed,
            Err(error) => return ended(MessageOutcome::Unsendable, Some(&error.to_string())),
        };
        let result = tokio::select! {
            biased;
            result = self.exchange(&composed) => result,
            () = self.time.sleep(self.timeout) => Err(MessageOutcome::TimedOut.into()),
        };
        match result {
            Ok(reply) => ended(MessageOutcome::Delivered, reply.as_deref()),
            Err(failure) => ended(failure.outcome, failure.detail.as_deref()),
        }
    }

    /// Sends a message on a pooled connection, or else on a new one. Returns the reply text of the server.
    async fn exchange(&self, message: &ComposedMessage) -> Result<Option<String>, SendFailure> {
        while let Some(mut connection) = self.pool.take(self.now()) {
            match send_mail_from(&mut connection, message).await {
                Ok(()) => return self.finish(connection, message).await,
                // The server had closed the idle connection before the message.
                Err(error) if was_closed_while_idle(&error) => {}
                Err(error) => return Err(self.message_failure(connection, &error)),
            }
        }
        let mut connection = self.connector.connect().await?;
        match send_mail_from(&mut connection, message).await {
            Ok(()) => self.finish(connection, message).await,
            Err(error) => Err(self.message_failure(connection, &error)),
        }
    }

    async fn finish(
        &self,
        mut connection: Connection,
        message: &ComposedMessage,
    ) -> Result<Option<String>, SendFailure> {
        let smtp = &mut connection.smtp;
        if !message.is_ascii() && !smtp.server_info().supports_feature(Extension::SmtpUtfEight) {
            connection.needs_reset = true;
            self.pool.keep(connection, self.now());
            return Err(SendFailure {
                outcome: MessageOutcome::Unsendable,
                detail: Some("the server does not support addresses with non-ASCII characters (SMTPUTF8)".to_owned()),
            });
        }
        let sent = async {
            smtp.command(Rcpt::new(message.to.clone(), Vec::new())).await?;
            smtp.command(Data).await?;
            smtp.message(&message.bytes).await
        };
        match sent.await {
            Ok(response) => {
                self.pool.keep(connection, self.now());
                Ok(first_line(&response))
            }
            Err(error) => Err(self.message_failure(connection, &error)),
        }
    }

    /// Classifies an error about a message. If the server replied and keeps the connection open, the connection is reused.
    fn message_failure(&self, mut connection: Connection, error: &smtp::Error) -> SendFailure {
        if connect::reply_code(error).is_some_and(|code| code != SERVICE_CLOSING_CODE) {
            connection.needs_reset = true;
            self.pool.keep(connection, self.now());
        }
        connect::message_failure(error)
    }

    fn now(&self) -> Timestamp {
        self.time.now()
    }
}

/// Sends MAIL FROM. Until the server accepts it, no message has started.
async fn send_mail_from(connection: &mut Connection, message: &ComposedMessage) -> Result<(), smtp::Error> {
    let smtp = &mut connection.smtp;
    if connection.needs_reset {
        smtp.command(Rset).await?;
        connection.needs_reset = false;
    }
    connection.messages += 1;
    let utf8 = !message.is_ascii() && smtp.server_info().supports_feature(Extension::SmtpUtfEight);
    let parameters = if utf8 {
        vec![MailParameter::SmtpUtfEight]
    } else {
        Vec::new()
    };
    smtp.command(Mail::new(Some(message.from.clone()), parameters)).await?;
    Ok(())
}

fn was_closed_while_idle(error: &smtp::Error) -> bool {
    connect::reply_code(error).is_none_or(|code| code == SERVICE_CLOSING_CODE)
}

fn first_line(response: &Response) -> Option<String> {
    response.first_line().map(ToOwned::to_owned)
}

fn is_host_name(name: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    name.len() <= 253 && name.split('.').all(is_label)
}

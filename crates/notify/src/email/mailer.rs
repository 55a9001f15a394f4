//! Sends a mail.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use lettre::message::Mailbox;
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use lettre::transport::smtp::response::Response;
use lettre::transport::smtp::{self};

use super::compose::{self, Composed};
use super::dial::{self, Dialler, Fault};
use super::pool::{Connection, Pool};
use super::server::Server;
use super::{Email, EmailError, SmtpSettings};
use crate::message_attempt::{MessageAttempt, MessageOutcome};
use crate::time::Time;

/// The server ends the session.
const CLOSING: u32 = 421;

/// Hands mail to a server.
pub struct Mailer {
    dialler: Dialler,
    from: Mailbox,
    pool: Pool,
    timeout: Duration,
    time: Arc<dyn Time>,
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl Mailer {
    /// A mailer. It connects when there is something to send.
    ///
    /// # Errors
    /// [`EmailError`], if a setting is none to work with.
    pub fn new(settings: SmtpSettings, time: Arc<dyn Time>) -> Result<Self, EmailError> {
        let server = Server::of(&settings.url)?;
        let mut tls = TlsParameters::builder(server.host.clone());
        for root in &settings.own_roots {
            tls = tls.add_root_certificate(Certificate::from_der(root.to_vec())?);
        }
        let hello = match settings.hello_name {
            None => ClientId::default(),
            Some(name) if is_host_name(&name) => ClientId::Domain(name),
            Some(_) => return Err(EmailError::BadHelloName),
        };
        let dialler = Dialler {
            server,
            tls: tls.build_rustls()?,
            hello,
        };
        Ok(Self {
            dialler,
            from: compose::sender(&settings.from).ok_or(EmailError::BadFrom)?,
            pool: Pool::default(),
            timeout: settings.timeout,
            time,
        })
    }

    /// One attempt to hand a mail to the server.
    pub async fn send(&self, email: &Email) -> MessageAttempt {
        let at = self.time.now();
        let ended = |outcome, detail: Option<&str>| MessageAttempt::ended(at, self.time.now(), outcome, detail);
        let composed = match compose::compose(email, &self.from) {
            Ok(composed) => composed,
            Err(fault) => return ended(MessageOutcome::Unsendable, Some(&fault.to_string())),
        };
        let done = tokio::select! {
            biased;
            done = self.exchange(&composed) => done,
            () = self.time.sleep(self.timeout) => Err(MessageOutcome::TimedOut.into()),
        };
        match done {
            Ok(said) => ended(MessageOutcome::Delivered, said.as_deref()),
            Err(fault) => ended(fault.outcome, fault.detail.as_deref()),
        }
    }

    /// Sends a message on a connection that is kept, or else on a new one. It is `Ok` with what the server said.
    async fn exchange(&self, message: &Composed) -> Result<Option<String>, Fault> {
        while let Some(mut connection) = self.pool.take(self.now()) {
            match begin(&mut connection, message).await {
                Ok(()) => return self.finish(connection, message).await,
                // Nothing was said about the message yet: the server had closed what it found idle.
                Err(error) if was_idle_too_long(&error) => {}
                Err(error) => return Err(self.refused(connection, &error)),
            }
        }
        let mut connection = self.dialler.dial().await?;
        match begin(&mut connection, message).await {
            Ok(()) => self.finish(connection, message).await,
            Err(error) => Err(self.refused(connection, &error)),
        }
    }

    async fn finish(&self, mut connection: Connection, message: &Composed) -> Result<Option<String>, Fault> {
        let smtp = &mut connection.smtp;
        if !message.is_ascii() && !smtp.server_info().supports_feature(Extension::SmtpUtfEight) {
            connection.is_soiled = true;
            self.pool.keep(connection, self.now());
            return Err(Fault {
                outcome: MessageOutcome::Unsendable,
                detail: Some("the server takes no address with letters beyond ASCII (SMTPUTF8)".to_owned()),
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
                Ok(line(&response))
            }
            Err(error) => Err(self.refused(connection, &error)),
        }
    }

    /// What an error comes to. Where the server answered, and goes on, the connection is good for another message.
    fn refused(&self, mut connection: Connection, error: &smtp::Error) -> Fault {
        if dial::code(error).is_some_and(|code| code != CLOSING) {
            connection.is_soiled = true;
            self.pool.keep(connection, self.now());
        }
        dial::about_message(error)
    }

    fn now(&self) -> Timestamp {
        self.time.now()
    }
}

/// Names the sender. Until the server has agreed to that, there is no message.
async fn begin(connection: &mut Connection, message: &Composed) -> Result<(), smtp::Error> {
    let smtp = &mut connection.smtp;
    if connection.is_soiled {
        smtp.command(Rset).await?;
        connection.is_soiled = false;
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

fn was_idle_too_long(error: &smtp::Error) -> bool {
    dial::code(error).is_none_or(|code| code == CLOSING)
}

fn line(response: &Response) -> Option<String> {
    response.first_line().map(ToOwned::to_owned)
}

fn is_host_name(name: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    name.len() <= 253 && name.split('.').all(is_label)
}

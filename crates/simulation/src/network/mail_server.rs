//! The mail server, which speaks SMTP.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufStream, DuplexStream};
use tokio::time::sleep;

use super::Behaviour;
use crate::disk;

/// The name of the mail server.
pub(crate) const MAIL_HOST: &str = "mail.example";
/// The status with which the mail server refuses for good; with any other one, for now.
const REFUSED_FOR_GOOD: u16 = 400;

/// The messages that the mail server has accepted or refused for good.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedEmails {
    /// The accepted messages, by the local part of their `Message-ID`, each with its recipients and texts.
    pub(crate) accepted: BTreeMap<String, BTreeSet<(String, String)>>,
    /// The ids of messages that were refused for good.
    pub(crate) refused: BTreeSet<String>,
    /// The number of messages that were accepted again.
    pub(crate) repeated: u64,
}

/// The mail server. It outlives the processes of the service.
#[derive(Debug)]
pub(crate) struct MailServer(Mutex<(Behaviour, ReceivedEmails)>);

impl MailServer {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new((Behaviour::Accepts(0), ReceivedEmails::default()))))
    }

    fn state(&self) -> MutexGuard<'_, (Behaviour, ReceivedEmails)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        self.state().0 = behaviour;
    }

    pub(super) fn behaviour(&self) -> Behaviour {
        self.state().0
    }

    /// Returns the messages that the mail server has accepted or refused for good.
    pub(crate) fn received(&self) -> ReceivedEmails {
        self.state().1.clone()
    }

    /// Handles a message. Returns the reply; `None`: the connection is closed without one.
    async fn handle(&self, recipient: &str, message: String) -> Option<&'static str> {
        let behaviour = self.behaviour();
        if let Behaviour::Accepts(delay) = behaviour {
            sleep(Duration::from_millis(delay)).await;
        }
        if disk::has_ended() {
            return None;
        }
        let id = id_of(&message)?;
        match behaviour {
            Behaviour::Refuses(REFUSED_FOR_GOOD) => {
                self.state().1.refused.insert(id);
                return Some("550 no such mailbox");
            }
            Behaviour::Refuses(_) => return Some("451 try again later"),
            _ => {}
        }
        self.keep(id, (recipient.to_owned(), message));
        match behaviour {
            Behaviour::LosesResponse => None,
            Behaviour::NeverResponds => std::future::pending().await,
            _ => Some("250 accepted"),
        }
    }

    fn keep(&self, id: String, message: (String, String)) {
        let received = &mut self.state().1;
        if received.accepted.contains_key(&id) {
            received.repeated += 1;
        }
        received.accepted.entry(id).or_default().insert(message);
    }
}

/// Returns the local part of the `Message-ID` of a message.
fn id_of(message: &str) -> Option<String> {
    let header = message.lines().find_map(|line| line.strip_prefix("Message-ID: <"))?;
    header.split('@').next().map(str::to_owned)
}

/// Serves a connection.
pub(super) async fn serve(server: Arc<MailServer>, stream: DuplexStream) {
    // A connection ends with its service or its client.
    let _ = converse(server, BufStream::new(stream)).await;
}

async fn converse(server: Arc<MailServer>, mut stream: BufStream<DuplexStream>) -> std::io::Result<()> {
    reply(&mut stream, "220 mail.example").await?;
    let (mut line, mut recipient) = (String::new(), String::new());
    while stream.read_line(&mut line).await? > 0 {
        let command = line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        if command == "RCPT" {
            recipient = address_in(&line);
        }
        line.clear();
        match command.as_str() {
            "EHLO" => reply(&mut stream, "250 mail.example").await?,
            "DATA" => {
                reply(&mut stream, "354 go on").await?;
                let message = read_message(&mut stream).await?;
                let Some(answer) = server.handle(&recipient, message).await else {
                    return Ok(());
                };
                reply(&mut stream, answer).await?;
            }
            "MAIL" | "RCPT" | "RSET" => reply(&mut stream, "250 OK").await?,
            "QUIT" => return reply(&mut stream, "221 bye").await,
            _ => reply(&mut stream, "502 unknown command").await?,
        }
    }
    Ok(())
}

/// Returns the address in angle brackets of a command.
fn address_in(command: &str) -> String {
    let address = command.split(['<', '>']).nth(1);
    address.unwrap_or_default().to_owned()
}

/// Reads a message up to its last line, with quoted-printable texts decoded as far as they are compared.
async fn read_message(stream: &mut BufStream<DuplexStream>) -> std::io::Result<String> {
    let mut message = String::new();
    loop {
        let begin = message.len();
        if stream.read_line(&mut message).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if &message[begin..] == ".\r\n" {
            message.truncate(begin);
            return Ok(message.replace("=\r\n", "").replace("=3D", "="));
        }
    }
}

async fn reply(stream: &mut BufStream<DuplexStream>, text: &str) -> std::io::Result<()> {
    stream.write_all(text.as_bytes()).await?;
    stream.write_all(b"\r\n").await?;
    stream.flush().await
}

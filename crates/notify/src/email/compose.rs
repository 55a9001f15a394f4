//! Puts a message together, so that whatever is in its texts stays a text.
//!
//! Headers are written here and not by lettre where a user's text is in them: a subject of `=?utf-8?...?=` is ASCII, so
//! lettre leaves it as it is, and a mail client would show what it decodes to. What is not plain is written as encoded words, and
//! what is plain is left readable.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use lettre::Address;
use lettre::address::Envelope;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};
use url::Url;

use super::{AddressFault, Email, address};
use crate::letter;

/// A subject has at most so many characters, ...
const SUBJECT: usize = 160;
/// ... a name so many.
const NAME: usize = 80;
/// A URL in a header has at most so many bytes, as it cannot be broken into lines of less than 998.
const URL: usize = 900;
/// So many bytes of text go into an encoded word, so that its line has at most 76.
const WORD: usize = 39;

/// A message that is ready to be sent.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) bytes: Vec<u8>,
}

impl Composed {
    /// Whether any server can take it. All but addresses is ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.bytes.is_ascii()
    }
}

/// Why there is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum ComposeFault {
    #[error(transparent)]
    Recipient(#[from] AddressFault),
    #[error("the unsubscribe link is no http or https URL of at most {URL} characters")]
    Unsubscribe,
    #[error("the message cannot be put together")]
    Incomplete,
}

/// Reads whom mail comes from.
pub(super) fn sender(text: &str) -> Option<Mailbox> {
    if text.chars().any(char::is_control) {
        return None;
    }
    let mailbox: Mailbox = text.trim().parse().ok()?;
    let email = address::read(mailbox.email.as_ref()).ok()?;
    Some(Mailbox::new(mailbox.name, email))
}

pub(super) fn compose(email: &Email, from: &Mailbox) -> Result<Composed, ComposeFault> {
    let to = address::read(&email.to)?;
    let envelope = Envelope::new(Some(from.email.clone()), vec![to.clone()]).map_err(|_| ComposeFault::Incomplete)?;
    let id = email.message_id.as_hyphenated();
    let mut message = Message::builder()
        .envelope(envelope)
        .from(from.clone())
        .raw_header(recipient(email.to_name.as_deref(), &to))
        .raw_header(subject(&email.subject))
        .date(date(email.date))
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .raw_header(raw("Auto-Submitted", "auto-generated".to_owned()))
        // Outlook's servers know this one.
        .raw_header(raw("X-Auto-Response-Suppress", "All".to_owned()));
    if let Some(link) = &email.list_unsubscribe {
        let link = unsubscribe(link).ok_or(ComposeFault::Unsubscribe)?;
        // One click is a POST (RFC 8058), which is for https alone.
        if link.scheme() == "https" {
            message = message.raw_header(raw("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
        }
        message = message.raw_header(raw("List-Unsubscribe", format!("<{link}>")));
    }
    let parts = MultiPart::alternative()
        .boundary(format!("=_{}", email.message_id.as_simple()))
        .singlepart(part(ContentType::TEXT_PLAIN, &email.text))
        .singlepart(part(ContentType::TEXT_HTML, &email.html));
    let message = message.multipart(parts).map_err(|_| ComposeFault::Incomplete)?;
    Ok(Composed {
        from: from.email.clone(),
        to,
        bytes: message.formatted(),
    })
}

fn recipient(name: Option<&str>, address: &Address) -> HeaderValue {
    let name = letter::plain(name.unwrap_or_default(), NAME);
    let value = if name.is_empty() {
        address.to_string()
    } else if is_plain(&name) {
        let name = name.replace('\\', r"\\").replace('"', "\\\"");
        format!("\"{name}\"\r\n <{address}>")
    } else {
        format!("{}\r\n <{address}>", encoded_words(&name))
    };
    raw("To", value)
}

fn subject(text: &str) -> HeaderValue {
    const NAME: &str = "Subject";
    let text = letter::plain(text, SUBJECT);
    if is_plain(&text) {
        HeaderValue::new(HeaderName::new_from_ascii_str(NAME), text)
    } else {
        raw(NAME, encoded_words(&text))
    }
}

/// A header whose value is written as it stands.
fn raw(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::dangerous_new_pre_encoded(HeaderName::new_from_ascii_str(name), value.clone(), value)
}

/// Whether a text means in a header what it means elsewhere.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !text.contains("=?")
}

/// A text as RFC 2047 has it in headers.
fn encoded_words(text: &str) -> String {
    let mut words = vec![String::new()];
    for c in text.chars() {
        if words.last().is_some_and(|word| word.len() + c.len_utf8() > WORD) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    let words: Vec<_> = words
        .iter()
        .map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)))
        .collect();
    words.join("\r\n ")
}

/// A link that may stand in a header. Parsed, a URL has neither blanks nor angle brackets nor line breaks.
fn unsubscribe(link: &str) -> Option<Url> {
    let url = Url::parse(link).ok()?;
    let is_sound = matches!(url.scheme(), "http" | "https")
        && url.as_str().len() <= URL
        && url
            .as_str()
            .bytes()
            .all(|byte| matches!(byte, b'!'..=b'~') && !matches!(byte, b'<' | b'>' | b','));
    is_sound.then_some(url)
}

/// A part of the message. Quoted-printable keeps it whole whatever its lines are like and whoever passes it on.
fn part(kind: ContentType, text: &str) -> SinglePart {
    SinglePart::builder()
        .header(kind)
        .header(ContentTransferEncoding::QuotedPrintable)
        .body(lines(text))
}

/// A text whose lines end in one way, and which has no controls but line ends and tabs.
fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// There is no date before 1970 in a mail.
fn date(at: Timestamp) -> SystemTime {
    SystemTime::from(at.max(Timestamp::UNIX_EPOCH))
}

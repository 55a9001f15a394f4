//! Composes MIME messages, safe against header injection.
//!
//! Headers with user input are encoded here and not by lettre. A subject like `=?utf-8?...?=` is ASCII, so lettre would leave it
//! unchanged, and an email client would show the decoded text. Texts that are not plain ASCII become encoded words (RFC 2047).

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use lettre::Address;
use lettre::address::Envelope;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};
use url::Url;

use super::{Email, EmailAddressError, address};
use crate::templates;

/// Maximum length of a subject, in characters.
const MAX_SUBJECT_LENGTH: usize = 160;
/// Maximum length of a recipient name, in characters.
const MAX_NAME_LENGTH: usize = 80;
/// Maximum length of a URL in a header, in bytes. It cannot be folded, and lines are limited to 998 bytes.
const MAX_URL_BYTES: usize = 900;
/// Maximum number of text bytes in an encoded word, so that its line has at most 76 characters.
const ENCODED_WORD_BYTES: usize = 39;

/// A message that is ready to be sent.
#[derive(Debug)]
pub(super) struct ComposedMessage {
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) bytes: Vec<u8>,
}

impl ComposedMessage {
    /// Returns whether every server can accept the message. Only addresses may be non-ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.bytes.is_ascii()
    }
}

/// An error while composing a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum ComposeError {
    #[error(transparent)]
    Recipient(#[from] EmailAddressError),
    #[error("the unsubscribe link is not an http or https URL of at most {MAX_URL_BYTES} characters")]
    Unsubscribe,
    #[error("the message cannot be composed")]
    Incomplete,
}

/// Parses the sender address.
pub(super) fn sender(text: &str) -> Option<Mailbox> {
    if text.chars().any(char::is_control) {
        return None;
    }
    let mailbox: Mailbox = text.trim().parse().ok()?;
    let email = address::read(mailbox.email.as_ref()).ok()?;
    Some(Mailbox::new(mailbox.name, email))
}

pub(super) fn compose(email: &Email, from: &Mailbox) -> Result<ComposedMessage, ComposeError> {
    let to = address::read(&email.to)?;
    let envelope = Envelope::new(Some(from.email.clone()), vec![to.clone()]).map_err(|_| ComposeError::Incomplete)?;
    let id = email.message_id.as_hyphenated();
    let mut message = Message::builder()
        .envelope(envelope)
        .from(from.clone())
        .raw_header(recipient(email.to_name.as_deref(), &to))
        .raw_header(subject(&email.content.subject))
        .date(date(email.date))
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .raw_header(raw("Auto-Submitted", "auto-generated".to_owned()))
        // For Outlook servers.
        .raw_header(raw("X-Auto-Response-Suppress", "All".to_owned()));
    if let Some(link) = &email.content.list_unsubscribe {
        let link = unsubscribe(link).ok_or(ComposeError::Unsubscribe)?;
        // One-click unsubscription is a POST request (RFC 8058), which requires https.
        if link.scheme() == "https" {
            message = message.raw_header(raw("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
        }
        message = message.raw_header(raw("List-Unsubscribe", format!("<{link}>")));
    }
    let parts = MultiPart::alternative()
        .boundary(format!("=_{}", email.message_id.as_simple()))
        .singlepart(part(ContentType::TEXT_PLAIN, &email.content.text))
        .singlepart(part(ContentType::TEXT_HTML, &email.content.html));
    let message = message.multipart(parts).map_err(|_| ComposeError::Incomplete)?;
    Ok(ComposedMessage {
        from: from.email.clone(),
        to,
        bytes: message.formatted(),
    })
}

fn recipient(name: Option<&str>, address: &Address) -> HeaderValue {
    let name = templates::plain(name.unwrap_or_default(), MAX_NAME_LENGTH);
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
    let text = templates::plain(text, MAX_SUBJECT_LENGTH);
    if is_plain(&text) {
        HeaderValue::new(HeaderName::new_from_ascii_str(NAME), text)
    } else {
        raw(NAME, encoded_words(&text))
    }
}

/// Returns a header with an unchanged value.
fn raw(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::dangerous_new_pre_encoded(HeaderName::new_from_ascii_str(name), value.clone(), value)
}

/// Returns whether a text needs no encoding in a header.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !text.contains("=?")
}

/// Encodes a text as encoded words (RFC 2047).
fn encoded_words(text: &str) -> String {
    let mut words = vec![String::new()];
    for c in text.chars() {
        if words
            .last()
            .is_some_and(|word| word.len() + c.len_utf8() > ENCODED_WORD_BYTES)
        {
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

/// Returns a link that is valid in a header. A parsed URL has no spaces, angle brackets or line breaks.
fn unsubscribe(link: &str) -> Option<Url> {
    let url = Url::parse(link).ok()?;
    let is_valid = matches!(url.scheme(), "http" | "https")
        && url.as_str().len() <= MAX_URL_BYTES
        && url
            .as_str()
            .bytes()
            .all(|byte| matches!(byte, b'!'..=b'~') && !matches!(byte, b'<' | b'>' | b','));
    is_valid.then_some(url)
}

/// Returns a part of the message. Quoted-printable preserves it on all servers, with any line length.
fn part(kind: ContentType, text: &str) -> SinglePart {
    SinglePart::builder()
        .header(kind)
        .header(ContentTransferEncoding::QuotedPrintable)
        .body(lines(text))
}

/// Normalises line endings, and removes control characters except line feeds and tabs.
fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Converts a date. Dates before 1970 are clamped.
fn date(at: Timestamp) -> SystemTime {
    SystemTime::from(at.max(Timestamp::UNIX_EPOCH))
}

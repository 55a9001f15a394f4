//! The page that every mail is.

use askama::Template;

use super::{Frame, Mail};
use crate::letter::plain;

/// A name has at most so many characters.
const NAME: usize = 60;

/// What a figure says by its colour, besides what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    Plain,
    Up,
    Down,
}

impl Tone {
    pub(super) const fn color(self) -> &'static str {
        match self {
            Self::Plain => "#111827",
            Self::Up => "#047857",
            Self::Down => "#b91c1c",
        }
    }
}

/// A line of the table of facts.
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) tone: Tone,
}

/// What the recipient may do.
pub(super) struct Action {
    pub(super) label: &'static str,
    pub(super) link: String,
}

/// What a mail says. Texts are plain lines.
#[derive(Default)]
pub(super) struct Content {
    pub(super) subject: String,
    pub(super) headline: String,
    pub(super) paragraphs: Vec<String>,
    pub(super) facts: Vec<Fact>,
    pub(super) action: Option<Action>,
    /// Whether the link is also written out, for those whose client shows no buttons. It is what the mail is for.
    pub(super) shows_link: bool,
    pub(super) closing: Vec<String>,
}

struct Page<'a> {
    product: &'a str,
    home: String,
    subject: &'a str,
    preview: &'a str,
    greeting: String,
    headline: &'a str,
    paragraphs: &'a [String],
    facts: &'a [Fact],
    action: Option<&'a Action>,
    shows_link: bool,
    closing: &'a [String],
    unsubscribe: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "letter.txt")]
struct Text<'a> {
    page: &'a Page<'a>,
}

#[derive(Template)]
#[template(path = "letter.html")]
struct Html<'a> {
    page: &'a Page<'a>,
}

/// Puts a mail's content into its frame.
pub(super) fn mail(content: &Content, frame: &Frame) -> Mail {
    let name = plain(frame.recipient_name.as_deref().unwrap_or_default(), NAME);
    let page = Page {
        product: &frame.product,
        // The page that says what this service is.
        home: format!("{}/docs", frame.public_url),
        subject: &content.subject,
        preview: content.paragraphs.first().unwrap_or(&content.headline),
        greeting: if name.is_empty() {
            "Hello,".to_owned()
        } else {
            format!("Hello {name},")
        },
        headline: &content.headline,
        paragraphs: &content.paragraphs,
        facts: &content.facts,
        action: content.action.as_ref(),
        shows_link: content.shows_link,
        closing: &content.closing,
        unsubscribe: frame.unsubscribe_link.as_deref(),
    };
    // Writing into a string cannot fail, and the templates have no other fault.
    let text = Text { page: &page }.render().unwrap_or_default();
    let html = Html { page: &page }.render().unwrap_or_default();
    Mail {
        subject: content.subject.clone(),
        text,
        html,
        list_unsubscribe: frame.unsubscribe_link.clone(),
    }
}

//! The layout that all emails share.

use askama::Template;

use super::{EmailContext, RenderedEmail};
use crate::templates::plain;

/// Maximum length of the recipient name, in characters.
const MAX_NAME_LENGTH: usize = 60;

/// The colour of a value.
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

/// A row of the table of facts.
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) tone: Tone,
}

impl Fact {
    pub(super) const fn plain(label: &'static str, value: String) -> Self {
        let tone = Tone::Plain;
        Self { label, value, tone }
    }
}

/// The button of an email.
pub(super) struct Action {
    pub(super) label: &'static str,
    pub(super) link: String,
}

/// The content of an email. Texts are plain text without line breaks.
#[derive(Default)]
pub(super) struct Content {
    pub(super) subject: String,
    pub(super) headline: String,
    pub(super) paragraphs: Vec<String>,
    pub(super) facts: Vec<Fact>,
    pub(super) action: Option<Action>,
    /// A link below the button.
    pub(super) second_action: Option<Action>,
    /// Whether the link of the button is also shown as text, for email clients without buttons.
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
    second_action: Option<&'a Action>,
    shows_link: bool,
    closing: &'a [String],
    unsubscribe: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "email.txt")]
struct Text<'a> {
    page: &'a Page<'a>,
}

#[derive(Template)]
#[template(path = "email.html")]
struct Html<'a> {
    page: &'a Page<'a>,
}

/// Renders the content of an email as text and HTML.
pub(super) fn render(content: &Content, context: &EmailContext) -> RenderedEmail {
    let name = plain(context.recipient_name.as_deref().unwrap_or_default(), MAX_NAME_LENGTH);
    let page = Page {
        product: &context.product,
        // The page that describes this service.
        home: format!("{}/docs", context.public_url),
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
        second_action: content.second_action.as_ref(),
        shows_link: content.shows_link,
        closing: &content.closing,
        unsubscribe: context.unsubscribe_link.as_deref(),
    };
    // Writing into a string cannot fail, and the templates have no other errors.
    let text = Text { page: &page }.render().unwrap_or_default();
    let html = Html { page: &page }.render().unwrap_or_default();
    RenderedEmail {
        subject: content.subject.clone(),
        text,
        html,
        list_unsubscribe: context.unsubscribe_link.clone(),
    }
}

//! How letters and news of alerts read, by mail and as a text message.
//!
//! Every mail is one page in two forms: `templates/letter.txt`, and `templates/letter.html` in tables and inline styles, as mail
//! clients know nothing else, with no image and nothing else that would be fetched. What comes from users or from data stands in
//! them as the text it is: a line of its own at most, escaped in HTML. In a text message there is no markup to escape, but
//! telephones make links of whatever looks like one, so there what looks like one is pulled apart ([`sms`]).

mod alerts;
mod fired;
mod gsm;
mod letters;
mod page;

pub use fired::{FiredAlert, fired_mail, fired_sms};
use jiff::tz::TimeZone;
pub use letters::{mail, sms};

/// What surrounds a mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The product's name: `Bellwether`.
    pub product: String,
    /// Where the service is: `https://alerts.example.com`.
    pub public_url: String,
    /// The recipient's name, as they gave it.
    pub recipient_name: Option<String>,
    /// The recipient's time zone.
    pub time_zone: TimeZone,
    /// Where one click ends mail about alerts, and another has it sent again. Only for mail that one can do without.
    pub unsubscribe_link: Option<String>,
}

impl Frame {
    /// A frame with nothing in it about the recipient, and times in UTC.
    #[must_use]
    pub fn new(product: &str, public_url: &str) -> Self {
        Self {
            product: product.to_owned(),
            public_url: public_url.trim_end_matches('/').to_owned(),
            recipient_name: None,
            time_zone: TimeZone::UTC,
            unsubscribe_link: None,
        }
    }
}

/// A mail without its envelope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mail {
    /// The subject, one line.
    pub subject: String,
    /// As plain text.
    pub text: String,
    /// As HTML.
    pub html: String,
    /// Where one click ends mail of this kind.
    pub list_unsubscribe: Option<String>,
}

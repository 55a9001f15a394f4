//! Renders account emails and fired alerts, as emails and as text messages.
//!
//! Every email has two versions: `templates/email.txt`, and `templates/email.html` with tables and inline styles, because email
//! clients support little else. The HTML loads no images or other resources. Texts from users and from data are inserted as plain
//! text, at most one line each, and escaped in HTML. Text messages have no markup, but phones turn anything that looks like a link
//! into one. So such texts are broken up by spaces (`account_sms`).

mod account_email;
mod alert_notices;
mod figures;
mod fired_alert;
mod fired_alerts;
mod gsm;
mod page;

pub use account_email::{account_email, account_sms};
pub use fired_alert::{ChannelText, CustomTexts, FiredAlert, NotBySms, fired_alert_email, fired_alert_sms};
pub use fired_alerts::{FiredAlerts, fired_alerts_email, fired_alerts_sms};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a time in the time zone of the recipient: `8 March 2024, 09:30 EST`.
#[must_use]
pub fn local_time(at: Timestamp, time_zone: &TimeZone) -> String {
    at.to_zoned(time_zone.clone())
        .strftime("%-d %B %Y, %H:%M %Z")
        .to_string()
}

/// The data of an email beside its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmailContext {
    /// The product name: `Bellwether`.
    pub product: String,
    /// The URL of the service: `https://alerts.example.com`.
    pub public_url: String,
    /// The name of the recipient, as entered by the user.
    pub recipient_name: Option<String>,
    /// The time zone of the recipient.
    pub time_zone: TimeZone,
    /// The link to unsubscribe from alert emails, and to subscribe again. Only for optional emails.
    pub unsubscribe_link: Option<String>,
}

impl EmailContext {
    /// Creates a context without data of the recipient, and with times in UTC.
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

/// A rendered email without sender and recipient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RenderedEmail {
    /// The subject, one line.
    pub subject: String,
    /// The plain text version.
    pub text: String,
    /// The HTML version.
    pub html: String,
    /// The URL to unsubscribe: an `https` URL for one click, or an `http` URL as a link to open.
    pub list_unsubscribe: Option<String>,
}

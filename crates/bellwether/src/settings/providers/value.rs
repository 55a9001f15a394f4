//! The types of provider settings.

use jiff::civil::Time;
use sources::provider::ProviderKey;
use toml::Value;

use crate::settings::secret::MASK;
use crate::settings::value::{Setting, choice};

choice! {
    /// The trades in Alpaca's feed.
    AlpacaFeed {
        /// Trades of one exchange, in real time.
        Iex = "iex",
        /// Trades of all exchanges, in real time.
        Sip = "sip",
        /// Trades of all exchanges, delayed by 15 minutes.
        DelayedSip = "delayed_sip",
    }
}

choice! {
    /// The plans of Massive.
    MassivePlan {
        /// Free: data until yesterday.
        Basic = "basic",
        /// Paid: prices delayed by 15 minutes.
        Starter = "starter",
        /// Paid: prices in real time.
        Advanced = "advanced",
    }
}

/// A provider's key is masked.
impl Setting for ProviderKey {
    fn allowed() -> String {
        "a key of visible ASCII characters without spaces".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::new(text).ok()
    }

    fn to_toml(&self) -> Value {
        MASK.into()
    }
}

/// A contact for a request header: a name and an email address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contact(String);

impl Contact {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Contact {
    fn allowed() -> String {
        "a name and an email address in ASCII, like Example Ltd admin@example.com".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        (text.contains('@') && is_printable).then(|| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        self.0.clone().into()
    }
}

/// A time of day with minutes.
impl Setting for Time {
    fn allowed() -> String {
        "a time of day, like \"22:30\"".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::strptime("%H:%M", text).ok()
    }

    fn to_toml(&self) -> Value {
        self.strftime("%H:%M").to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day_has_hours_and_minutes() {
        let shown = |text: &str| Time::from_text(text).map(|time| time.to_toml());
        assert_eq!(shown("22:30"), Some("22:30".into()));
        assert_eq!(shown("00:00"), Some("00:00".into()));
        for wrong in ["24:00", "22:60", "22", "soon", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn contact_has_an_email_address() {
        assert!(Contact::from_text("Example Ltd admin@example.com").is_some());
        for wrong in ["", "Example Ltd", "Müller a@example.com", "a@example.com\n b"] {
            assert_eq!(Contact::from_text(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn key_is_masked() {
        let key = ProviderKey::from_text("open-sesame").unwrap();
        assert_eq!(key.to_toml(), MASK.into());
        assert_eq!(ProviderKey::from_text("two words"), None);
    }
}

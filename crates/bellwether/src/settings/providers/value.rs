//! What the settings of providers can be.

use jiff::civil::Time;
use sources::provider::Key;
use toml::Value;

use crate::settings::secret::MASK;
use crate::settings::value::{Setting, choice};

choice! {
    /// Which trades Alpaca tells of.
    AlpacaFeed {
        /// Those of one exchange, in real time.
        Iex = "iex",
        /// Those of all exchanges, in real time.
        Sip = "sip",
        /// Those of all exchanges, 15 minutes later.
        DelayedSip = "delayed_sip",
    }
}

choice! {
    /// The plans of Massive.
    MassivePlan {
        /// Free: until yesterday.
        Basic = "basic",
        /// Paid: prices 15 minutes late.
        Starter = "starter",
        /// Paid: prices in real time.
        Advanced = "advanced",
    }
}

/// A provider's key prints as stars.
impl Setting for Key {
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

/// Who asks: a name and a mail address, as a header can carry them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contact(String);

impl Contact {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Contact {
    fn allowed() -> String {
        "a name and a mail address in ASCII, like Example Ltd admin@example.com".to_owned()
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

/// A time of day, to the minute.
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
    fn a_time_of_day_has_hours_and_minutes() {
        let shown = |text: &str| Time::from_text(text).map(|time| time.to_toml());
        assert_eq!(shown("22:30"), Some("22:30".into()));
        assert_eq!(shown("00:00"), Some("00:00".into()));
        for wrong in ["24:00", "22:60", "22", "soon", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_contact_has_a_mail_address() {
        assert!(Contact::from_text("Example Ltd admin@example.com").is_some());
        for wrong in ["", "Example Ltd", "Müller a@example.com", "a@example.com\n b"] {
            assert_eq!(Contact::from_text(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_key_is_shown_as_stars() {
        let key = Key::from_text("open-sesame").unwrap();
        assert_eq!(key.to_toml(), MASK.into());
        assert_eq!(Key::from_text("two words"), None);
    }
}

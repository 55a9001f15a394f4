//! The setting for the prefix of webhook header names.

use std::fmt;

use notify::signature::HeaderPrefix;
use toml::Value;

use super::value::Setting;

/// The prefix of a delivery's header names, for example `X-Service`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderNamePrefix {
    text: String,
    names: HeaderPrefix,
}

impl HeaderNamePrefix {
    /// Returns the header names with this prefix.
    #[must_use]
    pub fn names(&self) -> HeaderPrefix {
        self.names.clone()
    }
}

impl fmt::Display for HeaderNamePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Setting for HeaderNamePrefix {
    fn allowed() -> String {
        "a prefix of header names, like X-Service".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        let names = HeaderPrefix::new(text).ok()?;
        Some(Self {
            text: text.to_owned(),
            names,
        })
    }

    fn to_toml(&self) -> Value {
        self.text.clone().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_must_be_valid_in_a_header_name() {
        assert_eq!(
            HeaderNamePrefix::from_text("X-Acme")
                .map(|prefix| prefix.to_string())
                .as_deref(),
            Some("X-Acme")
        );
        for wrong in ["", "X-", "X Acme", "X-Acme:", "Ü"] {
            assert_eq!(HeaderNamePrefix::from_text(wrong), None, "{wrong}");
        }
    }
}

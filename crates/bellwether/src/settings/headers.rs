//! What headers begin with.

use std::fmt;

use notify::signature::HeaderPrefix;
use toml::Value;

use super::value::Setting;

/// What the names of a delivery's headers begin with: `X-Service`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prefix {
    text: String,
    names: HeaderPrefix,
}

impl Prefix {
    /// The names that begin so.
    #[must_use]
    pub fn names(&self) -> HeaderPrefix {
        self.names.clone()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Setting for Prefix {
    fn allowed() -> String {
        "the beginning of a header's name, like X-Service".to_owned()
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
    fn a_prefix_is_the_beginning_of_a_headers_name() {
        assert_eq!(
            Prefix::from_text("X-Acme").map(|prefix| prefix.to_string()).as_deref(),
            Some("X-Acme")
        );
        for wrong in ["", "X-", "X Acme", "X-Acme:", "Ü"] {
            assert_eq!(Prefix::from_text(wrong), None, "{wrong}");
        }
    }
}

//! The author of an alert.

use crate::{Actor, AuthMethod};

/// The author of an alert or of a requested change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MadeBy {
    /// The account's owner, signed in.
    Person,
    /// A program with the API key of this name.
    Key(String),
    /// An app with OAuth access, by the name that it gave.
    App(String),
    /// The analyst, for the watchlist.
    Analyst,
    /// A guest without an account.
    Guest,
}

const KEY: &str = "key:";
const APP: &str = "app:";

impl MadeBy {
    /// Returns the author for an actor.
    #[must_use]
    pub fn of(actor: &Actor) -> Self {
        match &actor.auth_method {
            AuthMethod::ApiKey { name, .. } => Self::Key(name.clone()),
            AuthMethod::Grant { client, .. } => Self::App(client.clone()),
            AuthMethod::Session { .. } | AuthMethod::MessageLink { .. } => Self::Person,
        }
    }

    /// Returns the stored form.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Person => "session".to_owned(),
            Self::Key(name) => format!("{KEY}{name}"),
            Self::App(name) => format!("{APP}{name}"),
            Self::Analyst => "analyst".to_owned(),
            Self::Guest => "guest".to_owned(),
        }
    }

    /// Parses the stored form. Values from before apps were distinguished are the name of a key.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        if let Some(name) = text.strip_prefix(KEY) {
            return Self::Key(name.to_owned());
        }
        if let Some(name) = text.strip_prefix(APP) {
            return Self::App(name.to_owned());
        }
        match text {
            "session" => Self::Person,
            "analyst" => Self::Analyst,
            "guest" => Self::Guest,
            name => Self::Key(name.to_owned()),
        }
    }

    /// Returns the kind of the author.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Key(_) => "api_key",
            Self::App(_) => "oauth_client",
            Self::Analyst => "analyst",
            Self::Guest => "guest",
        }
    }

    /// Returns the name of the key or the app.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Key(name) | Self::App(name) => Some(name),
            Self::Person | Self::Analyst | Self::Guest => None,
        }
    }

    /// All kinds.
    pub const KINDS: [&'static str; 5] = ["person", "api_key", "oauth_client", "analyst", "guest"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_form_is_parsed_back_for_any_name() {
        let named = ["laptop", "session", "analyst", "key:x", "app:x", ""].map(str::to_owned);
        let keys = named.iter().cloned().map(MadeBy::Key);
        let apps = named.iter().cloned().map(MadeBy::App);
        for made_by in keys.chain(apps).chain([MadeBy::Person, MadeBy::Analyst, MadeBy::Guest]) {
            assert_eq!(MadeBy::from_text(&made_by.to_text()), made_by);
        }
        assert_eq!(MadeBy::from_text("laptop"), MadeBy::Key("laptop".to_owned()));
    }
}

//! Who made an alert.

use crate::{Actor, Via};

/// Who made an alert, or asked for a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MadeBy {
    /// The account's owner, who had signed in.
    Person,
    /// A program, by the API key of this name.
    Key(String),
    /// An app that the owner has let in by OAuth, by the name it gave.
    App(String),
    /// The analyst, for the watchlist.
    Analyst,
    /// Somebody without an account.
    Guest,
}

const KEY: &str = "key:";
const APP: &str = "app:";

impl MadeBy {
    /// What somebody does, they have made.
    #[must_use]
    pub fn of(actor: &Actor) -> Self {
        match &actor.via {
            Via::Key { name, .. } => Self::Key(name.clone()),
            Via::Grant { client, .. } => Self::App(client.clone()),
            Via::Session { .. } => Self::Person,
        }
    }

    /// As it is kept.
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

    /// Of what is kept. What was written before apps were told apart is the name of a key alone.
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

    /// In a word.
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

    /// What the key or the app is called.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Key(name) | Self::App(name) => Some(name),
            Self::Person | Self::Analyst | Self::Guest => None,
        }
    }

    /// Every kind there is.
    pub const KINDS: [&'static str; 5] = ["person", "api_key", "oauth_client", "analyst", "guest"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_as_it_was_whatever_somebody_calls_a_key() {
        let named = ["laptop", "session", "analyst", "key:x", "app:x", ""].map(str::to_owned);
        let keys = named.iter().cloned().map(MadeBy::Key);
        let apps = named.iter().cloned().map(MadeBy::App);
        for made_by in keys.chain(apps).chain([MadeBy::Person, MadeBy::Analyst, MadeBy::Guest]) {
            assert_eq!(MadeBy::from_text(&made_by.to_text()), made_by);
        }
        assert_eq!(MadeBy::from_text("laptop"), MadeBy::Key("laptop".to_owned()));
    }
}

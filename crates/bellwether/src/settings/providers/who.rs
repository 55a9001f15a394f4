//! Who is asked for a capability.

use sources::provider::Capability;
use toml::Value;

use crate::settings::value::{Setting, choice};

choice! {
    /// A provider, by its name.
    ProviderName {
        /// Alpaca.
        Alpaca = "alpaca",
        /// Massive, formerly Polygon.
        Massive = "massive",
        /// Tiingo.
        Tiingo = "tiingo",
        /// Finnhub.
        Finnhub = "finnhub",
        /// The SEC's register.
        Sec = "sec",
        /// ApeWisdom.
        ApeWisdom = "apewisdom",
    }
}

impl ProviderName {
    /// Every provider, in the order in which those are asked that nobody named.
    pub const ALL: [Self; 6] = [
        Self::Alpaca,
        Self::Massive,
        Self::Tiingo,
        Self::Finnhub,
        Self::Sec,
        Self::ApeWisdom,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.word()
    }

    /// The order in which those are asked for `capability` that nobody named. Whoever has the most to say comes first: of
    /// figures that is Finnhub, where Massive knows the market capitalisation only; of insiders' trades the register itself.
    #[must_use]
    pub fn in_order(capability: Capability) -> Vec<Self> {
        let first = match capability {
            Capability::Fundamentals => Some(Self::Finnhub),
            Capability::InsiderTrades => Some(Self::Sec),
            _ => None,
        };
        let others = Self::ALL.into_iter().filter(|&name| Some(name) != first);
        first.into_iter().chain(others).collect()
    }

    /// What switches it on, reading on from "set".
    #[must_use]
    pub const fn switch(self) -> &'static str {
        match self {
            Self::Alpaca => "sources.alpaca.key_id and sources.alpaca.secret",
            Self::Massive => "sources.massive.key",
            Self::Tiingo => "sources.tiingo.key",
            Self::Finnhub => "sources.finnhub.key",
            Self::Sec => "sources.sec.contact, for the SEC wants to know who asks",
            Self::ApeWisdom => "sources.apewisdom.enabled to true",
        }
    }
}

impl std::fmt::Display for ProviderName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Who is asked for something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Who {
    /// All that are set up and offer it.
    All,
    /// These, the primary first; nobody if there are none.
    Named(Vec<ProviderName>),
}

impl Who {
    const ALL: &str = "all";
    const NOBODY: &str = "none";
}

impl Setting for Who {
    fn allowed() -> String {
        let names = ProviderName::ALL.map(ProviderName::name).join(", ");
        format!(
            "\"all\", \"none\", or a list of {names} (in a file [\"alpaca\", \"finnhub\"], in a variable parted by \
             commas), first the one to ask first"
        )
    }

    fn from_text(text: &str) -> Option<Self> {
        match text {
            Self::ALL => Some(Self::All),
            Self::NOBODY => Some(Self::Named(Vec::new())),
            names => Vec::from_text(names).map(Self::Named),
        }
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::from_text(text),
            value => Vec::from_toml(value).map(Self::Named),
        }
    }

    fn to_toml(&self) -> Value {
        match self {
            Self::All => Self::ALL.into(),
            Self::Named(names) if names.is_empty() => Self::NOBODY.into(),
            Self::Named(names) => names.to_toml(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProviderName::{Alpaca, ApeWisdom, Finnhub, Massive, Sec, Tiingo};

    #[test]
    fn who_is_asked_is_all_nobody_or_a_list() {
        let named = |names: &[ProviderName]| Some(Who::Named(names.to_vec()));
        for (text, expected) in [
            ("all", Some(Who::All)),
            ("none", named(&[])),
            ("sec", named(&[Sec])),
            ("alpaca, finnhub", named(&[Alpaca, Finnhub])),
            ("yahoo", None),
            ("alpaca,", None),
            ("all,sec", None),
        ] {
            assert_eq!(Who::from_text(text), expected, "{text}");
        }
        assert_eq!(Who::from_toml(&Value::Array(Vec::new())), named(&[]));
        assert_eq!(Who::from_toml(&Value::Array(vec!["yahoo".into()])), None);
        assert_eq!(Who::from_toml(&true.into()), None);
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for who in [Who::All, Who::Named(Vec::new()), Who::Named(vec![Alpaca, Sec])] {
            assert_eq!(Who::from_toml(&who.to_toml()), Some(who));
        }
    }

    #[test]
    fn whoever_has_the_most_to_say_is_asked_first() {
        let usual = [Alpaca, Massive, Tiingo, Finnhub, Sec, ApeWisdom];
        assert_eq!(ProviderName::in_order(Capability::DailyBars), usual);
        assert_eq!(
            ProviderName::in_order(Capability::Fundamentals),
            [Finnhub, Alpaca, Massive, Tiingo, Sec, ApeWisdom]
        );
        assert_eq!(
            ProviderName::in_order(Capability::InsiderTrades),
            [Sec, Alpaca, Massive, Tiingo, Finnhub, ApeWisdom]
        );
    }
}

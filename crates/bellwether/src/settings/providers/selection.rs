//! The providers' names, and the setting that selects the providers of a capability.

use sources::provider::Capability;
use toml::Value;

use crate::settings::choice::choice;
use crate::settings::value::Setting;

choice! {
    /// The name of a provider. [`ALL`](Self::ALL) is the default order.
    ProviderName {
        /// Alpaca.
        Alpaca = "alpaca",
        /// Massive, formerly Polygon.
        Massive = "massive",
        /// Tiingo.
        Tiingo = "tiingo",
        /// Finnhub.
        Finnhub = "finnhub",
        /// The SEC's EDGAR database.
        Sec = "sec",
        /// ApeWisdom.
        ApeWisdom = "apewisdom",
    }
}

impl ProviderName {
    /// Returns the default order of the providers for `capability`. The one with the most data comes first: for
    /// fundamentals that is Finnhub, because Massive only has the market capitalisation; for insider trades it is the
    /// SEC itself.
    #[must_use]
    pub fn default_order(capability: Capability) -> Vec<Self> {
        let first = match capability {
            Capability::Fundamentals => Some(Self::Finnhub),
            Capability::InsiderTrades => Some(Self::Sec),
            _ => None,
        };
        let others = Self::ALL.iter().copied().filter(|&name| Some(name) != first);
        first.into_iter().chain(others).collect()
    }

    /// Returns the settings that enable the provider, as a continuation of "set".
    #[must_use]
    pub const fn required_settings(self) -> &'static str {
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

/// The selected providers of a capability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProviderSelection {
    /// All providers that are set up and offer the capability.
    All,
    /// These providers, the primary first. An empty list selects none.
    Named(Vec<ProviderName>),
}

impl Setting for ProviderSelection {
    fn allowed() -> String {
        let names: Vec<_> = ProviderName::ALL.iter().map(|name| name.name()).collect();
        let names = names.join(", ");
        format!(
            "\"all\", \"none\", or a list of {names} (in a file [\"alpaca\", \"finnhub\"], in a variable separated by \
             commas), the primary first"
        )
    }

    fn from_text(text: &str) -> Option<Self> {
        match text {
            "all" => Some(Self::All),
            "none" => Some(Self::Named(Vec::new())),
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
            Self::All => "all".into(),
            Self::Named(names) if names.is_empty() => "none".into(),
            Self::Named(names) => names.to_toml(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProviderName::{Alpaca, ApeWisdom, Finnhub, Massive, Sec, Tiingo};

    #[test]
    fn selection_is_all_none_or_a_list() {
        let selected = |names: &[ProviderName]| Some(ProviderSelection::Named(names.to_vec()));
        for (text, expected) in [
            ("all", Some(ProviderSelection::All)),
            ("none", selected(&[])),
            ("sec", selected(&[Sec])),
            ("alpaca, finnhub", selected(&[Alpaca, Finnhub])),
            ("yahoo", None),
            ("alpaca,", None),
            ("all,sec", None),
        ] {
            assert_eq!(ProviderSelection::from_text(text), expected, "{text}");
        }
        assert_eq!(ProviderSelection::from_toml(&Value::Array(Vec::new())), selected(&[]));
        assert_eq!(ProviderSelection::from_toml(&Value::Array(vec!["yahoo".into()])), None);
        assert_eq!(ProviderSelection::from_toml(&true.into()), None);
    }

    #[test]
    fn shown_selection_can_be_parsed() {
        for selection in [
            ProviderSelection::All,
            ProviderSelection::Named(Vec::new()),
            ProviderSelection::Named(vec![Alpaca, Sec]),
        ] {
            assert_eq!(ProviderSelection::from_toml(&selection.to_toml()), Some(selection));
        }
    }

    #[test]
    fn provider_with_most_data_is_first() {
        let usual = [Alpaca, Massive, Tiingo, Finnhub, Sec, ApeWisdom];
        assert_eq!(ProviderName::default_order(Capability::DailyBars), usual);
        assert_eq!(
            ProviderName::default_order(Capability::Fundamentals),
            [Finnhub, Alpaca, Massive, Tiingo, Sec, ApeWisdom]
        );
        assert_eq!(
            ProviderName::default_order(Capability::InsiderTrades),
            [Sec, Alpaca, Massive, Tiingo, Finnhub, ApeWisdom]
        );
    }
}

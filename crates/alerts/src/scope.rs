//! The scope of an alert over many stocks: `{"symbols": ["AAPL", …]}` or `{"watchlist": "all" | "buy" | "sell"}`.

use market::Symbol;
use serde_json::{Map, Value, json};

use crate::intention::Intention;
use crate::request::FieldErrors;

/// The maximum number of stocks of an alert.
pub const MAX_SCOPE_SYMBOLS: usize = 500;

/// The symbol of an alert over many stocks, which no stock has, so that an expression cannot name it.
const TEMPLATE_SYMBOL: &str = "-";

/// Returns the symbol that stands for the members of an alert over many stocks.
///
/// # Panics
/// Never: the symbol is valid.
#[must_use]
pub fn template_symbol() -> Symbol {
    TEMPLATE_SYMBOL.parse().expect("a valid symbol")
}

/// Returns the symbol of a stock, or `None` for the one that stands for members.
#[must_use]
pub fn shown_symbol(symbol: Symbol) -> Option<Symbol> {
    (symbol.as_str() != TEMPLATE_SYMBOL).then_some(symbol)
}

/// The stocks of an alert over many stocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AlertScope {
    /// These stocks, each once, in the order of the request.
    Symbols(Vec<Symbol>),
    /// The stocks of the owner's watchlist, as it changes; with an intention only those.
    Watchlist(Option<Intention>),
}

/// The field of a request.
const FIELD: &str = "scope";

impl AlertScope {
    /// Reads the member `scope` of a request.
    ///
    /// # Errors
    /// [`FieldErrors`] with all errors, by their place such as `scope.symbols`.
    pub fn read(value: &Value) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let scope = match value.as_object() {
            Some(members) => Self::read_members(members, &mut errors),
            None => {
                errors.add(FIELD, "must be an object with symbols or watchlist, or null");
                None
            }
        };
        scope.filter(|_| errors.is_empty()).ok_or(errors)
    }

    fn read_members(members: &Map<String, Value>, errors: &mut FieldErrors) -> Option<Self> {
        for name in members
            .keys()
            .filter(|name| !["symbols", "watchlist"].contains(&name.as_str()))
        {
            errors.add(
                format!("{FIELD}.{name}"),
                "is unknown; a scope has symbols or watchlist",
            );
        }
        match (members.get("symbols"), members.get("watchlist")) {
            (Some(symbols), None) => read_symbols(symbols, errors).map(Self::Symbols),
            (None, Some(watchlist)) => read_watchlist(watchlist, errors).map(Self::Watchlist),
            (Some(_), Some(_)) | (None, None) => {
                errors.add(FIELD, "must have either symbols or watchlist");
                None
            }
        }
    }

    /// Returns the scope as in requests and responses.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Symbols(symbols) => {
                let symbols: Vec<&str> = symbols.iter().map(Symbol::as_str).collect();
                json!({"symbols": symbols})
            }
            Self::Watchlist(intention) => json!({"watchlist": intention.map_or("all", Intention::name)}),
        }
    }

    /// Returns whether two scopes mean the same: the order of symbols does not matter.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Symbols(one), Self::Symbols(other)) => {
                one.len() == other.len() && one.iter().all(|symbol| other.contains(symbol))
            }
            _ => self == other,
        }
    }
}

fn read_symbols(value: &Value, errors: &mut FieldErrors) -> Option<Vec<Symbol>> {
    let place = format!("{FIELD}.symbols");
    let Some(texts) = value.as_array().filter(|texts| !texts.is_empty()) else {
        errors.add(
            place,
            "must be a list of at least one symbol, such as [\"AAPL\", \"MSFT\"]",
        );
        return None;
    };
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (index, text) in texts.iter().enumerate() {
        match text.as_str().and_then(|text| text.parse::<Symbol>().ok()) {
            Some(symbol) if seen.insert(symbol) => symbols.push(symbol),
            Some(_) => {}
            None => {
                errors.add(format!("{place}.{index}"), "must be a symbol such as AAPL");
            }
        }
    }
    if symbols.len() > MAX_SCOPE_SYMBOLS {
        errors.add(
            place,
            format!("must have at most {MAX_SCOPE_SYMBOLS} different symbols"),
        );
        return None;
    }
    Some(symbols)
}

/// Reads the part of a watchlist; an inner `None` is the whole.
fn read_watchlist(value: &Value, errors: &mut FieldErrors) -> Option<Option<Intention>> {
    match value.as_str() {
        Some("all") => Some(None),
        Some(name) if Intention::from_name(name).is_some() => Some(Intention::from_name(name)),
        _ => {
            errors.add(format!("{FIELD}.watchlist"), "must be all, buy or sell");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<AlertScope, Map<String, Value>> {
        AlertScope::read(&value).map_err(|errors| errors.to_json())
    }

    #[test]
    fn repeated_symbols_count_once() {
        let found = read(json!({"symbols": ["AAPL", "msft", "aapl"]})).unwrap();
        assert_eq!(found.to_json(), json!({"symbols": ["AAPL", "MSFT"]}));
        assert!(found.is_same(&read(json!({"symbols": ["MSFT", "AAPL"]})).unwrap()));
        assert!(!found.is_same(&read(json!({"symbols": ["MSFT"]})).unwrap()));
    }

    #[test]
    fn a_scope_has_at_most_500_symbols() {
        let symbols = |count: usize| json!({"symbols": (0..count).map(|at| format!("S{at}")).collect::<Vec<_>>()});
        assert!(read(symbols(500)).is_ok());
        assert!(read(symbols(501)).unwrap_err().contains_key("scope.symbols"));
    }

    #[test]
    fn watchlist_is_the_whole_or_one_intention() {
        for name in ["all", "buy", "sell"] {
            let scope = json!({"watchlist": name});
            assert_eq!(read(scope.clone()).unwrap().to_json(), scope);
        }
        assert!(
            read(json!({"watchlist": "hold"}))
                .unwrap_err()
                .contains_key("scope.watchlist")
        );
    }

    #[test]
    fn unknown_and_contradictory_members_are_refused() {
        for (value, field) in [
            (json!({"symbols": ["AAPL"], "symbol": "AAPL"}), "scope.symbol"),
            (json!({"symbols": ["AAPL"], "watchlist": "all"}), "scope"),
            (json!({"symbols": ["AAPL"], "watchlist": null}), "scope"),
            (json!({"symbols": null}), "scope.symbols"),
            (json!({}), "scope"),
            (json!({"symbols": []}), "scope.symbols"),
            (json!({"symbols": ["AAPL", "A A"]}), "scope.symbols.1"),
            (json!([]), "scope"),
        ] {
            assert!(read(value.clone()).unwrap_err().contains_key(field), "{value}");
        }
    }
}

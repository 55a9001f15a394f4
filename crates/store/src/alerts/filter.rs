//! The SQL of a filter for a list of alerts: only what the filter asks for, so that each list can use an index.

use std::fmt::Write;

use super::scopes::shown_status;
use crate::model::{AccountId, AlertFilter};
use crate::parameters::Parameter;

/// No name is longer, and SQLite rejects patterns over 50000 bytes.
const MAX_SEARCH_BYTES: usize = 1000;

/// The condition that an alert, or one of its members, is on certain stocks.
macro_rules! on_symbols {
    ($symbols:literal) => {
        concat!(
            "alerts.seq IN (SELECT COALESCE(m.parent_seq, m.seq) FROM alerts m \
             WHERE m.account_id = $1 AND m.deleted_at IS NULL AND m.symbol ",
            $symbols,
            ")"
        )
    };
    // The symbols of all the account's alerts are found one after the other in the index: there are few, however many alerts there are.
    (SEARCHED_SYMBOLS) => {
        on_symbols!(
            "IN (WITH RECURSIVE own (symbol) AS (SELECT MIN(symbol) FROM alerts WHERE account_id = $1 \
             UNION ALL SELECT (SELECT MIN(other.symbol) FROM alerts other WHERE other.account_id = $1 AND other.symbol > own.symbol) \
             FROM own WHERE own.symbol IS NOT NULL) \
             SELECT own.symbol FROM own LEFT JOIN stocks ON stocks.symbol = own.symbol \
             WHERE own.symbol LIKE ${} ESCAPE '\\' OR stocks.name_lower LIKE ${} ESCAPE '\\')"
        )
    };
}

/// The condition on the rows of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Condition {
    pub(super) sql: String,
    /// The values of `$1`, `$2`, and so on.
    pub(super) parameters: Vec<Parameter>,
}

impl Condition {
    /// Returns the condition for an account's alerts that match a filter; `None` if no alert can match.
    pub(super) fn new(account: AccountId, filter: &AlertFilter) -> Option<Self> {
        let mut condition = Self {
            sql: "WHERE account_id = $1 AND deleted_at IS NULL AND parent_seq IS NULL".to_owned(),
            parameters: vec![Parameter::Uuid(account.0)],
        };
        if let Some(status) = filter.status {
            let at = condition.add(Parameter::Text(status.name().to_owned()));
            condition.and(format_args!("${at} = {}", shown_status!()));
        }
        if let Some(kind) = filter.condition {
            let at = condition.add(Parameter::Text(kind.name().to_owned()));
            condition.and(format_args!("condition = ${at}"));
        }
        if let Some(symbol) = filter.symbol {
            let at = condition.add(Parameter::Text(symbol.as_str().to_owned()));
            condition.and(format_args!(on_symbols!("= ${}"), at));
        }
        if let Some(search) = filter.search.as_deref().filter(|text| !text.is_empty()) {
            if search.len() > MAX_SEARCH_BYTES || search.contains('\0') {
                return None;
            }
            // Symbols are stored in upper case, names are searched in lower case.
            let symbol = condition.add(Parameter::Text(like_pattern(&search.to_ascii_uppercase())));
            let name = condition.add(Parameter::Text(like_pattern(&search.to_lowercase())));
            condition.and(format_args!(on_symbols!(SEARCHED_SYMBOLS), symbol, name));
        }
        for tag in filter.tags.as_slice() {
            let at = condition.add(Parameter::Text(tag.as_str().to_owned()));
            condition.and(format_args!(
                "alerts.seq IN (SELECT alert_seq FROM alert_tags WHERE account_id = $1 AND tag = ${at})"
            ));
        }
        if let Some(source) = &filter.source {
            // No source has it, and PostgreSQL refuses it.
            if source.contains('\0') {
                return None;
            }
            let at = condition.add(Parameter::Text(source.clone()));
            condition.and(format_args!("managed_source = ${at}"));
        }
        Some(condition)
    }

    /// Adds a parameter and returns its number.
    pub(super) fn add(&mut self, parameter: Parameter) -> usize {
        self.parameters.push(parameter);
        self.parameters.len()
    }

    /// Adds a condition that must hold as well.
    pub(super) fn and(&mut self, condition: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = write!(self.sql, " AND {condition}");
    }
}

/// A `LIKE` pattern that finds a text anywhere. Wildcards in the text are escaped.
fn like_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_pattern_escapes_wildcards() {
        assert_eq!(like_pattern(r"50%_\o"), r"%50\%\_\\o%");
    }
}

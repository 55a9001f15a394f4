//! Conditions that are no expressions, in words: `AAPL golden cross each time`.

use market::{Decimal, Symbol};
use serde_json::{Map, Value};

use super::body::members_of;
use super::words::{PlacedWord, split};
use crate::condition::Condition;
use crate::expression::leading_symbol;
use crate::json::number;

/// The words of a condition, and its members in a create request. A word with `{threshold}` or the name of a parameter in braces is the
/// value of that member. The first words of a condition are the ones that are written, and no words begin with those of an earlier row.
const NAMED: &[(&str, &str)] = &[
    ("golden cross", r#"{"condition": "ma_crossover_golden"}"#),
    ("death cross", r#"{"condition": "ma_crossover_death"}"#),
    ("new 52-week high", r#"{"condition": "new_high"}"#),
    ("new 52-week low", r#"{"condition": "new_low"}"#),
    ("up {threshold}%", r#"{"condition": "price_change_up"}"#),
    ("down {threshold}%", r#"{"condition": "price_change_down"}"#),
    (
        "rsi reaches {threshold} from either side",
        r#"{"condition": "rsi_limit", "parameters": {"direction": "both"}}"#,
    ),
    (
        "rsi reaches {threshold} or above",
        r#"{"condition": "rsi_limit", "parameters": {"direction": "above"}}"#,
    ),
    (
        "rsi reaches {threshold} or below",
        r#"{"condition": "rsi_limit", "parameters": {"direction": "below"}}"#,
    ),
    (
        "rising mentions",
        r#"{"condition": "social_buzz", "parameters": {"direction": "rising"}}"#,
    ),
    (
        "falling mentions",
        r#"{"condition": "social_buzz", "parameters": {"direction": "falling"}}"#,
    ),
    (
        "at least {minExecutives} insiders buy {threshold} within {windowDays} days in any transaction",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "buy", "openMarketOnly": false}}"#,
    ),
    (
        "at least {minExecutives} insiders sell {threshold} within {windowDays} days in any transaction",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "sell", "openMarketOnly": false}}"#,
    ),
    (
        "at least {minExecutives} insiders trade {threshold} within {windowDays} days in any transaction",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "both", "openMarketOnly": false}}"#,
    ),
    (
        "at least {minExecutives} insiders buy {threshold} within {windowDays} days",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "buy"}}"#,
    ),
    (
        "at least {minExecutives} insiders sell {threshold} within {windowDays} days",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "sell"}}"#,
    ),
    (
        "at least {minExecutives} insiders trade {threshold} within {windowDays} days",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "both"}}"#,
    ),
    (
        "insiders buy {threshold} within {windowDays} days in any transaction",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "buy", "openMarketOnly": false}}"#,
    ),
    (
        "insiders sell {threshold} within {windowDays} days in any transaction",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "sell", "openMarketOnly": false}}"#,
    ),
    (
        "insiders trade {threshold} within {windowDays} days in any transaction",
        r#"{"condition": "insider_transactions", "parameters": {"direction": "both", "openMarketOnly": false}}"#,
    ),
    ("reminder at {date}", r#"{"condition": "reminder"}"#),
    ("reminder on {date}", r#"{"condition": "reminder"}"#),
    (
        "daily reminder after the close",
        r#"{"condition": "daily_reminder", "parameters": {"deliveryTime": "after_market_close"}}"#,
    ),
    ("daily reminder", r#"{"condition": "daily_reminder"}"#),
    (
        "dividend payment for {shares} shares",
        r#"{"condition": "dividend_payment"}"#,
    ),
];

/// The parameter whose value is a text; those of the other members are numbers.
const DATE: &str = "date";

/// A named condition at the beginning of a text.
pub(super) struct NamedText<'a> {
    pub(super) symbol: Symbol,
    pub(super) symbol_position: usize,
    /// The members of a create request.
    pub(super) body: Map<String, Value>,
    /// The rest of the text, with its position in characters from 1.
    pub(super) rest: &'a str,
    pub(super) rest_position: usize,
}

/// Reads a named condition; `None` if the text does not begin with one.
pub(super) fn read(text: &str) -> Option<NamedText<'_>> {
    let (symbol, start) = leading_symbol(text).ok()?;
    let position = |offset: usize| text[..offset].chars().count() + 1;
    let (words, _) = split(&text[start.expression..], position(start.expression));
    let mut found = NAMED.iter().filter_map(|row| read_row(&words, row));
    let (count, mut body) = found.next()?;
    body.insert("symbol".to_owned(), symbol.as_str().into());
    let last = words.get(count - 1)?;
    let rest_position = last.position + last.text.chars().count();
    let offset = text
        .char_indices()
        .nth(rest_position - 1)
        .map_or(text.len(), |(offset, _)| offset);
    Some(NamedText {
        symbol,
        symbol_position: position(start.symbol),
        body,
        rest: &text[offset..],
        rest_position,
    })
}

/// Returns a condition in words; `None` if it has none.
pub(super) fn written(symbol: Symbol, condition: &Condition) -> Option<String> {
    let members = members_of(condition);
    let mut found = NAMED.iter().filter_map(|row| write_row(&members, row));
    Some(format!("{symbol} {}", found.next()?))
}

/// Reads the words of a row: their number, and the members.
fn read_row(words: &[PlacedWord<'_>], (pattern, fixed): &(&str, &str)) -> Option<(usize, Map<String, Value>)> {
    let mut body: Map<String, Value> = serde_json::from_str(fixed).ok()?;
    let mut count = 0;
    for expected in pattern.split(' ') {
        let word = words.get(count)?.text;
        match slot(expected) {
            Some((name, suffix)) => {
                let text = word.strip_suffix(suffix)?;
                let value = match name {
                    DATE => text.into(),
                    _ => Value::Number(text.parse::<Decimal>().ok().and_then(number)?),
                };
                insert(&mut body, name, value);
            }
            None if word.eq_ignore_ascii_case(expected) => {}
            None => return None,
        }
        count += 1;
    }
    Some((count, body))
}

/// Writes the words of a row; `None` unless they name all members.
fn write_row(members: &Map<String, Value>, (pattern, fixed): &(&str, &str)) -> Option<String> {
    let mut named: Map<String, Value> = serde_json::from_str(fixed).ok()?;
    let mut written = Vec::new();
    for word in pattern.split(' ') {
        let Some((name, suffix)) = slot(word) else {
            written.push(word.to_owned());
            continue;
        };
        let value = member(members, name)?;
        written.push(match value {
            Value::String(text) => format!("{text}{suffix}"),
            value => format!("{value}{suffix}"),
        });
        insert(&mut named, name, value.clone());
    }
    (named == *members).then(|| written.join(" "))
}

/// Returns the member of a word such as `{threshold}%`, and what follows it.
fn slot(word: &str) -> Option<(&str, &str)> {
    word.strip_prefix('{')?.split_once('}')
}

fn member<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(name).or_else(|| members.get("parameters")?.get(name))
}

fn insert(members: &mut Map<String, Value>, name: &str, value: Value) {
    if name == "threshold" {
        members.insert(name.to_owned(), value);
    } else {
        let parameters = members.entry("parameters").or_insert_with(|| Map::new().into());
        parameters[name] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_words_hide_those_of_a_later_row() {
        for (place, (pattern, _)) in NAMED.iter().enumerate() {
            for (later, _) in &NAMED[place + 1..] {
                assert!(!later.starts_with(pattern), "{later:?}");
            }
        }
    }
}

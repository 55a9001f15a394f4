//! Conditions that are no expressions, in words: `AAPL golden cross each time`.

use market::{Decimal, Symbol};
use serde_json::{Map, Value, json};

use super::words::{PlacedWord, split};
use crate::condition::{BuzzDirection, Condition, DeliveryTime, RsiDirection, Side};
use crate::expression::leading_symbol;
use crate::json::number;

/// The words of a condition, and its members in a create request. The first words of a condition are the ones that are written.
const NAMED: &[(&[&str], Condition, &str)] = &[
    (
        &["golden", "cross"],
        Condition::MaCrossover { side: Side::Above },
        r#"{"condition": "ma_crossover_golden"}"#,
    ),
    (
        &["death", "cross"],
        Condition::MaCrossover { side: Side::Below },
        r#"{"condition": "ma_crossover_death"}"#,
    ),
    (
        &["rising", "mentions"],
        Condition::SocialBuzz(BuzzDirection::Rising),
        r#"{"condition": "social_buzz", "parameters": {"direction": "rising"}}"#,
    ),
    (
        &["falling", "mentions"],
        Condition::SocialBuzz(BuzzDirection::Falling),
        r#"{"condition": "social_buzz", "parameters": {"direction": "falling"}}"#,
    ),
    (
        &["daily", "reminder", "after", "the", "close"],
        Condition::DailyReminder(DeliveryTime::AfterMarketClose),
        r#"{"condition": "daily_reminder", "parameters": {"deliveryTime": "after_market_close"}}"#,
    ),
    (
        &["daily", "reminder"],
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        r#"{"condition": "daily_reminder"}"#,
    ),
];

/// The words around the threshold of an RSI in both directions.
const RSI: (&[&str], &[&str]) = (&["rsi", "reaches"], &["from", "either", "side"]);

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
    let (count, mut body) = NAMED
        .iter()
        .find(|(named, ..)| begins_with(&words, named))
        .and_then(|(named, _, body)| Some((named.len(), members(body)?)))
        .or_else(|| rsi(&words))?;
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
    if let Condition::Rsi {
        direction: RsiDirection::Both,
        threshold,
    } = condition
    {
        return Some(format!("{symbol} {} {threshold} {}", RSI.0.join(" "), RSI.1.join(" ")));
    }
    let (words, ..) = NAMED.iter().find(|(_, named, _)| named == condition)?;
    Some(format!("{symbol} {}", words.join(" ")))
}

fn rsi(words: &[PlacedWord<'_>]) -> Option<(usize, Map<String, Value>)> {
    let (before, after) = RSI;
    let threshold = words.get(before.len())?;
    let is_rsi = begins_with(words, before) && begins_with(words.get(before.len() + 1..)?, after);
    let threshold = is_rsi
        .then(|| threshold.text.parse::<Decimal>().ok().and_then(number))
        .flatten()?;
    let body = json!({"condition": "rsi_limit", "threshold": threshold, "parameters": {"direction": "both"}});
    Some((before.len() + 1 + after.len(), body.as_object()?.clone()))
}

fn begins_with(words: &[PlacedWord<'_>], expected: &[&str]) -> bool {
    let same = words.iter().zip(expected);
    words.len() >= expected.len()
        && same
            .into_iter()
            .all(|(word, expected)| word.text.eq_ignore_ascii_case(expected))
}

fn members(body: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(body).ok()
}

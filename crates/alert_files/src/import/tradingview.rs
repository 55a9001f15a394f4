//! A CSV file of TradingView alerts: a row for each alert with its ticker and its condition in words.
//!
//! The column `Ticker` has the symbol, with or without the exchange (`NASDAQ:AAPL`) and the interval (`AAPL, 1D`). The column `Condition`,
//! or `Description`, has the condition as TradingView writes it: `Crossing 180`, `Crossing Up 180`, `Crossing Down 180`,
//! `Greater Than 180`, `Less Than 180`, with or without the ticker before it. Other conditions, on indicators and drawings, are reported.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{ImportError, ImportSkip, ImportedItem};

/// The columns that are read.
const TICKER: &str = "ticker";
const CONDITIONS: [&str; 2] = ["condition", "description"];
const NAME: &str = "name";
/// The columns that say nothing about when an alert fires.
const IGNORED: [&str; 4] = ["alert id", "time", "webhook status", "message"];
/// The conditions, each with the operator of an expression.
const OPERATORS: [(&str, &str); 5] = [
    ("crossing up ", "crosses above"),
    ("crossing down ", "crosses below"),
    ("crossing ", "crosses"),
    ("greater than ", ">"),
    ("less than ", "<"),
];

/// Reads a CSV file with a header.
///
/// # Errors
/// [`ImportError`] for a file without the columns, and for unknown columns, which could change what an alert means.
pub fn read_tradingview(text: &str) -> Result<Vec<ImportedItem>, ImportError> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let headers = reader
        .headers()
        .map_err(|error| ImportError(format!("this is not a CSV file: {error}")))?;
    let headers: Vec<String> = headers
        .iter()
        .map(|name| name.trim_start_matches('\u{feff}').to_lowercase())
        .collect();
    let column = |name: &str| headers.iter().position(|header| header == name);
    let unknown: Vec<&str> = headers
        .iter()
        .map(String::as_str)
        .filter(|name| *name != TICKER && *name != NAME && !CONDITIONS.contains(name) && !IGNORED.contains(name))
        .collect();
    if !unknown.is_empty() {
        let message = format!(
            "the columns {} are unknown; remove them if they do not matter",
            unknown.join(", ")
        );
        return Err(ImportError(message));
    }
    let ticker = column(TICKER).ok_or_else(|| ImportError("the column Ticker is missing".to_owned()))?;
    let condition = CONDITIONS.iter().find_map(|name| column(name));
    let condition =
        condition.ok_or_else(|| ImportError("the column Condition (or Description) is missing".to_owned()))?;
    let name = column(NAME);
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    for record in reader.records() {
        let record = record.map_err(|error| ImportError(format!("this is not a CSV file: {error}")))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let (ticker, condition) = (cell(ticker), cell(condition));
        // A log of alerts has a row for each firing.
        let body = match seen.insert((ticker.to_owned(), condition.to_owned())) {
            true => body(ticker, condition, name.map(cell)),
            false => Err(ImportSkip::LeftOut("an earlier line has the same alert".to_owned())),
        };
        items.push(ImportedItem {
            place: format!("line {line}"),
            title: format!("{ticker} {condition}"),
            body,
        });
    }
    Ok(items)
}

fn body(ticker: &str, condition: &str, name: Option<&str>) -> Result<Map<String, Value>, ImportSkip> {
    let symbol = ticker.split(',').next().unwrap_or_default().trim();
    let symbol = symbol.rsplit(':').next().unwrap_or_default().trim().to_uppercase();
    let words = condition.to_lowercase();
    let words = words
        .strip_prefix(&format!("{} ", symbol.to_lowercase()))
        .unwrap_or(&words);
    let operator = OPERATORS
        .iter()
        .find_map(|(text, operator)| Some((operator, words.strip_prefix(text)?)));
    let level = |text: &str| {
        // `1,234.50` has separators of thousands.
        let digits = text.trim().replace(',', "");
        let is_level = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_level.then_some(digits)
    };
    let Some((operator, level)) = operator.and_then(|(operator, rest)| Some((operator, level(rest)?))) else {
        let message = "only a price that crosses, is above or is below a number can be imported";
        return Err(ImportSkip::NotUnderstood(message.to_owned()));
    };
    let mut body = Map::from_iter([
        ("symbol".to_owned(), Value::from(symbol)),
        ("condition".to_owned(), "expression".into()),
        (
            "parameters".to_owned(),
            json!({"when": format!("price {operator} {level}")}),
        ),
    ]);
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        body.insert("note".to_owned(), name.into());
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn when(text: &str) -> Vec<Result<String, ImportSkip>> {
        let items = read_tradingview(text).unwrap();
        let body = |item: ImportedItem| {
            item.body.map(|body| {
                format!(
                    "{} {}",
                    body["symbol"].as_str().unwrap(),
                    body["parameters"]["when"].as_str().unwrap()
                )
            })
        };
        items.into_iter().map(body).collect()
    }

    #[test]
    fn conditions_on_prices_become_expressions() {
        let text = "Alert ID,Ticker,Name,Description,Time\n\
                    1,\"NASDAQ:AAPL, 1D\",dip,\"AAPL Crossing Down 1,180.50\",2026-01-01\n\
                    2,SPY,,Greater Than 500,\n\
                    3,BRK.B,,Crossing 400,\n";
        let expected = [
            "AAPL price crosses below 1180.50",
            "SPY price > 500",
            "BRK.B price crosses 400",
        ];
        assert_eq!(when(text), expected.map(|text| Ok(text.to_owned())));
        assert_eq!(read_tradingview(text).unwrap()[0].body.as_ref().unwrap()["note"], "dip");
    }

    #[test]
    fn other_conditions_and_repetitions_are_reported() {
        let text =
            "Ticker,Condition\nAAPL,RSI Crossing 30\nAAPL,Crossing Trend Line\nAAPL,Less Than 3\nAAPL,Less Than 3\n";
        let results = when(text);
        assert!(matches!(results[0], Err(ImportSkip::NotUnderstood(_))));
        assert!(matches!(results[1], Err(ImportSkip::NotUnderstood(_))));
        assert!(results[2].is_ok());
        assert!(matches!(results[3], Err(ImportSkip::LeftOut(_))));
    }

    #[test]
    fn unknown_and_missing_columns_are_errors() {
        let error = |text: &str| read_tradingview(text).unwrap_err().0;
        assert!(error("Ticker,Condition,Expiration\n").contains("expiration"));
        assert!(error("Symbol,Condition\n").contains("symbol"));
        assert!(error("Ticker,Name\n").contains("Condition"));
    }
}

//! Replays of one alert on the stocks that it names.

use std::collections::BTreeSet;

use alerts::expression::Expression;
use alerts::expression::shape;
use serde_json::Value;
use testdata::TestMarketData;

use crate::support::ReplayCase;

/// Files of the market data, each with its name in the replayed folder.
const FILES: &[(&str, &str)] = &[
    ("us500/bars/us500_2019_2024.csv.gz", "bars/daily.csv"),
    ("us500/dividends.csv.gz", "dividends.csv"),
    ("us500/earnings.csv.gz", "earnings.csv"),
    ("us500/fundamentals.csv.gz", "fundamentals.csv"),
    ("us500/insiders.csv.gz", "insiders.csv"),
    ("mentions/mentions.csv.gz", "mentions.csv"),
];

/// Runs `bellwether replay` with an alert, on all data about its stocks, and returns the firings.
pub(super) fn replay(source: &TestMarketData, alert: &str) -> Vec<Value> {
    let symbols = symbols(&serde_json::from_str(alert).unwrap());
    let mut case = ReplayCase::new(&format!("[{alert}]"));
    for (file, name) in FILES {
        case = case.file(name, rows_of(&source.text(file), &symbols));
    }
    case.run().succeeded().firings
}

/// Returns the number of firings, and the first one with its reason.
pub(super) fn summary(firings: &[Value]) -> String {
    let text = |firing: &Value, field: &str| firing[field].as_str().unwrap().to_owned();
    match firings.first() {
        None => "Firings: 0.".to_owned(),
        Some(first) => format!(
            "Firings: {}. The first: {}, `{}`",
            firings.len(),
            text(first, "time"),
            text(first, "reason")
        ),
    }
}

/// Returns the stocks that an alert needs.
fn symbols(alert: &Value) -> BTreeSet<String> {
    let when: Expression = alert["parameters"]["when"].as_str().unwrap().parse().unwrap();
    let own = alert["symbol"].as_str().unwrap();
    let named = shape::symbols(&when).into_iter();
    named
        .map(|symbol| symbol.map_or_else(|| own.to_owned(), |symbol| symbol.to_string()))
        .chain([own.to_owned()])
        .collect()
}

/// Returns the header and the rows of these stocks.
fn rows_of(csv: &str, symbols: &BTreeSet<String>) -> String {
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    let rows = lines.filter(|line| line.split(',').next().is_some_and(|symbol| symbols.contains(symbol)));
    [header].into_iter().chain(rows).flat_map(|line| [line, "\n"]).collect()
}

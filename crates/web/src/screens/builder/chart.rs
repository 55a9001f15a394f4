//! The data of the builder's chart: candles, the levels of the rule, and its firings in the preview.

use market::{Bar, Price, Symbol};
use serde_json::json;
use service::alerts::Preview;

use crate::screens::price_chart::{SessionCells, candles, listed_sessions};
use crate::texts;

/// A level on the chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChartLevel {
    /// The price.
    pub price: Price,
    /// Whether it is the level before a change.
    pub is_former: bool,
}

/// The chart of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleChart {
    /// The data of the chart, as JSON.
    pub data: String,
    /// The last sessions, newest first.
    pub sessions: Vec<SessionCells>,
}

/// Returns the chart of a stock with levels and the firings of a preview.
#[must_use]
pub fn rule_chart(symbol: Symbol, bars: &[Bar], levels: &[ChartLevel], preview: Option<&Preview>) -> RuleChart {
    let first = bars.first().map(|bar| bar.date);
    let firings = preview.map_or(&[][..], |preview| &preview.firings);
    let dates = firings.iter().map(|firing| market::calendar::new_york_date(firing.at));
    let shown = dates.filter(|date| first.is_some_and(|first| *date >= first));
    let mut dates: Vec<_> = shown.map(|date| date.to_string()).collect();
    dates.dedup();
    let levels = levels.iter().map(|level| {
        let text = texts::text(if level.is_former { "level-former" } else { "level-new" });
        json!({"price": level.price.as_f64(), "is_former": level.is_former, "text": text})
    });
    let data = json!({
        "symbol": symbol.as_str(),
        "candles": candles(bars),
        "levels": levels.collect::<Vec<_>>(),
        "firings": dates,
        "firing_text": texts::text("mark-firing"),
    });
    RuleChart {
        data: data.to_string(),
        sessions: listed_sessions(bars),
    }
}

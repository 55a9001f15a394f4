//! The data of a stock's chart: candles, averages, RSI, levels of alerts, and marks at what happened.

use alerts::Status;
use evaluation::stocks::StockView;
use jiff::civil::Date;
use market::indicators::Rsi;
use market::{Bar, Price};
use serde_json::{Value, json};
use service::alerts::AlertItem;

use crate::figures;
use crate::texts;

/// The periods of the averages, in sessions.
const AVERAGES: [usize; 2] = [50, 200];
/// The number of candles on the chart: a year of sessions.
const SHOWN_SESSIONS: usize = 252;

/// Something that happened on a day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChartMark {
    /// The day in New York.
    pub date: Date,
    /// The kind of event.
    pub kind: MarkKind,
}

/// The kind of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkKind {
    /// An alert of the account has fired.
    Firing,
    /// The stock was split.
    Split,
    /// The stock was traded without its dividend from this day on.
    Dividend,
    /// The company has reported its earnings.
    Earnings,
}

impl MarkKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Split => "split",
            Self::Dividend => "dividend",
            Self::Earnings => "earnings",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Firing => "mark-firing",
            Self::Split => "mark-split",
            Self::Dividend => "mark-dividend",
            Self::Earnings => "mark-earnings",
        }
    }
}

/// Returns the data of the chart as JSON that is safe within a `script` element: `<` is escaped, so that no text ends the element.
///
/// The candles are those of the last year; earlier bars are the history that averages and RSI need. Both take the running session's
/// price as its close.
pub(super) fn price_chart(stock: &StockView, bars: &[Bar], alerts: &[AlertItem], marks: &[ChartMark]) -> String {
    let shown = bars.len().saturating_sub(SHOWN_SESSIONS);
    let averages = AVERAGES.map(|period| json!({"period": period, "values": averages(bars, period).split_off(shown)}));
    let first = bars.get(shown).map(|bar| bar.date);
    let marks = marks
        .iter()
        .filter(|mark| first.is_some_and(|first| mark.date >= first));
    let marks = marks.map(
        |mark| json!({"time": mark.date.to_string(), "kind": mark.kind.name(), "text": texts::text(mark.kind.text())}),
    );
    let data = json!({
        "symbol": stock.row.symbol.as_str(),
        "price": stock.last_price.map(Price::as_f64),
        "candles": candles(bars.get(shown..).unwrap_or_default()),
        "averages": averages,
        "rsi": rsi(bars).split_off(shown),
        "levels": alerts.iter().filter_map(level).collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
    });
    data.to_string().replace('<', "\\u003c")
}

/// Returns candles: date, open, high, low, close in US dollars, volume.
pub(super) fn candles(bars: &[Bar]) -> Vec<Value> {
    let candles = bars.iter().map(|bar| {
        json!([
            bar.date.to_string(),
            bar.open.as_f64(),
            bar.high.as_f64(),
            bar.low.as_f64(),
            bar.close.as_f64(),
            bar.volume
        ])
    });
    candles.collect()
}

/// Returns the mean of the last closes at each bar, in US dollars; `None` before there are enough.
fn averages(bars: &[Bar], period: usize) -> Vec<Option<f64>> {
    let mut sum = 0;
    let at = |place: usize| bars.get(place).map_or(0, |bar| bar.close.micros());
    let sums = (0..bars.len()).map(|place| {
        sum += at(place);
        if place >= period {
            sum -= at(place - period);
        }
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        (place + 1 >= period).then(|| rounded(sum as f64 / period as f64 / 1e6))
    });
    sums.collect()
}

/// Returns Wilder's RSI(14) at each bar.
fn rsi(bars: &[Bar]) -> Vec<Option<f64>> {
    let mut rsi = Rsi::default();
    let values = bars.iter().map(|bar| {
        rsi.push(bar.close.micros());
        rsi.value().map(rounded)
    });
    values.collect()
}

/// Rounds to the four decimals that a chart can show.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Returns the level of an active price alert.
fn level(item: &AlertItem) -> Option<Value> {
    let alert = &item.stored.alert;
    let alerts::Condition::Price { side, threshold } = alert.condition else {
        return None;
    };
    let is_active = alert.status == Status::Active && item.stored.scope().is_none();
    let side = side.pick("above", "below");
    is_active.then(|| json!({"id": alert.id.to_string(), "price": threshold.as_f64(), "side": side}))
}

/// The cells of a session in the table of a chart: date, open, high, low, close, volume.
pub type SessionCells = [String; 6];

/// The number of sessions in the table of a chart.
const LISTED_SESSIONS: usize = 20;

/// Returns the rows of the table of a chart, the newest session first.
pub(crate) fn listed_sessions(bars: &[Bar]) -> Vec<SessionCells> {
    bars.iter().rev().take(LISTED_SESSIONS).map(session).collect()
}

fn session(bar: &Bar) -> SessionCells {
    let price = |price: market::Price| figures::usd(price.decimal());
    [
        bar.date.to_string(),
        price(bar.open),
        price(bar.high),
        price(bar.low),
        price(bar.close),
        figures::grouped(bar.volume),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(closes: &[i64]) -> Vec<Bar> {
        let first: Date = "2026-01-01".parse().unwrap();
        let bar = |(day, close): (i64, &i64)| {
            let price: Price = close.to_string().parse().unwrap();
            Bar {
                date: first.saturating_add(jiff::Span::new().days(day)),
                open: price,
                high: price,
                low: price,
                close: price,
                volume: 1,
            }
        };
        (0..).zip(closes).map(bar).collect()
    }

    #[test]
    fn average_is_that_of_the_last_closes() {
        assert_eq!(averages(&bars(&[1, 2, 6, 10]), 3), [None, None, Some(3.0), Some(6.0)]);
        assert_eq!(averages(&[], 3), []);
    }

    #[test]
    fn averages_and_rsi_are_those_of_the_engine() {
        let closes: Vec<i64> = (0..260).map(|day| 100 + (day * day) % 17).collect();
        let bars = bars(&closes);
        let mut history = market::History::default();
        for bar in &bars {
            history.record(*bar).unwrap();
        }
        assert_eq!(rsi(&bars).last().copied().flatten(), history.rsi().value().map(rounded));
        for period in AVERAGES {
            let last = history.close_back(0).unwrap();
            let before = history.before(bars.last().unwrap().date);
            let expected = before.sma_at(period, last).map(rounded);
            assert_eq!(averages(&bars, period).last().copied().flatten(), expected, "{period}");
        }
    }
}

//! Indicators of the kept sessions, with the session so far as today.
//!
//! Each call reads the kept bars once. Many alerts of one stock share an incremental state of [`market::indicators`] instead.

use market::indicators::{Atr, BollingerBands, Deviation, Ema, Macd, Moments, Rsi};

use super::view::StockInputs;
use crate::expression::MetricValue;
use crate::expression::metric::{BollingerBand, MacdPeriods, MetricPeriod};

/// Returns a number of millionths as a value.
pub(super) fn approximate(micros: f64) -> MetricValue {
    MetricValue::Approximate(micros / 1e6)
}

fn closes<'a>(view: &StockInputs<'a>) -> impl Iterator<Item = i64> + 'a {
    view.history.bars().map(|bar| bar.close.micros())
}

/// Returns the price that stands in for today's close.
fn provisional(view: &StockInputs) -> Option<i64> {
    view.session.and(view.price).map(|price| price.micros())
}

pub(super) fn ema(view: &StockInputs, n: MetricPeriod) -> Option<f64> {
    let mut state = Ema::new(n.get().into());
    closes(view).for_each(|close| state.push(close));
    provisional(view).map_or_else(|| state.value(), |price| state.with(price))
}

pub(super) fn rsi(view: &StockInputs, n: MetricPeriod) -> Option<f64> {
    let mut state = Rsi::new(n.get().into());
    let kept = u32::from(n.get()) == market::indicators::RSI_PERIOD;
    if kept {
        // The history keeps this one since the first session.
        state = *view.history.rsi();
    } else {
        closes(view).for_each(|close| state.push(close));
    }
    provisional(view).map_or_else(|| state.value(), |price| state.value_at(price))
}

pub(super) fn macd(view: &StockInputs, periods: MacdPeriods) -> Option<market::indicators::MacdValue> {
    let [fast, slow, signal] = [periods.fast, periods.slow, periods.signal].map(|n| n.get().into());
    let mut state = Macd::new(fast, slow, signal);
    closes(view).for_each(|close| state.push(close));
    provisional(view).map_or_else(|| state.value(), |price| state.with(price))
}

pub(super) fn moments(view: &StockInputs, n: MetricPeriod) -> Option<Moments> {
    let mut closes = closes(view);
    // Outside a session, the last completed close is the newest one.
    let newest = provisional(view).or_else(|| view.history.last().map(|bar| bar.close.micros()))?;
    let completed = view.history.len() - usize::from(provisional(view).is_none());
    let mut state = Deviation::new(n.get().into());
    closes.by_ref().take(completed).for_each(|close| state.push(close));
    state.with(newest)
}

pub(super) fn bands(view: &StockInputs, band: BollingerBand) -> Option<BollingerBands> {
    moments(view, band.period).map(|moments| BollingerBands::new(moments, band.width.get().as_f64()))
}

pub(super) fn atr(view: &StockInputs, n: MetricPeriod) -> Option<f64> {
    let mut state = Atr::new(n.get().into());
    view.history.bars().for_each(|bar| state.push(bar));
    view.session.map_or_else(
        || state.value(),
        |session| state.with(session.high.micros(), session.low.micros()),
    )
}

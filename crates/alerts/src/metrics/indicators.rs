//! Indicators of the kept sessions, with the session so far as today.
//!
//! Each call reads the kept bars once. Many alerts of one stock share an incremental state of [`market::indicators`] instead.

use market::History;
use market::indicators::{Atr, BollingerBands, Deviation, Ema, Macd, Moments, RSI_PERIOD, Rsi};

use super::view::StockInputs;
use crate::expression::MetricValue;
use crate::expression::metric::{BollingerBand, MacdPeriods, Metric, MetricPeriod};

/// Returns a number of millionths as a value.
pub(super) fn approximate(micros: f64) -> MetricValue {
    MetricValue::Approximate(micros / 1e6)
}

/// Returns the price that stands in for today's close.
fn provisional(view: &StockInputs) -> Option<i64> {
    view.provisional_close().map(market::Price::micros)
}

pub(super) fn ema(view: &StockInputs, n: MetricPeriod) -> Option<f64> {
    let state = view.history.indicator(Ema::new(n.get().into()));
    provisional(view).map_or_else(|| state.value(), |price| state.with(price))
}

pub(super) fn rsi(view: &StockInputs, n: MetricPeriod) -> Option<f64> {
    let state = match u32::from(n.get()) {
        // The history keeps this one since the first session.
        RSI_PERIOD => *view.history.rsi(),
        period => view.history.indicator(Rsi::new(period)),
    };
    provisional(view).map_or_else(|| state.value(), |price| state.value_at(price))
}

pub(super) fn macd(view: &StockInputs, periods: MacdPeriods) -> Option<market::indicators::MacdValue> {
    let state = view.history.indicator(empty_macd(periods));
    provisional(view).map_or_else(|| state.value(), |price| state.with(price))
}

pub(super) fn moments(view: &StockInputs, n: MetricPeriod) -> Option<Moments> {
    let period = u32::from(n.get());
    if let Some(price) = provisional(view) {
        return view.history.moments_with(period, price);
    }
    // Outside a session, the last completed close is the newest one.
    let newest = view.history.last()?.close.micros();
    let before = view.history.bars().rev().skip(1).rev();
    Deviation::of(period, before.map(|bar| bar.close.micros())).with(newest)
}

pub(super) fn bands(view: &StockInputs, band: BollingerBand) -> Option<BollingerBands> {
    moments(view, band.period).map(|moments| BollingerBands::new(moments, band.width.get().as_f64()))
}

pub(super) fn atr(view: &StockInputs, n: MetricPeriod) -> Option<f64> {
    let state = view.history.indicator(Atr::new(n.get().into()));
    // In extended hours, the price is the only one of the session to come.
    let range = view.session.map(|session| (session.high, session.low));
    let range = range.or(view.provisional_close().map(|price| (price, price)));
    range.map_or_else(|| state.value(), |(high, low)| state.with(high.micros(), low.micros()))
}

fn empty_macd(periods: MacdPeriods) -> Macd {
    let [fast, slow, signal] = [periods.fast, periods.slow, periods.signal].map(|n| n.get().into());
    Macd::new(fast, slow, signal)
}

/// Keeps what a metric needs of the completed sessions from now on, so that a judgement does not compute it from all of them.
pub(crate) fn track(history: &mut History, metric: Metric) {
    let len = |n: MetricPeriod| usize::from(n.get());
    match metric {
        Metric::Ema(n) => history.track_indicator(Ema::new(n.get().into())),
        Metric::Rsi(n) if u32::from(n.get()) != RSI_PERIOD => history.track_indicator(Rsi::new(n.get().into())),
        Metric::Macd(periods) | Metric::MacdSignal(periods) => history.track_indicator(empty_macd(periods)),
        Metric::Atr(n) => history.track_indicator(Atr::new(n.get().into())),
        Metric::StandardDeviation(n) => history.track_deviation(n.get().into()),
        Metric::BollingerUpper(band) | Metric::BollingerLower(band) => {
            history.track_deviation(band.period.get().into());
        }
        // Outside a session, the last completed close takes the place of the price.
        Metric::Sma(n) => [len(n) - 1, len(n)]
            .into_iter()
            .for_each(|len| history.track_closes(len)),
        Metric::AverageVolume(n) | Metric::RelativeVolume(n) => history.track_volumes(len(n)),
        _ => {}
    }
}

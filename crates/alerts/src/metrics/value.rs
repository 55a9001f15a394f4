//! The value of each metric.

use jiff::civil::Date;
use market::day::day_number;
use market::{Bar, Decimal, Price};

use super::dependencies::is_of_newest_price;
use super::indicators::{self, approximate};
use super::percent::{mean_of_micros, percent_change, ratio};
use super::view::{AlertBasis, StockInputs};
use crate::expression::metric::{ChangeBase, Metric, MetricPeriod};
use crate::expression::{Fraction, MetricValue};

/// Returns the value of a metric; `None` if it has none.
#[must_use]
pub fn metric_value(view: &StockInputs, basis: &AlertBasis, metric: Metric) -> Option<MetricValue> {
    let session = view.session;
    if view.lacks_judged_price() && is_of_newest_price(metric) {
        return None;
    }
    match metric {
        Metric::Price => exact(view.price),
        Metric::Open => exact(session.map(|session| session.open)),
        Metric::SessionHigh => exact(session.map(|session| session.high)),
        Metric::SessionLow => exact(session.map(|session| session.low)),
        Metric::PrevClose => exact(view.history.last().map(|bar| bar.close)),
        Metric::Volume => session?.volume.map(whole),
        Metric::Vwap => exact(session?.vwap),
        Metric::Bid => exact(view.bid),
        Metric::Ask => exact(view.ask),
        Metric::ChangePct(ChangeBase::OfAlert) => change(view, basis, basis.change_base),
        Metric::ChangePct(base) => change(view, basis, base),
        Metric::GapPct => percent_change(session?.open.micros(), view.history.close_back(0)?),
        Metric::High(n) => exact(last(view, n)?.map(|bar| bar.high).max()),
        Metric::Low(n) => exact(last(view, n)?.map(|bar| bar.low).min()),
        Metric::High52Weeks => exact(view.high_52_weeks),
        Metric::Low52Weeks => exact(view.low_52_weeks),
        Metric::Drawdown(n) => drawdown(view, n),
        Metric::Sma(n) => average(view, n),
        Metric::Ema(n) => indicators::ema(view, n).map(approximate),
        Metric::Rsi(n) => indicators::rsi(view, n).map(MetricValue::Approximate),
        Metric::Macd(periods) => indicators::macd(view, periods).map(|macd| approximate(macd.line)),
        Metric::MacdSignal(periods) => indicators::macd(view, periods).map(|macd| approximate(macd.signal)),
        Metric::BollingerUpper(band) => indicators::bands(view, band).map(|bands| approximate(bands.upper)),
        Metric::BollingerLower(band) => indicators::bands(view, band).map(|bands| approximate(bands.lower)),
        Metric::Atr(n) => indicators::atr(view, n).map(approximate),
        Metric::StandardDeviation(n) => indicators::moments(view, n).map(|moments| approximate(moments.deviation)),
        Metric::AverageVolume(n) => ratio(volumes(view, n)?, n.get().into()),
        Metric::RelativeVolume(n) => ratio(i128::from(session?.volume?) * i128::from(n.get()), volumes(view, n)?),
        Metric::HighSinceArmed => exact(basis.high_since_armed),
        Metric::LowSinceArmed => exact(basis.low_since_armed),
        Metric::Pe => price_to_earnings(view.price?, view.fundamentals.trailing_eps),
        Metric::ForwardPe => price_to_earnings(view.price?, view.fundamentals.forward_eps),
        Metric::Eps => decimal(view.fundamentals.trailing_eps),
        Metric::MarketCap => decimal(view.fundamentals.market_cap),
        Metric::DividendYield => decimal(view.fundamentals.dividend_yield),
        Metric::Mentions => view.mentions.map(|mentions| whole(mentions.last_day)),
        Metric::MentionsRatio => {
            let mentions = view.mentions?;
            ratio(i128::from(mentions.last_day) * 7, mentions.week_before.into())
        }
        Metric::InsiderBuys(n) => insider_value(view, n, true),
        Metric::InsiderSells(n) => insider_value(view, n, false),
        Metric::DaysToEarnings => days_to(view, view.earnings.iter().copied()),
        Metric::DaysToExDividend => days_to(view, view.dividends.iter().map(|dividend| dividend.ex_date)),
        Metric::DaysToPayment => days_to(view, view.dividends.iter().filter_map(|dividend| dividend.payment_date)),
    }
}

fn exact(price: Option<Price>) -> Option<MetricValue> {
    decimal(price.map(Price::decimal))
}

fn decimal(number: Option<Decimal>) -> Option<MetricValue> {
    number.map(|number| MetricValue::Exact(number.into()))
}

fn whole(number: i64) -> MetricValue {
    MetricValue::Exact(Fraction::from_whole(number))
}

/// Returns the last n completed sessions; `None` if there are fewer.
fn last<'a>(view: &StockInputs<'a>, n: MetricPeriod) -> Option<impl Iterator<Item = &'a Bar> + use<'a>> {
    let skipped = view.history.len().checked_sub(n.get().into())?;
    Some(view.history.bars().skip(skipped))
}

fn change(view: &StockInputs, basis: &AlertBasis, base: ChangeBase) -> Option<MetricValue> {
    let base = match base {
        ChangeBase::OfAlert | ChangeBase::Creation => basis.initial_price?.micros(),
        ChangeBase::PrevClose => view.history.close_back(0)?,
        ChangeBase::Open => view.session?.open.micros(),
        ChangeBase::Sessions(n) => view.history.close_back(usize::from(n.get()) - 1)?,
    };
    percent_change(view.price?.micros(), base)
}

fn drawdown(view: &StockInputs, n: MetricPeriod) -> Option<MetricValue> {
    let completed = last(view, n)?.map(|bar| bar.high).max()?;
    // In extended hours, the price is the only one of the session to come.
    let todays = view.session.map(|session| session.high).or(view.provisional_close());
    let high = todays.map_or(completed, |high| high.max(completed)).micros();
    let below = i128::from(high) - i128::from(view.price?.micros());
    ratio(below * 100, high.into())
}

fn average(view: &StockInputs, n: MetricPeriod) -> Option<MetricValue> {
    let len = usize::from(n.get());
    let sum = match view.provisional_close() {
        Some(price) => view.history.sum_of_closes(len - 1)? + price.micros(),
        None => view.history.sum_of_closes(len)?,
    };
    mean_of_micros(sum, n.get().into())
}

/// Returns the volume of the last n sessions. The sum of 400 of the largest volumes fits in an `i64`.
fn volumes(view: &StockInputs, n: MetricPeriod) -> Option<i128> {
    view.history.sum_of_volumes(n.get().into()).map(i128::from)
}

fn price_to_earnings(price: Price, eps: Option<Decimal>) -> Option<MetricValue> {
    let eps = eps.filter(|eps| *eps > Decimal::ZERO)?;
    ratio(price.micros().into(), eps.micros().into())
}

/// Returns the value of open-market trades that were filed within the last n days.
fn insider_value(view: &StockInputs, n: MetricPeriod, bought: bool) -> Option<MetricValue> {
    let today = day_number(view.today);
    let after = today - i32::from(n.get());
    let counted = view.insider_trades?.iter().filter(|trade| {
        let filed = day_number(trade.filed_on);
        trade.open_market && trade.bought == bought && after < filed && filed <= today
    });
    let micros: i128 = counted.map(|trade| i128::from(trade.value_usd.micros())).sum();
    ratio(micros, market::MICROS_PER_UNIT.into())
}

fn days_to(view: &StockInputs, dates: impl Iterator<Item = Date>) -> Option<MetricValue> {
    let next = dates.filter(|date| *date >= view.today).min()?;
    Some(whole(i64::from(day_number(next) - day_number(view.today))))
}

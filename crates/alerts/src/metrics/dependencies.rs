//! The data that a metric depends on.

use crate::expression::metric::{ChangeBase, Metric};
use crate::expression::shape::MetricInputs;

/// A kind of data whose change can change a metric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MetricDependency {
    /// The price and the prices of the running session.
    Price,
    /// The volume of the running session.
    Volume,
    /// The volume-weighted average price of the running session.
    Vwap,
    /// The bid and the ask.
    BidAsk,
    /// The completed sessions.
    History,
    /// The fundamentals.
    Fundamentals,
    /// The mentions.
    Mentions,
    /// The insider trades.
    InsiderTrades,
    /// The earnings dates.
    EarningsDates,
    /// The dividend dates.
    DividendDates,
    /// The date in New York.
    Date,
    /// The prices that belong to the alert.
    AlertBasis,
}

/// Returns the data that a metric depends on.
#[must_use]
pub const fn dependencies(metric: Metric) -> &'static [MetricDependency] {
    use MetricDependency as On;
    match metric {
        Metric::Price | Metric::Open | Metric::SessionHigh | Metric::SessionLow => &[On::Price],
        Metric::ChangePct(ChangeBase::Open) => &[On::Price],
        Metric::PrevClose | Metric::High(_) | Metric::Low(_) | Metric::AverageVolume(_) => &[On::History],
        Metric::Volume => &[On::Volume],
        Metric::Vwap => &[On::Vwap],
        Metric::RelativeVolume(_) => &[On::Volume, On::History],
        Metric::Bid | Metric::Ask => &[On::BidAsk],
        Metric::ChangePct(ChangeBase::Creation) => &[On::Price, On::AlertBasis],
        // The option may name any base.
        Metric::ChangePct(ChangeBase::OfAlert) => &[On::Price, On::History, On::AlertBasis],
        Metric::High52Weeks | Metric::Low52Weeks => &[On::Price, On::History, On::Date],
        Metric::ChangePct(_)
        | Metric::GapPct
        | Metric::Drawdown(_)
        | Metric::Sma(_)
        | Metric::Ema(_)
        | Metric::Rsi(_)
        | Metric::Macd(_)
        | Metric::MacdSignal(_)
        | Metric::BollingerUpper(_)
        | Metric::BollingerLower(_)
        | Metric::Atr(_)
        | Metric::StandardDeviation(_) => &[On::Price, On::History],
        Metric::HighSinceArmed | Metric::LowSinceArmed => &[On::AlertBasis],
        Metric::Pe | Metric::ForwardPe => &[On::Price, On::Fundamentals],
        Metric::Eps | Metric::MarketCap | Metric::DividendYield => &[On::Fundamentals],
        Metric::Mentions | Metric::MentionsRatio => &[On::Mentions],
        Metric::InsiderBuys(_) | Metric::InsiderSells(_) => &[On::InsiderTrades, On::Date],
        Metric::DaysToEarnings => &[On::EarningsDates, On::Date],
        Metric::DaysToExDividend | Metric::DaysToPayment => &[On::DividendDates, On::Date],
    }
}

/// Returns whether a metric is one of the newest price, in whose place the option `trigger` can put the bid, the ask or their mean:
/// not one of the volume, the session's range or the completed sessions.
#[must_use]
pub const fn is_of_newest_price(metric: Metric) -> bool {
    MetricInputs::of(metric).price || matches!(metric, Metric::HighSinceArmed | Metric::LowSinceArmed)
}

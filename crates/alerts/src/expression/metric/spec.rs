//! The description of a metric.

use std::fmt;
use std::mem::discriminant;

use super::Metric;
use super::argument::{Argument, ArgumentSpec, BandWidth, BollingerBand, ChangeBase, MacdPeriods, MetricPeriod};

/// The description of a metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricSpec {
    /// The name in expressions. `high` and `low` have two rows: with and without an argument.
    pub name: &'static str,
    /// The arguments.
    pub signature: MetricSignature,
    /// The unit.
    pub unit: MetricUnit,
    /// Whether its values are exact.
    pub exactness: Exactness,
    /// The family, which decides the plans that include an expression.
    pub family: MetricFamily,
    /// The data without which it has no value.
    pub needs: &'static [MetricNeed],
    /// The definition.
    pub definition: &'static str,
    /// The words in a sentence, after "its"; `#` is an argument.
    pub phrase: &'static str,
    /// The verb of the words: `is` or `are`.
    pub verb: &'static str,
}

/// The arguments of a metric.
#[derive(Clone, Copy, Debug)]
pub enum MetricSignature {
    /// None.
    Plain(Metric),
    /// A number of sessions or days, with its default.
    Period(Option<u16>, fn(MetricPeriod) -> Metric),
    /// The base of a change.
    Base(fn(ChangeBase) -> Metric),
    /// The periods of a MACD.
    Macd(fn(MacdPeriods) -> Metric),
    /// The parameters of a Bollinger band.
    Bollinger(fn(BollingerBand) -> Metric),
}

/// The unit of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricUnit {
    /// US dollars per share.
    UsdPerShare,
    /// US dollars.
    Usd,
    /// Shares.
    Shares,
    /// Percent.
    Percent,
    /// A ratio.
    Ratio,
    /// An index from 0 to 100.
    Index,
    /// A count.
    Count,
    /// Calendar days.
    Days,
}

/// The exactness of a metric's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// An integer number of millionths.
    Integer,
    /// A fraction of integers.
    Fraction,
    /// A float, because the definition needs a root or an exponential average. Ties within 1e-9 count as equal.
    Approximate,
}

/// The family of a metric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MetricFamily {
    /// Included in every plan.
    Price,
    /// Included in the paid plans.
    Premium,
}

/// Data that a metric needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MetricNeed {
    /// A price.
    Quote,
    /// The alert's initial price.
    InitialPrice,
    /// Quotes with bid and ask.
    BidAsk,
    /// Quotes with volume.
    Volume,
    /// Quotes with the volume-weighted average price.
    Vwap,
    /// Completed sessions.
    Sessions,
    /// Earnings per share.
    Earnings,
    /// Fundamentals besides earnings.
    Fundamentals,
    /// Mentions.
    Mentions,
    /// Insider trades.
    InsiderTrades,
    /// Earnings dates.
    EarningsDates,
    /// Dividend dates.
    DividendDates,
}

impl MetricNeed {
    /// Returns whether the data are prices or volumes.
    #[must_use]
    pub const fn is_market_data(self) -> bool {
        matches!(
            self,
            Self::Quote | Self::InitialPrice | Self::BidAsk | Self::Volume | Self::Vwap | Self::Sessions
        )
    }
}

const PERIOD: &str = "a whole number from 1 to 400";
const BASE: &str = "creation, prev_close, open or a whole number from 1 to 400";
const WIDTH: &str = "a number above 0 and at most 10";

/// The periods that Gerald Appel proposed, and that every charting program begins with.
pub(in crate::expression) const DEFAULT_MACD: MacdPeriods = MacdPeriods {
    fast: MetricPeriod::clamped(12),
    slow: MetricPeriod::clamped(26),
    signal: MetricPeriod::clamped(9),
};

const DEFAULT_BAND: BollingerBand = BollingerBand {
    period: MetricPeriod::clamped(20),
    width: BandWidth::TWO,
};

impl MetricSignature {
    /// Returns the metric with its default arguments; `None` if an argument is required.
    #[must_use]
    pub fn with_defaults(self) -> Option<Metric> {
        match self {
            Self::Plain(metric) => Some(metric),
            Self::Period(default, build) => default.and_then(MetricPeriod::new).map(build),
            Self::Base(build) => Some(build(ChangeBase::OfAlert)),
            Self::Macd(build) => Some(build(DEFAULT_MACD)),
            Self::Bollinger(build) => Some(build(DEFAULT_BAND)),
        }
    }

    /// Returns the metric with its default arguments, or with the smallest ones.
    #[must_use]
    pub fn example(self) -> Metric {
        match self {
            Self::Plain(metric) => metric,
            Self::Period(default, build) => build(MetricPeriod::clamped(default.unwrap_or(1))),
            Self::Base(build) => build(ChangeBase::OfAlert),
            Self::Macd(build) => build(DEFAULT_MACD),
            Self::Bollinger(build) => build(DEFAULT_BAND),
        }
    }

    /// Returns whether a metric has this signature.
    #[must_use]
    pub fn builds(self, metric: Metric) -> bool {
        discriminant(&self.example()) == discriminant(&metric)
    }

    /// Returns the metric with these arguments; `None` if their number or kinds do not fit.
    #[must_use]
    pub fn build(self, arguments: &[Argument]) -> Option<Metric> {
        match (self, arguments) {
            (_, []) => self.with_defaults(),
            (Self::Period(_, build), &[Argument::Period(period)]) => Some(build(period)),
            (Self::Base(build), &[Argument::Base(base)]) => Some(build(base)),
            (Self::Macd(build), &[Argument::Period(fast), Argument::Period(slow), Argument::Period(signal)]) => {
                Some(build(MacdPeriods { fast, slow, signal }))
            }
            (Self::Bollinger(build), &[Argument::Period(period), Argument::Width(width)]) => {
                Some(build(BollingerBand { period, width }))
            }
            _ => None,
        }
    }

    /// Returns the descriptions of the arguments.
    #[must_use]
    pub fn arguments(self) -> Vec<ArgumentSpec> {
        let argument = |name, allowed, default| ArgumentSpec { name, allowed, default };
        let period = |name, default| argument(name, PERIOD, Some(Argument::Period(default)));
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Period(default, _) => {
                let default = default.and_then(MetricPeriod::new).map(Argument::Period);
                vec![argument("n", PERIOD, default)]
            }
            Self::Base(_) => vec![argument("base", BASE, Some(Argument::Base(ChangeBase::OfAlert)))],
            Self::Macd(_) => vec![
                period("fast", DEFAULT_MACD.fast),
                period("slow", DEFAULT_MACD.slow),
                period("signal", DEFAULT_MACD.signal),
            ],
            Self::Bollinger(_) => vec![
                period("n", DEFAULT_BAND.period),
                argument("k", WIDTH, Some(Argument::Width(DEFAULT_BAND.width))),
            ],
        }
    }
}

impl MetricSpec {
    /// Returns the usage: `rsi(n)`.
    #[must_use]
    pub fn usage(&self) -> String {
        let names: Vec<_> = self.signature.arguments().iter().map(|spec| spec.name).collect();
        if names.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}({})", self.name, names.join(", "))
        }
    }
}

impl fmt::Display for MetricUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UsdPerShare => "USD per share",
            Self::Usd => "USD",
            Self::Shares => "shares",
            Self::Percent => "percent",
            Self::Ratio => "ratio",
            Self::Index => "0 to 100",
            Self::Count => "count",
            Self::Days => "calendar days",
        })
    }
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "integer",
            Self::Fraction => "fraction",
            Self::Approximate => "approximate",
        })
    }
}

impl fmt::Display for MetricFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Price => "price",
            Self::Premium => "premium",
        })
    }
}

impl fmt::Display for MetricNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quote => "a quote",
            Self::InitialPrice => "an initial price",
            Self::BidAsk => "quotes with bid and ask",
            Self::Volume => "quotes with volume",
            Self::Vwap => "quotes with the volume-weighted average price",
            Self::Sessions => "completed sessions",
            Self::Earnings => "earnings per share above 0",
            Self::Fundamentals => "fundamentals",
            Self::Mentions => "mentions",
            Self::InsiderTrades => "insider trades",
            Self::EarningsDates => "earnings dates",
            Self::DividendDates => "dividend dates",
        })
    }
}

//! The metrics of the language.
//!
//! A [`Metric`] with its arguments is always valid: the types of the arguments hold only allowed values. Its [`MetricSpec`] in
//! [`METRICS`] describes it; the parser, the printer, the family of an expression and the table in `docs/conditions.md` derive
//! from that table.

mod argument;
mod spec;
mod table;

pub use argument::{Argument, ArgumentSpec, BandWidth, BollingerBand, ChangeBase, MacdPeriods, MetricPeriod};
pub(super) use spec::DEFAULT_MACD;
pub use spec::{Exactness, MetricFamily, MetricNeed, MetricSignature, MetricSpec, MetricUnit};
pub use table::METRICS;

/// A metric with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Metric {
    /// The price.
    Price,
    /// The first price of the session.
    Open,
    /// The session's high so far.
    SessionHigh,
    /// The session's low so far.
    SessionLow,
    /// The close of the last completed session.
    PrevClose,
    /// The session's volume so far.
    Volume,
    /// The session's volume-weighted average price so far.
    Vwap,
    /// The bid.
    Bid,
    /// The ask.
    Ask,
    /// The change of the price in percent.
    ChangePct(ChangeBase),
    /// The distance of the open from the previous close in percent.
    GapPct,
    /// The highest price of completed sessions.
    High(MetricPeriod),
    /// The lowest price of completed sessions.
    Low(MetricPeriod),
    /// The highest price of 52 weeks before this observation.
    High52Weeks,
    /// The lowest price of 52 weeks before this observation.
    Low52Weeks,
    /// The distance below the highest price in percent.
    Drawdown(MetricPeriod),
    /// The simple moving average.
    Sma(MetricPeriod),
    /// The exponential moving average.
    Ema(MetricPeriod),
    /// Wilder's RSI.
    Rsi(MetricPeriod),
    /// The MACD.
    Macd(MacdPeriods),
    /// The signal line of the MACD.
    MacdSignal(MacdPeriods),
    /// The upper Bollinger band.
    BollingerUpper(BollingerBand),
    /// The lower Bollinger band.
    BollingerLower(BollingerBand),
    /// Wilder's average true range.
    Atr(MetricPeriod),
    /// The standard deviation.
    StandardDeviation(MetricPeriod),
    /// The average volume of completed sessions.
    AverageVolume(MetricPeriod),
    /// The volume relative to its average.
    RelativeVolume(MetricPeriod),
    /// The highest price since the alert was armed.
    HighSinceArmed,
    /// The lowest price since the alert was armed.
    LowSinceArmed,
    /// The price divided by trailing earnings per share.
    Pe,
    /// The price divided by forward earnings per share.
    ForwardPe,
    /// The trailing earnings per share.
    Eps,
    /// The market capitalization.
    MarketCap,
    /// The dividend yield in percent.
    DividendYield,
    /// The mentions of the last 24 hours.
    Mentions,
    /// The mentions relative to those of the seven days before.
    MentionsRatio,
    /// The value of insider purchases.
    InsiderBuys(MetricPeriod),
    /// The value of insider sales.
    InsiderSells(MetricPeriod),
    /// The calendar days to the next earnings date.
    DaysToEarnings,
    /// The calendar days to the next ex-dividend date.
    DaysToExDividend,
    /// The calendar days to the next dividend payment.
    DaysToPayment,
}

impl Metric {
    /// Returns the description.
    #[must_use]
    pub fn spec(self) -> &'static MetricSpec {
        let found = METRICS.iter().find(|spec| spec.signature.builds(self));
        // A unit test checks that the table has every metric.
        found.unwrap_or(&METRICS[0])
    }

    /// Returns the arguments; empty if the metric has none, and for a change from the base in the alert's options.
    #[must_use]
    pub fn arguments(self) -> Vec<Argument> {
        match self {
            Self::ChangePct(ChangeBase::OfAlert) => Vec::new(),
            Self::ChangePct(base) => vec![Argument::Base(base)],
            Self::High(n)
            | Self::Low(n)
            | Self::Drawdown(n)
            | Self::Sma(n)
            | Self::Ema(n)
            | Self::Rsi(n)
            | Self::Atr(n)
            | Self::StandardDeviation(n)
            | Self::AverageVolume(n)
            | Self::RelativeVolume(n)
            | Self::InsiderBuys(n)
            | Self::InsiderSells(n) => vec![Argument::Period(n)],
            Self::Macd(periods) | Self::MacdSignal(periods) => {
                let MacdPeriods { fast, slow, signal } = periods;
                [fast, slow, signal].map(Argument::Period).to_vec()
            }
            Self::BollingerUpper(band) | Self::BollingerLower(band) => {
                vec![Argument::Period(band.period), Argument::Width(band.width)]
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether all arguments are the defaults.
    #[must_use]
    pub fn has_default_arguments(self) -> bool {
        self.spec().signature.with_defaults() == Some(self)
    }

    /// Returns whether the metric depends on facts besides prices and volumes.
    #[must_use]
    pub fn depends_on_fact(self) -> bool {
        self.spec().needs.iter().any(|need| !need.is_market_data())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_own_row() {
        for spec in METRICS {
            let same: Vec<_> = METRICS
                .iter()
                .filter(|other| other.signature.builds(spec.signature.example()))
                .collect();
            assert_eq!(same.len(), 1, "{}", spec.name);
            assert_eq!(spec.signature.example().spec().phrase, spec.phrase);
        }
    }

    #[test]
    fn defaults_are_those_of_the_specification() {
        let default = |name: &str| {
            let spec = METRICS.iter().find(|spec| spec.name == name).unwrap();
            spec.signature.with_defaults().map(|metric| metric.arguments())
        };
        let texts = |name| default(name).map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        for (name, arguments) in [
            ("rsi", "14"),
            ("atr", "14"),
            ("macd", "12,26,9"),
            ("macd_signal", "12,26,9"),
            ("bb_upper", "20,2"),
            ("bb_lower", "20,2"),
            ("avg_volume", "20"),
            ("rvol", "20"),
            ("insider_buys", "7"),
            ("insider_sells", "7"),
        ] {
            assert_eq!(texts(name).as_deref(), Some(arguments), "{name}");
        }
        for name in ["sma", "ema", "stdev", "drawdown"] {
            assert_eq!(default(name), None, "{name}");
        }
    }
}

//! The arguments of metrics.

use std::fmt;

use market::Decimal;

/// A number of sessions or days, 1–400.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MetricPeriod(u16);

/// The width of a Bollinger band in standard deviations: above 0, at most 10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BandWidth(Decimal);

/// The price that a change is measured from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ChangeBase {
    /// The base in the alert's options.
    OfAlert,
    /// The alert's initial price.
    Creation,
    /// The close of the last completed session.
    PrevClose,
    /// The first price of the session.
    Open,
    /// The close that many completed sessions ago; 1 is the last completed session.
    Sessions(MetricPeriod),
}

/// The periods of a MACD.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MacdPeriods {
    /// The period of the fast average.
    pub fast: MetricPeriod,
    /// The period of the slow average.
    pub slow: MetricPeriod,
    /// The period of the signal line.
    pub signal: MetricPeriod,
}

/// The parameters of a Bollinger band.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BollingerBand {
    /// The period of the average and of the deviation.
    pub period: MetricPeriod,
    /// The width.
    pub width: BandWidth,
}

/// An argument of a metric. It is displayed as in an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// A number of sessions or days.
    Period(MetricPeriod),
    /// The width of a band.
    Width(BandWidth),
    /// The base of a change.
    Base(ChangeBase),
}

/// The description of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgumentSpec {
    /// The name in the documentation.
    pub name: &'static str,
    /// The allowed values, as text that continues after "must be".
    pub allowed: &'static str,
    /// The default; `None` if the argument is required.
    pub default: Option<Argument>,
}

impl MetricPeriod {
    /// The maximum.
    pub const MAX: u16 = 400;

    /// Returns the period, or `None` if it is out of range.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if 1 <= number && number <= Self::MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Returns a period that the program itself contains, moved into the range.
    pub(super) const fn clamped(number: u16) -> Self {
        match Self::new(number) {
            Some(period) => period,
            None => Self(1),
        }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Returns the period that a number states.
    #[must_use]
    pub fn from_decimal(number: Decimal) -> Option<Self> {
        Self::new(u16::try_from(number.as_whole()?).ok()?)
    }
}

impl BandWidth {
    /// The default.
    pub(super) const TWO: Self = Self(Decimal::from_micros(2_000_000));

    /// Returns the width, or `None` if it is out of range.
    #[must_use]
    pub fn new(number: Decimal) -> Option<Self> {
        (0 < number.micros() && number.micros() <= 10_000_000).then_some(Self(number))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> Decimal {
        self.0
    }
}

impl ChangeBase {
    /// The bases with a name.
    pub const NAMED: [(&'static str, Self); 3] = [
        ("creation", Self::Creation),
        ("prev_close", Self::PrevClose),
        ("open", Self::Open),
    ];
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Period(period) | Self::Base(ChangeBase::Sessions(period)) => period.get().fmt(f),
            Self::Width(width) => width.get().fmt(f),
            Self::Base(base) => {
                let named = ChangeBase::NAMED.iter().find(|(_, named)| named == base);
                f.write_str(named.map_or("base", |(name, _)| name))
            }
        }
    }
}

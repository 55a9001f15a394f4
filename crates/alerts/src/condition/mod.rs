//! The conditions that an alert can wait for: 23 named ones, and expressions.
//!
//! A [`Condition`] is the result of parsing a valid request; all its parts are in range. Its [`ConditionKind`] is its name in
//! the API, and its [`ConditionFamily`] decides which plans include it. A [`ConditionSpec`] describes each kind.

mod alternative;
mod dates;
mod expression;
mod kind;
mod price;
mod spec;
mod technical;

pub use expression::ExpressionCondition;
pub(crate) use expression::WHEN;
pub use kind::{ConditionFamily, ConditionKind};
pub(crate) use spec::Values;
pub use spec::{
    ConditionSpec, MAX_NOTE_CHARACTERS, NumberRange, NumberUnit, ParameterRule, ParameterSpec, RequestSpec,
    ThresholdNeed, ThresholdSpec,
};

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use market::{Decimal, Price};

use crate::expression::metric::MetricNeed;
use crate::expression::shape::metrics;
use crate::expression::{Expression, Within};

/// The side of a level on which a condition holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// At or above the level.
    Above,
    /// At or below the level.
    Below,
}

/// The direction in which the RSI must reach the threshold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RsiDirection {
    /// At or above the threshold.
    Above,
    /// At or below the threshold.
    Below,
    /// The side of the threshold opposite to the RSI at activation.
    Both,
}

/// The average that the volume of a session is compared with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VolumeBaseline {
    /// The last 20 completed sessions.
    Ma20,
    /// The last 50 completed sessions.
    Ma50,
    /// The last 100 completed sessions.
    Ma100,
}

impl VolumeBaseline {
    /// Returns the number of averaged sessions.
    #[must_use]
    pub const fn sessions(self) -> u16 {
        match self {
            Self::Ma20 => 20,
            Self::Ma50 => 50,
            Self::Ma100 => 100,
        }
    }
}

/// The earnings per share in a P/E ratio.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EpsBasis {
    /// Earnings of the last twelve months.
    Trailing,
    /// Earnings expected for the next twelve months.
    Forward,
}

/// The change of social media discussion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BuzzDirection {
    /// Far more mentions than usual.
    Rising,
    /// Far fewer mentions than usual.
    Falling,
}

/// The insider trades that count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InsiderDirection {
    /// Purchases.
    Buy,
    /// Sales.
    Sell,
    /// Purchases and sales, added up.
    Both,
}

/// The time at which a daily reminder is sent on a trading day.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeliveryTime {
    /// At the open.
    MarketOpen,
    /// Fifteen minutes after the close.
    AfterMarketClose,
}

/// The criteria of an insider-transactions alert.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InsiderCriteria {
    /// The minimum total value of the trades in US dollars, more than 0.
    pub threshold_usd: Decimal,
    /// The trades that count.
    pub direction: InsiderDirection,
    /// The minimum number of distinct insiders, 1 or more.
    pub min_executives: u16,
    /// The window of filing dates in days, 1 or more: filings after today − `window_days` count.
    pub window_days: u16,
    /// Counts only Form 4 codes P and S: purchases and sales on the open market.
    pub open_market_only: bool,
}

/// A condition that the engine can evaluate: every part of it is in range.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// `price_above`, `price_below`: the price is at or beyond a price.
    Price {
        /// The side of the threshold.
        side: Side,
        /// The price threshold.
        threshold: Price,
    },
    /// `price_change_up`, `price_change_down`: the price has moved by a percentage from the alert's initial price.
    PriceChange {
        /// `Above` is up, `Below` is down.
        side: Side,
        /// More than zero; at most 100 on the way down.
        percent: Decimal,
    },
    /// `new_high`, `new_low`: the price is strictly beyond the extreme of the trailing 52 weeks.
    NewExtreme {
        /// `Above` is a new high, `Below` a new low.
        side: Side,
    },
    /// `ma_crossover_golden`, `ma_crossover_death`: the 50-day average is now strictly beyond the 200-day average,
    /// and was not at the last completed session.
    MaCrossover {
        /// `Above` is the golden cross, `Below` the death cross.
        side: Side,
    },
    /// `ma_touch_above`, `ma_touch_below`: the price reaches a moving average from the other side.
    MaTouch {
        /// `Above` comes from below, `Below` from above.
        side: Side,
        /// The number of sessions in the average, 2–400.
        period: u16,
    },
    /// `rsi_limit`: Wilder's RSI(14) is at or beyond a threshold.
    Rsi {
        /// The direction.
        direction: RsiDirection,
        /// 0–100.
        threshold: Decimal,
    },
    /// `volume_change`: the session's volume is a percentage above an average.
    VolumeChange {
        /// The average of the volume.
        baseline: VolumeBaseline,
        /// More than zero.
        percent: Decimal,
    },
    /// `pe_ratio_below`, `pe_ratio_above`, `forward_pe_below`, `forward_pe_above`: price ÷ earnings per share.
    PeRatio {
        /// The side of the threshold.
        side: Side,
        /// Trailing or forward earnings.
        earnings: EpsBasis,
        /// The ratio, more than zero.
        threshold: Decimal,
    },
    /// `social_buzz`: discussion has risen sharply or faded.
    SocialBuzz(BuzzDirection),
    /// `insider_transactions`: insiders bought or sold for at least a total value.
    InsiderTransactions(InsiderCriteria),
    /// `reminder`: an instant has come.
    Reminder {
        /// The instant.
        at: Timestamp,
    },
    /// `daily_reminder`: every trading day. The alert stays active.
    DailyReminder(DeliveryTime),
    /// `earnings_announcement`: the next earnings date is at most `days_ahead` calendar days ahead.
    EarningsAnnouncement {
        /// 0–365.
        days_ahead: u16,
    },
    /// `dividend_ex_date`: the next ex-dividend date is at most `days_ahead` calendar days ahead.
    DividendExDate {
        /// 0–365.
        days_ahead: u16,
    },
    /// `dividend_payment`: a dividend is paid today.
    DividendPayment {
        /// The user's number of shares, for the amount in the notification; more than 0.
        shares: Option<Decimal>,
    },
    /// `expression`: an expression becomes true.
    Expression(Arc<ExpressionCondition>),
}

impl Condition {
    /// Returns the kind, which names the condition in the API.
    #[must_use]
    pub const fn kind(&self) -> ConditionKind {
        use ConditionKind as Kind;
        match *self {
            Self::Price { side, .. } => side.pick(Kind::PriceAbove, Kind::PriceBelow),
            Self::PriceChange { side, .. } => side.pick(Kind::PriceChangeUp, Kind::PriceChangeDown),
            Self::NewExtreme { side } => side.pick(Kind::NewHigh, Kind::NewLow),
            Self::MaCrossover { side } => side.pick(Kind::MaCrossoverGolden, Kind::MaCrossoverDeath),
            Self::MaTouch { side, .. } => side.pick(Kind::MaTouchAbove, Kind::MaTouchBelow),
            Self::Rsi { .. } => Kind::RsiLimit,
            Self::VolumeChange { .. } => Kind::VolumeChange,
            Self::PeRatio {
                side,
                earnings: EpsBasis::Trailing,
                ..
            } => side.pick(Kind::PeRatioAbove, Kind::PeRatioBelow),
            Self::PeRatio {
                side,
                earnings: EpsBasis::Forward,
                ..
            } => side.pick(Kind::ForwardPeAbove, Kind::ForwardPeBelow),
            Self::SocialBuzz(_) => Kind::SocialBuzz,
            Self::InsiderTransactions(_) => Kind::InsiderTransactions,
            Self::Reminder { .. } => Kind::Reminder,
            Self::DailyReminder(_) => Kind::DailyReminder,
            Self::EarningsAnnouncement { .. } => Kind::EarningsAnnouncement,
            Self::DividendExDate { .. } => Kind::DividendExDate,
            Self::DividendPayment { .. } => Kind::DividendPayment,
            Self::Expression(_) => Kind::Expression,
        }
    }

    /// Returns an expression as a condition.
    #[must_use]
    pub fn expression(expression: Expression, within: Option<Within>) -> Self {
        Self::Expression(Arc::new(ExpressionCondition { expression, within }))
    }

    /// Returns the family that decides which plans include the condition.
    #[must_use]
    pub fn family(&self) -> ConditionFamily {
        match self {
            Self::Expression(condition) => condition.family(),
            other => other.kind().family(),
        }
    }

    /// Returns whether the condition depends on prices or volumes, so that it is judged only while the market is open.
    #[must_use]
    pub fn is_about_market(&self) -> bool {
        match self {
            Self::Expression(condition) => metrics(&condition.expression)
                .into_iter()
                .flat_map(|used| used.metric.spec().needs)
                .any(|need| need.is_market_data()),
            named => matches!(
                named.family(),
                ConditionFamily::Price
                    | ConditionFamily::Technical
                    | ConditionFamily::Volume
                    | ConditionFamily::Fundamental
            ),
        }
    }

    /// Returns whether the condition compares with the alert's initial price.
    #[must_use]
    pub fn uses_initial_price(&self) -> bool {
        match self {
            Self::PriceChange { .. } => true,
            Self::Expression(condition) => metrics(&condition.expression)
                .iter()
                .any(|used| used.metric.spec().needs.contains(&MetricNeed::InitialPrice)),
            _ => false,
        }
    }

    /// Returns the threshold in the API; `None` for conditions without a threshold.
    #[must_use]
    pub fn threshold(&self) -> Option<Decimal> {
        match *self {
            Self::Price { threshold, .. } => Some(threshold.decimal()),
            Self::PriceChange { percent, .. } | Self::VolumeChange { percent, .. } => Some(percent),
            Self::MaTouch { period, .. } => Decimal::from_units(i64::from(period)),
            Self::Rsi { threshold, .. } | Self::PeRatio { threshold, .. } => Some(threshold),
            Self::InsiderTransactions(criteria) => Some(criteria.threshold_usd),
            Self::EarningsAnnouncement { days_ahead } | Self::DividendExDate { days_ahead } => {
                Decimal::from_units(i64::from(days_ahead))
            }
            Self::NewExtreme { .. }
            | Self::MaCrossover { .. }
            | Self::SocialBuzz(_)
            | Self::Reminder { .. }
            | Self::DailyReminder(_)
            | Self::DividendPayment { .. }
            | Self::Expression(_) => None,
        }
    }
}

impl Side {
    /// Returns `above` or `below`, depending on the side.
    #[must_use]
    pub const fn pick<T: Copy>(self, above: T, below: T) -> T {
        match self {
            Self::Above => above,
            Self::Below => below,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pick("above", "below"))
    }
}

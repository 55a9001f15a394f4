//! What a user can ask to be told: the 23 conditions.
//!
//! A [`Condition`] is a request that has been read and found sound; nothing in it can be wrong any more. Its
//! [`ConditionKind`] is the word the API uses for it, and its [`Family`] decides which plan may have it.

mod kind;

pub use kind::{ConditionKind, Family};

use jiff::Timestamp;
use market::{Decimal, Price};

/// Which way a level is crossed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// At or above the level.
    Above,
    /// At or below the level.
    Below,
}

/// Which way the RSI has to go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RsiDirection {
    /// To the threshold or above.
    Above,
    /// To the threshold or below.
    Below,
    /// To whichever side it was not on when the alert became active.
    Both,
}

/// The average that a session's volume is compared with.
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
    /// How many sessions are averaged.
    #[must_use]
    pub const fn sessions(self) -> u16 {
        match self {
            Self::Ma20 => 20,
            Self::Ma50 => 50,
            Self::Ma100 => 100,
        }
    }
}

/// Which earnings per share a price is divided by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Earnings {
    /// Of the last twelve months.
    Trailing,
    /// Expected for the next twelve months.
    Forward,
}

/// Where a discussion is going.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BuzzDirection {
    /// Far more mentions than usual.
    Rising,
    /// Far fewer mentions than usual.
    Falling,
}

/// Which trades of insiders count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InsiderDirection {
    /// Purchases.
    Buy,
    /// Sales.
    Sell,
    /// Both, added up.
    Both,
}

/// When a daily reminder is sent on a trading day.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeliveryTime {
    /// At the open.
    MarketOpen,
    /// Fifteen minutes after the close.
    AfterMarketClose,
}

/// What an insider-transactions alert waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InsiderWatch {
    /// The trades must be worth at least this many US dollars together; more than zero.
    pub threshold_usd: Decimal,
    /// Which trades count.
    pub direction: InsiderDirection,
    /// By at least this many distinct insiders, 1 or more.
    pub min_executives: u16,
    /// Filed after today − this many days, 1 or more.
    pub window_days: u16,
    /// Only Form 4 codes P and S: purchases and sales on the open market.
    pub open_market_only: bool,
}

/// A condition that can be judged: every part of it is in range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// `price_above`, `price_below`: the price is at or beyond a price.
    Price {
        /// Which way.
        side: Side,
        /// The price.
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
    /// `ma_touch_above`, `ma_touch_below`: the price comes to a moving average from the other side.
    MaTouch {
        /// `Above` comes from below, `Below` from above.
        side: Side,
        /// The average's sessions, 2–400.
        period: u16,
    },
    /// `rsi_limit`: Wilder's RSI(14) is at or beyond a threshold.
    Rsi {
        /// Which way.
        direction: RsiDirection,
        /// 0–100.
        threshold: Decimal,
    },
    /// `volume_change`: the session's volume is a percentage above an average.
    VolumeChange {
        /// The average.
        baseline: VolumeBaseline,
        /// More than zero.
        percent: Decimal,
    },
    /// `pe_ratio_below`, `pe_ratio_above`, `forward_pe_below`, `forward_pe_above`: price ÷ earnings per share.
    PeRatio {
        /// Which way.
        side: Side,
        /// Trailing or forward earnings.
        earnings: Earnings,
        /// The ratio, more than zero.
        threshold: Decimal,
    },
    /// `social_buzz`: discussion has risen sharply or faded.
    SocialBuzz(BuzzDirection),
    /// `insider_transactions`: insiders bought or sold for much money.
    InsiderTransactions(InsiderWatch),
    /// `reminder`: an instant has come.
    Reminder {
        /// The instant.
        at: Timestamp,
    },
    /// `daily_reminder`: every trading day. The alert stays active.
    DailyReminder(DeliveryTime),
    /// `earnings_announcement`: the next earnings date is at most so many calendar days ahead.
    EarningsAnnouncement {
        /// 0–365.
        days_ahead: u16,
    },
    /// `dividend_ex_date`: the next ex-dividend date is at most so many calendar days ahead.
    DividendExDate {
        /// 0–365.
        days_ahead: u16,
    },
    /// `dividend_payment`: a dividend is paid today.
    DividendPayment {
        /// The user's shares, for the amount in the notification; more than zero.
        shares: Option<Decimal>,
    },
}

impl Condition {
    /// The word the API uses for it.
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
                earnings: Earnings::Trailing,
                ..
            } => side.pick(Kind::PeRatioAbove, Kind::PeRatioBelow),
            Self::PeRatio {
                side,
                earnings: Earnings::Forward,
                ..
            } => side.pick(Kind::ForwardPeAbove, Kind::ForwardPeBelow),
            Self::SocialBuzz(_) => Kind::SocialBuzz,
            Self::InsiderTransactions(_) => Kind::InsiderTransactions,
            Self::Reminder { .. } => Kind::Reminder,
            Self::DailyReminder(_) => Kind::DailyReminder,
            Self::EarningsAnnouncement { .. } => Kind::EarningsAnnouncement,
            Self::DividendExDate { .. } => Kind::DividendExDate,
            Self::DividendPayment { .. } => Kind::DividendPayment,
        }
    }

    /// The threshold as the API shows it; `None` where the condition takes none.
    #[must_use]
    pub fn threshold(&self) -> Option<Decimal> {
        match *self {
            Self::Price { threshold, .. } => Some(threshold.decimal()),
            Self::PriceChange { percent, .. } | Self::VolumeChange { percent, .. } => Some(percent),
            Self::MaTouch { period, .. } => Decimal::from_units(i64::from(period)),
            Self::Rsi { threshold, .. } | Self::PeRatio { threshold, .. } => Some(threshold),
            Self::InsiderTransactions(watch) => Some(watch.threshold_usd),
            Self::EarningsAnnouncement { days_ahead } | Self::DividendExDate { days_ahead } => {
                Decimal::from_units(i64::from(days_ahead))
            }
            Self::NewExtreme { .. }
            | Self::MaCrossover { .. }
            | Self::SocialBuzz(_)
            | Self::Reminder { .. }
            | Self::DailyReminder(_)
            | Self::DividendPayment { .. } => None,
        }
    }
}

impl Side {
    /// `above` or `below`, by the side.
    #[must_use]
    pub const fn pick<T: Copy>(self, above: T, below: T) -> T {
        match self {
            Self::Above => above,
            Self::Below => below,
        }
    }
}

//! # Options: when, how often and for how long an alert fires
//!
//! [`AlertOptions`] is the `options` object of a request. All options are optional; the default fires once, at the last price, in
//! the regular session. The state machine that follows them is
//! [`lifecycle`](crate::lifecycle).

mod fit;
mod names;
mod read;
mod rearm;
mod span;
mod write;

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::{TradingHours, new_york};
use market::{Decimal, SplitRatio};

use crate::condition::Condition;
use crate::expression::metric::ChangeBase;
use crate::named_enum;

pub use fit::check_fit;
pub(crate) use read::parse_changed_options;
pub use read::{parse_options, restore_options};
pub use rearm::ConditionLevel;
pub(crate) use rearm::rearm_of_expression;
pub use span::{Cooldown, Hold, Span, SpanError};

/// The maximum of [`AlertOptions::max_firings`].
pub const MAX_FIRINGS: u16 = 1_000;

/// The options of an alert.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AlertOptions {
    /// How often the alert fires.
    pub repeat: Repeat,
    /// The time after a firing in which the alert does not fire again.
    pub cooldown: Option<Cooldown>,
    /// Whether a condition that held throughout the cooldown fires at its end, without having been left.
    pub cooldown_refire: bool,
    /// The level to which the metric must return before the alert can fire again; `None`: as soon as the condition is false.
    pub rearm: Option<Rearm>,
    /// The session time for which the condition must hold without interruption.
    pub hold: Option<Hold>,
    /// The end of the alert: it becomes inactive.
    pub expires_at: Option<Expiry>,
    /// Whether the owner is notified of the expiry.
    pub notify_on_expiry: bool,
    /// The instant until which the alert is not judged.
    pub snoozed_until: Option<Timestamp>,
    /// The part of the trading day in which the alert is judged.
    pub session: SessionScope,
    /// The price that is judged.
    pub trigger: TriggerPrice,
    /// The price that a percent change is measured from.
    pub base: PercentBase,
    /// The number of firings after which the alert becomes triggered, 1–[`MAX_FIRINGS`]; 1 with [`Repeat::Once`].
    pub max_firings: Option<u16>,
}

named_enum! {
    /// How often an alert fires.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Repeat {
        /// Once; then the alert is triggered.
        #[default]
        Once = "once",
        /// Each time the condition becomes true.
        EachTime = "each_time",
        /// Each time the condition becomes true, at most once per day in New York.
        OncePerDay = "once_per_day",
    }
}

/// The level to which the metric must return before the alert can fire again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rearm {
    /// A level in the unit of the metric.
    At(Decimal),
    /// A distance from the threshold in percent of the threshold, more than 0.
    Percent(Decimal),
}

/// The end of an alert: nothing is judged at this instant or later.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Expiry {
    /// The end of a day in New York.
    Date(Date),
    /// An instant.
    Instant(Timestamp),
}

impl Expiry {
    /// Returns the first instant at which the alert is not judged any more.
    #[must_use]
    pub fn instant(self) -> Timestamp {
        match self {
            Self::Date(date) => date.tomorrow().map_or(Timestamp::MAX, |next| new_york(next, 0, 0)),
            Self::Instant(at) => at,
        }
    }
}

named_enum! {
    /// The part of the trading day in which an alert is judged.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum SessionScope {
        /// The regular session.
        #[default]
        Regular = "regular",
        /// Also 04:00–09:30 and 16:00–20:00 in New York, if the source delivers quotes at these times.
        Extended = "extended",
    }
}

named_enum! {
    /// The price that is judged.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum TriggerPrice {
        /// The last trade.
        #[default]
        Last = "last",
        /// The last trade; the condition must be true at two judgements in a row.
        TwoLasts = "two_lasts",
        /// The bid.
        Bid = "bid",
        /// The ask.
        Ask = "ask",
        /// The mean of bid and ask.
        Mid = "mid",
        /// The close of the session.
        Close = "close",
    }
}

named_enum! {
    /// The price that a percent change is measured from.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum PercentBase {
        /// The price at the alert's creation or last activation.
        #[default]
        Creation = "creation",
        /// The close of the last completed session.
        PreviousClose = "prev_close",
        /// The open of the running session.
        Open = "open",
    }
}

impl PercentBase {
    /// Returns the base as expressions name it.
    #[must_use]
    pub const fn in_expressions(self) -> ChangeBase {
        match self {
            Self::Creation => ChangeBase::Creation,
            Self::PreviousClose => ChangeBase::PrevClose,
            Self::Open => ChangeBase::Open,
        }
    }
}

impl SessionScope {
    /// Returns the hours that count as session time, for [`AlertOptions::hold`].
    #[must_use]
    pub const fn trading_hours(self) -> TradingHours {
        match self {
            Self::Regular => TradingHours::Regular,
            Self::Extended => TradingHours::Extended,
        }
    }
}

impl AlertOptions {
    /// Returns whether prices of extended hours are judged, too. Closes are those of regular sessions.
    #[must_use]
    pub fn judges_extended_hours(&self) -> bool {
        self.session == SessionScope::Extended && self.trigger != TriggerPrice::Close
    }

    /// Returns whether every option has its default: the alert fires once, as soon as its condition is true.
    #[must_use]
    pub fn are_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the options as they are stored with a condition. A daily reminder fires each time by default, so this alone is no
    /// option.
    #[must_use]
    pub fn of_condition(mut self, condition: &Condition) -> Self {
        if !matches!(condition, Condition::DailyReminder(_)) {
            return self;
        }
        if self.repeat == Repeat::EachTime {
            self.repeat = Repeat::Once;
        }
        if !self.are_default() && self.repeat == Repeat::Once {
            self.repeat = Repeat::EachTime;
        }
        self
    }

    /// Returns the options as of an instant: a snooze that has ended by then is no option any more.
    #[must_use]
    pub fn without_ended_snooze(mut self, now: Timestamp) -> Self {
        self.snoozed_until = self.snoozed_until.filter(|&until| now < until);
        self
    }

    /// Returns the instant from which the alert is not judged any more.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.expires_at.map(Expiry::instant)
    }

    /// Returns the number of firings after which the alert is triggered; `None` if there is no limit.
    #[must_use]
    pub fn last_firing(&self) -> Option<u32> {
        match self.repeat {
            Repeat::Once => Some(1),
            Repeat::EachTime | Repeat::OncePerDay => self.max_firings.map(u32::from),
        }
    }

    /// Returns the options of an alert in the shares after a split. Only the level of `rearm` of a price threshold changes: an
    /// expression is judged in the shares of the day on which it was set, and other levels are no amounts per share.
    #[must_use]
    pub fn after_split(self, condition: &Condition, ratio: SplitRatio) -> Self {
        let rearm = match (self.rearm, condition) {
            (Some(Rearm::At(level)), Condition::Price { .. }) => {
                Some(Rearm::At(Decimal::from_micros(ratio.divide(level.micros()))))
            }
            (rearm, _) => rearm,
        };
        Self { rearm, ..self }
    }
}

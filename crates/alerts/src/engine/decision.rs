//! The decisions and errors of the engine.

use jiff::Timestamp;
use jiff::civil::Date;
use market::Price;

use super::event::StockIndex;
use super::reason::Reason;
use super::rules::RuleReason;
use crate::alert::{AlertId, Revision};
use crate::condition::Side;
use crate::lifecycle::Lifecycle;

/// A decision about one alert.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The alert.
    pub alert: AlertId,
    /// The evaluated revision of the alert. It must be compared when the decision is committed.
    pub revision: Revision,
    /// The alert's own stock.
    pub stock: StockIndex,
    /// The instant of the observation, or the scheduled instant.
    pub at: Timestamp,
    /// The action to take.
    pub action: AlertAction,
}

const _: () = assert!(size_of::<Decision>() <= 88);

/// The action that a decision requires.
#[derive(Clone, PartialEq, Debug)]
pub enum AlertAction {
    /// Notify the owner. The engine has disarmed the alert, except a daily reminder.
    Fire {
        /// The stock's last price, if known.
        price: Option<Price>,
        /// The reason.
        reason: Reason,
    },
    /// An RSI alert with [`RsiDirection::Both`](crate::condition::RsiDirection::Both) waits for this side from now on. The side
    /// must be stored with the alert ([`Alert::rsi_side`](crate::Alert::rsi_side)) and passed in when it is armed again. The
    /// revision does not change.
    SetRsiSide {
        /// The side.
        side: Side,
    },
    /// A split adjusted the values that the alert compares with. The engine evaluates the next revision from now on.
    Adjust {
        /// The new threshold, if it is a price.
        threshold: Option<Price>,
        /// The new initial price, if there is one.
        initial_price: Option<Price>,
    },
    /// A rule fired. Notify the owner and store the state in the same transaction. The engine evaluates the next revision from now
    /// on, or has disarmed the rule after its last firing.
    FireRule {
        /// The last price of the alert's own stock, if known.
        price: Option<Price>,
        /// The reason.
        reason: Box<RuleReason>,
        /// Whether this was the last firing.
        is_last: bool,
        /// The state after the firing.
        state: Box<Lifecycle>,
    },
    /// The state of a rule changed without a firing. It must be stored; the revision does not change.
    SetLifecycle {
        /// The new state.
        state: Box<Lifecycle>,
    },
    /// A rule has expired; the engine has disarmed it.
    Expire {
        /// The instant of its expiry.
        at: Timestamp,
    },
}

/// An error: the engine ignored an event, or a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EventError {
    /// The event is an observation, and the regular session is closed.
    #[error("the market is closed")]
    MarketClosed,
    /// The event is an observation in extended hours, and they are over or have not begun.
    #[error("it is not the time of extended hours")]
    NotInExtendedHours,
    /// The bar's session has not ended, or its date is not a trading day.
    #[error("{date} is not a completed session")]
    NoCompletedSession {
        /// The bar's date.
        date: Date,
    },
    /// The bar is older than the history that is kept.
    #[error(transparent)]
    TooOld(#[from] market::history::BarTooOldError),
    /// The session of the observations was already completed by a bar, or a later session has begun.
    #[error("{count} observations arrived after their session was completed")]
    SessionCompleted {
        /// The number of ignored observations.
        count: u32,
    },
    /// No alert with this id is armed.
    #[error("no alert with this id is armed")]
    NotArmed,
}

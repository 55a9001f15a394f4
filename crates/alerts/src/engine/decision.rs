//! What the engine says, and why.

use jiff::Timestamp;
use jiff::civil::Date;
use market::Price;

use super::reason::Reason;
use crate::alert::{AlertId, Revision};
use crate::condition::Side;

/// Something to be done about one alert.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// The alert.
    pub alert: AlertId,
    /// The revision of it that was judged: whoever commits the decision compares it.
    pub revision: Revision,
    /// The instant it is about: of the observation, or the one that was waited for.
    pub at: Timestamp,
    /// What is to be done.
    pub verdict: Verdict,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// Tell the owner. The engine has stopped judging the alert, unless it recurs every day.
    Fire {
        /// The stock's price as far as it is known.
        price: Option<Price>,
        /// Why.
        reason: Reason,
    },
    /// An RSI alert for "the other side" waits for this side from now on. To be kept with the alert
    /// ([`Alert::rsi_side`](crate::Alert::rsi_side)) and given back when it is armed again; its revision stays.
    Decide {
        /// The side.
        side: Side,
    },
    /// A split moved what the alert compares with; its next revision is judged from now on.
    Adjust {
        /// The new threshold, if it is a price.
        threshold: Option<Price>,
        /// The new initial price, if there is one.
        initial_price: Option<Price>,
    },
}

/// Why an event, or a part of it, was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotTaken {
    /// Observations count only while the regular session is open.
    #[error("the market is closed")]
    MarketClosed,
    /// A bar of a session that has not ended, or a day that is none.
    #[error("{date} is no completed session")]
    NoCompletedSession {
        /// The bar's date.
        date: Date,
    },
    /// A bar from before everything that is kept.
    #[error(transparent)]
    TooOld(#[from] market::history::TooOld),
    /// The session of the observations was completed by a bar, or a later one has begun.
    #[error("{count} observations came after their session was completed")]
    SessionCompleted {
        /// How many.
        count: u32,
    },
    /// No alert of that id is armed.
    #[error("no such alert is armed")]
    NotArmed,
}

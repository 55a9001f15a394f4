//! An alert and the states it goes through.

use std::fmt;

use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::condition::{Condition, Side};

/// Which alert.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlertId(pub Uuid);

impl fmt::Display for AlertId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for AlertId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlertId({self})")
    }
}

/// Counts the changes of an alert: a firing is only taken if the alert is still of the revision that was judged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Revision(pub u32);

impl Revision {
    /// The revision after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// How the owner is told, beside the webhooks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Channel {
    /// By email.
    #[default]
    Email,
    /// By text message to the account's verified number.
    Sms,
}

impl Channel {
    /// Every channel there is.
    pub const ALL: &'static [Self] = &[Self::Email, Self::Sms];

    /// The name in requests and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
        }
    }

    /// The channel of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|channel| channel.name() == name)
    }
}

/// Where an alert is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Judged.
    Active,
    /// Made by a guest whose address is not verified yet; not judged.
    Inactive,
    /// Put aside by its owner; not judged.
    Paused,
    /// Has fired; not judged until it is activated again.
    Triggered,
}

impl Status {
    /// Every status there is.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Inactive, Self::Paused, Self::Triggered];

    /// The name in requests and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Paused => "paused",
            Self::Triggered => "triggered",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.name() == name)
    }
}

/// What a sound create request asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct NewAlert {
    /// The stock.
    pub symbol: Symbol,
    /// What to wait for.
    pub condition: Condition,
    /// How to tell.
    pub notification: Channel,
    /// The parameters in their normal form: the condition's own under their written names, then whatever else was
    /// sent (`source`, `onboarding_id` and other marks of clients).
    pub parameters: Option<Map<String, Value>>,
    /// A guest's address.
    pub email: Option<String>,
}

/// An alert.
#[derive(Clone, PartialEq, Debug)]
pub struct Alert {
    /// Which one.
    pub id: AlertId,
    /// Its changes so far.
    pub revision: Revision,
    /// The stock.
    pub symbol: Symbol,
    /// What it waits for.
    pub condition: Condition,
    /// How its owner is told.
    pub notification: Channel,
    /// The parameters in their normal form, see [`NewAlert::parameters`].
    pub parameters: Option<Map<String, Value>>,
    /// Where it is in its life.
    pub status: Status,
    /// The price when it was created or last activated; `None` while there was none to be had.
    pub initial_price: Option<Price>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Since when it is judged: its creation, last activation, or last update while active.
    pub armed_at: Timestamp,
    /// When its condition was set: its creation, or the last update that changed the condition. A split of a later day moves the
    /// threshold.
    pub threshold_set_at: Timestamp,
    /// When [`initial_price`](Self::initial_price) was set. A split of a later day moves it.
    pub initial_price_set_at: Timestamp,
    /// Of an RSI alert for "the other side": which side that is, once the engine has decided it
    /// ([`Verdict::Decide`](crate::engine::Verdict::Decide)). Kept with the alert, so that a restart does not decide it
    /// anew by the RSI of then.
    pub rsi_side: Option<Side>,
    /// When it last fired.
    pub triggered_at: Option<Timestamp>,
}

//! Alerts, their statuses and notification channels.

use std::fmt;

use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::condition::{Condition, Side};
use crate::lifecycle::Lifecycle;
use crate::managed_by::ManagedBy;
use crate::named_enum;
use crate::note::Note;
use crate::options::AlertOptions;
use crate::routing::Routing;
use crate::tags::Tags;

/// The identifier of an alert.
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

/// The number of changes of an alert. A firing is committed only if the alert still has the revision that was evaluated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Revision(pub u32);

impl Revision {
    /// Returns the next revision.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

named_enum! {
    /// The channel on which the owner is notified, in addition to webhooks.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Channel {
        /// Email.
        #[default]
        Email = "email",
        /// A text message to the account's verified number.
        Sms = "sms",
    }
}

named_enum! {
    /// The status of an alert.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Status {
        /// The engine evaluates the alert.
        Active = "active",
        /// Created by a guest whose address is not verified yet; not evaluated.
        Inactive = "inactive",
        /// Paused by its owner; not evaluated.
        Paused = "paused",
        /// Fired; not evaluated until it is activated again.
        Triggered = "triggered",
    }
}

/// The content of a valid create request.
#[derive(Clone, PartialEq, Debug)]
pub struct NewAlert {
    /// The stock.
    pub symbol: Symbol,
    /// The condition.
    pub condition: Condition,
    /// The notification channel.
    pub notification: Channel,
    /// The parameters in their normal form: the condition's own under their canonical names, then everything else that was sent
    /// (`source`, `onboarding_id` and other client metadata).
    pub parameters: Option<Map<String, Value>>,
    /// The owner's note.
    pub note: Option<Note>,
    /// The owner's tags.
    pub tags: Tags,
    /// The options.
    pub options: AlertOptions,
    /// The routing of its messages.
    pub routing: Routing,
    /// The source that manages it, and its name there.
    pub managed_by: Option<ManagedBy>,
    /// The email address of a guest.
    pub email: Option<String>,
}

/// An alert.
#[derive(Clone, PartialEq, Debug)]
pub struct Alert {
    /// The identifier.
    pub id: AlertId,
    /// The number of changes so far.
    pub revision: Revision,
    /// The stock.
    pub symbol: Symbol,
    /// The condition.
    pub condition: Condition,
    /// The notification channel.
    pub notification: Channel,
    /// The parameters in their normal form, see [`NewAlert::parameters`].
    pub parameters: Option<Map<String, Value>>,
    /// The owner's note.
    pub note: Option<Note>,
    /// The owner's tags.
    pub tags: Tags,
    /// The options.
    pub options: AlertOptions,
    /// The routing of its messages.
    pub routing: Routing,
    /// The state of its life cycle since it was last activated; `None` for one of the 23 conditions without options, which has
    /// none.
    pub lifecycle: Option<Box<Lifecycle>>,
    /// The status.
    pub status: Status,
    /// The price when the alert was created or last activated; `None` if no price was available.
    pub initial_price: Option<Price>,
    /// The time of its creation.
    pub created_at: Timestamp,
    /// The start of its evaluation: its creation, last activation, or last update while active.
    pub armed_at: Timestamp,
    /// The time when its condition was set: its creation, or the last update that changed the condition. A split on a later day
    /// adjusts the threshold.
    pub threshold_set_at: Timestamp,
    /// The time when [`initial_price`](Self::initial_price) was set. A split on a later day adjusts it.
    pub initial_price_set_at: Timestamp,
    /// The side that an RSI alert with [`RsiDirection::Both`](crate::condition::RsiDirection::Both) waits for, once the engine
    /// has determined it ([`AlertAction::SetRsiSide`](crate::engine::AlertAction::SetRsiSide)). It is stored with the alert: a
    /// restart must not determine it again from a later RSI.
    pub rsi_side: Option<Side>,
    /// The time of the last firing.
    pub triggered_at: Option<Timestamp>,
}

impl Alert {
    /// Returns whether an alert with these parts is judged by the state machine of [`lifecycle`](crate::lifecycle): an expression, or
    /// one of the 23 conditions with options.
    #[must_use]
    pub fn has_lifecycle(condition: &Condition, options: &AlertOptions) -> bool {
        matches!(condition, Condition::Expression(_)) || !options.are_default()
    }

    /// Returns whether the alert became inactive because it expired. A guest's alert that was never verified is inactive, too, but
    /// has no options.
    #[must_use]
    pub fn has_expired(&self) -> bool {
        self.status == Status::Inactive && self.options.expires_at.is_some()
    }
}

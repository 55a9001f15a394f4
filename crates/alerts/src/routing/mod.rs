//! The routing of an alert's messages: to which channels they go, whether they wait for the end of quiet hours, and their templates.

mod read;
mod templates;

use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::named_enum;
use crate::options::Span;

pub(crate) use read::has_routing;
pub use read::{RoutingChange, parse_route, read_route, read_routing};
pub use templates::{MAX_ALERT_TEMPLATE_BYTES, MessageTemplates, template_source};

/// Maximum number of channels in a route.
pub const MAX_ROUTE_CHANNELS: usize = 50;

named_enum! {
    /// How the channels of a route are used.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum RoutePolicy {
        /// A firing is sent to all channels.
        #[default]
        All = "all",
        /// A firing is sent to the first channel, and to the next one if a channel fails for good or the firing is not
        /// acknowledged in time.
        Failover = "failover",
    }
}

/// The time for an acknowledgement before a firing is sent to the next channel: 1 minute to 24 hours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AckTimeout(Span);

impl AckTimeout {
    /// Returns the timeout; `None` outside 1 minute to 24 hours.
    #[must_use]
    pub fn new(span: Span) -> Option<Self> {
        let minutes = span.calendar_time()?.as_mins();
        (1..=24 * 60).contains(&minutes).then_some(Self(span))
    }

    /// Returns the length.
    #[must_use]
    pub fn duration(self) -> jiff::SignedDuration {
        self.0.calendar_time().unwrap_or_default()
    }

    /// Returns the length as it was written.
    #[must_use]
    pub const fn span(self) -> Span {
        self.0
    }
}

/// The channels to which firings are sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelRoute {
    /// The ids of the channels, in the order in which they are tried: 1 to [`MAX_ROUTE_CHANNELS`], each once.
    channels: Box<[Uuid]>,
    /// The policy, with the time for an acknowledgement.
    pub delivery: RouteDelivery,
}

/// How firings are sent to the channels of a route.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RouteDelivery {
    /// To all channels.
    All,
    /// To the first channel, then to the next.
    Failover {
        /// The time after which a firing that is not acknowledged is sent to the next channel. `None`: only after a failure for
        /// good.
        ack_timeout: Option<AckTimeout>,
    },
}

impl RouteDelivery {
    /// Returns the policy.
    #[must_use]
    pub const fn policy(self) -> RoutePolicy {
        match self {
            Self::All => RoutePolicy::All,
            Self::Failover { .. } => RoutePolicy::Failover,
        }
    }

    /// Returns the time for an acknowledgement.
    #[must_use]
    pub const fn ack_timeout(self) -> Option<AckTimeout> {
        match self {
            Self::All => None,
            Self::Failover { ack_timeout } => ack_timeout,
        }
    }
}

impl ChannelRoute {
    /// Returns the ids of the channels in their order.
    #[must_use]
    pub const fn channels(&self) -> &[Uuid] {
        &self.channels
    }

    /// Returns the members `channels`, `policy` and, if there is one, `ack_timeout`, which [`read_route`] reads as the same route.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let channels = self.channels.iter().map(|id| Value::from(id.to_string()));
        let mut members = Map::new();
        members.insert("channels".to_owned(), channels.collect());
        members.insert("policy".to_owned(), self.delivery.policy().name().into());
        if let Some(timeout) = self.delivery.ack_timeout() {
            members.insert("ack_timeout".to_owned(), timeout.span().to_string().into());
        }
        members
    }
}

/// The routing of an alert.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routing {
    /// The route. `None`: that of the account.
    pub route: Option<Box<ChannelRoute>>,
    /// Whether messages are sent during quiet hours, too.
    pub is_urgent: bool,
    /// The templates of its messages. `None`: those of the channels.
    pub templates: Option<Arc<MessageTemplates>>,
}

impl Routing {
    /// Returns the routing of a member of an alert over many stocks: its messages have the templates of that alert, which are not
    /// copied.
    #[must_use]
    pub fn of_member(&self) -> Self {
        Self {
            templates: None,
            ..self.clone()
        }
    }

    /// Returns the members that differ from their defaults: those of the route, `urgent` and `templates`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut members = self.route.as_ref().map_or_else(Map::new, |route| route.to_json());
        if self.is_urgent {
            members.insert("urgent".to_owned(), Value::Bool(true));
        }
        if let Some(templates) = &self.templates {
            members.insert("templates".to_owned(), templates.to_json().into());
        }
        members
    }
}

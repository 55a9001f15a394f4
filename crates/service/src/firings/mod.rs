//! Firings as their owners read them: with the times of each step, the messages about them, and who has acknowledged them.

mod acknowledge;
mod button;
mod latency;
mod link;
mod messages;

use std::collections::HashMap;

use store::model::{FiringRecord, HistoryPosition, ListRequest, Page};

use crate::alerts::no_such_alert;
use foundation::{Actor, Ports, ServiceError};

pub use latency::{DelayPercentiles, NotificationLatency};
pub use link::FiringLinks;
pub use messages::{FiringMessage, FiringMessageState};
pub use store::model::{Acknowledgement, EventId, FiringFilter, FiringTimeline};

/// Use cases for firings.
#[derive(Clone)]
pub struct Firings {
    pub(crate) ports: Ports,
}

/// A firing with the messages about it.
#[derive(Clone, PartialEq, Debug)]
pub struct FiringWithMessages {
    /// The firing.
    pub firing: FiringRecord,
    /// The messages and deliveries about it.
    pub messages: Vec<FiringMessage>,
}

impl Firings {
    /// Returns a page of the actor's firings, newest first, also of deleted alerts.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor never had the alert of the filter; [`ServiceError::Invalid`] if there is no firing
    /// `after`.
    pub async fn firings(
        &self,
        actor: &Actor,
        filter: FiringFilter,
        request: ListRequest<EventId>,
    ) -> Result<Page<FiringWithMessages>, ServiceError> {
        let page = self.ports.store.firings(actor.account, filter, request).await?;
        let page = page.ok_or_else(no_such_alert)?;
        Ok(Page {
            total: page.total,
            items: self.with_messages(actor, page.items).await?,
        })
    }

    /// Returns the actor's firings at some positions of the history, each with its messages, in any order.
    ///
    /// # Errors
    /// [`ServiceError`] if the database fails.
    pub async fn firings_at(
        &self,
        actor: &Actor,
        positions: &[HistoryPosition],
    ) -> Result<HashMap<HistoryPosition, FiringWithMessages>, ServiceError> {
        let found = self.ports.store.firings_at(actor.account, positions).await?;
        let (positions, firings): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let firings = self.with_messages(actor, firings).await?;
        Ok(positions.into_iter().zip(firings).collect())
    }

    /// Returns a firing of the actor.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn firing(&self, actor: &Actor, id: EventId) -> Result<FiringWithMessages, ServiceError> {
        let firing = self.ports.store.firing(actor.account, id).await?;
        let firing = self.with_messages(actor, firing.into_iter().collect()).await?;
        firing.into_iter().next().ok_or_else(no_such_firing)
    }
}

pub(crate) fn no_such_firing() -> ServiceError {
    ServiceError::NotFound("firing")
}

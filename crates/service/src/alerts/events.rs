//! Events of fired alerts, and which of them their owner has seen.

use store::model::{EventPage, StoredEvent};

use crate::alerts::Alerts;
use foundation::{Actor, ServiceError};

impl Alerts {
    /// Returns the actor's events after a position in the order of all events (0 is before all), oldest first, at most
    /// `limit`.
    pub async fn events_after(&self, actor: &Actor, place: i64, limit: u32) -> Result<Vec<StoredEvent>, ServiceError> {
        Ok(self.ports.store.events_after(actor.account, place, limit).await?)
    }

    /// Returns the actor's events after a position and up to a later one that [`Self::event_position`] has returned, at most `limit`.
    pub async fn events_through(
        &self,
        actor: &Actor,
        after: i64,
        through: i64,
        limit: u32,
    ) -> Result<EventPage, ServiceError> {
        let store = &self.ports.store;
        Ok(store.events_through(actor.account, after, through, limit).await?)
    }

    /// Returns the highest position that was assigned to an event, which may not be visible yet.
    pub async fn last_event_position(&self) -> Result<i64, ServiceError> {
        Ok(self.ports.store.history_last().await?)
    }

    /// Returns the last position of all events: none will appear at or before it.
    pub async fn event_position(&self) -> Result<i64, ServiceError> {
        Ok(self.ports.store.history_position().await?)
    }

    /// Returns the number of firings that the actor has not seen, at most 1,000.
    pub async fn unseen_firings(&self, actor: &Actor) -> Result<u32, ServiceError> {
        Ok(self.ports.store.unseen_firings(actor.account).await?)
    }

    /// Records that the actor has seen the firings up to a position, at most the present one.
    pub async fn mark_firings_seen(&self, actor: &Actor, position: i64) -> Result<(), ServiceError> {
        let position = position.min(self.event_position().await?);
        Ok(self.ports.store.mark_firings_seen(actor.account, position).await?)
    }
}

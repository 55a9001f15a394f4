//! Events of fired alerts.

use store::model::StoredEvent;

use crate::alerts::Alerts;
use foundation::{Actor, ServiceError};

impl Alerts {
    /// Returns the actor's events after a position in the order of all events (0 is before all), oldest first, at most
    /// `limit`.
    pub async fn events_after(&self, actor: &Actor, place: i64, limit: u32) -> Result<Vec<StoredEvent>, ServiceError> {
        Ok(self.ports.store.events_after(actor.account, place, limit).await?)
    }
}

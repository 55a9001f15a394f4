//! An alert's history.

use alerts::AlertId;
use store::model::{HistoryRow, Page, PageRequest};

use super::no_such_alert;
use crate::{Actor, Service, ServiceError};

impl Service {
    /// A page of an alert's history, newest first; also of a deleted alert.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert_history(
        &self,
        actor: &Actor,
        id: AlertId,
        page: PageRequest,
    ) -> Result<Page<HistoryRow>, ServiceError> {
        let found = self.0.ports.store.history(actor.account, id, page).await?;
        found.ok_or_else(no_such_alert)
    }
}
